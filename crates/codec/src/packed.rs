//! Blocks of 256 integers, bit-packed.
use crate::CodecError;

/// Integers in a block.
pub const BLOCK: usize = 256;

/// Appends `values` in the smallest form.
pub fn encode(_values: &[u32; BLOCK], _out: &mut Vec<u8>) {
    unimplemented!()
}
/// Reads the block at the start of `bytes`; returns the bytes it took.
pub fn decode(_bytes: &[u8], _values: &mut [u32; BLOCK]) -> Result<usize, CodecError> {
    unimplemented!()
}
/// The bytes that the block at the start of `bytes` takes, without decoding it.
pub fn encoded_bytes(_bytes: &[u8]) -> Result<usize, CodecError> {
    unimplemented!()
}
/// Turns gaps into values in place: `values[0] += base`, `values[i] += values[i - 1]` (wrapping).
pub fn prefix_sum(_values: &mut [u32; BLOCK], _base: u32) {
    unimplemented!()
}
