//! Variable-length integers: seven bits a byte, low bits first, high bit set on all but the last.
use crate::CodecError;

/// Appends `value`: 1 to 5 bytes.
pub fn write_u32(_out: &mut Vec<u8>, _value: u32) {
    unimplemented!()
}
/// Appends `value`: 1 to 10 bytes.
pub fn write_u64(_out: &mut Vec<u8>, _value: u64) {
    unimplemented!()
}
/// Reads the integer at `*at` and moves `*at` past it.
pub fn read_u32(_bytes: &[u8], _at: &mut usize) -> Result<u32, CodecError> {
    unimplemented!()
}
/// Reads the integer at `*at` and moves `*at` past it.
pub fn read_u64(_bytes: &[u8], _at: &mut usize) -> Result<u64, CodecError> {
    unimplemented!()
}
