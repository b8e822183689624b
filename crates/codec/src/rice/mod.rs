//! Golomb-Rice coding of integers as high and low parts, with random access to single values.
//!
//! ```text
//! block     := bits:u8(0..=31) high{n} low{n}  |  40                    40: all values are 0
//! high      := (value >> bits) times 0, then 1          in bits; together filled up to a whole byte
//! low       := the lowest `bits` bits of the value      likewise
//! ```
//!
//! The reader knows the number of values of a block, and its end. Bits fill bytes from the lowest.
//! Example: 5, 0, 13, 2 with two low bits is `02  C6  91`: high parts 1, 0, 3, 0 are `01 1 0001 1`
//! and low parts 1, 0, 1, 2 are `10 00 10 01`, lowest bits to the left.
//!
//! Invariants: decoding any bytes gives values or an error, and reads nothing past the slice.
//!
//! Why: gaps between the positions of a word are distributed nearly geometrically. For such numbers this code is within
//! a few hundredths of a bit of the optimum (Golomb 1966; Rice & Plaunt 1971). The n-th value is found by counting ones
//! (Elias 1974; Fano 1971), so a few values are read without decoding the block.

use crate::CodecError;
use crate::bits::for_each_processor;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
mod few;
pub mod follow;
mod scalar;
#[cfg(test)]
mod tests;

use scalar::{BITS_MAX, ZEROS, decode_any, decode_sums_any};
pub(crate) use scalar::{Ones, check_bits, low, lows_bytes, truncated};

/// Appends the block of `values`, which are not empty.
pub fn encode(values: &[u32], out: &mut Vec<u8>) {
    if values.iter().all(|&value| value == 0) {
        out.push(ZEROS);
        return;
    }
    let bits = smallest(values);
    out.push(bits as u8);
    write_highs(values.iter().map(|value| value >> bits), out);
    write_lows(values, bits, out);
}

/// Returns the number of low bits with which `values` take the fewest bits in total.
fn smallest(values: &[u32]) -> u32 {
    let taken = |bits: u32| {
        let highs = values.iter().map(|value| u64::from(value >> bits));
        highs.sum::<u64>() + values.len() as u64 * u64::from(bits)
    };
    // The optimum is near the mean: start there and decrease while the size falls.
    let sum: u64 = values.iter().map(|&value| u64::from(value)).sum();
    let mut best = (sum / values.len() as u64).max(1).ilog2().min(BITS_MAX);
    let mut least = taken(best);
    while best > 0 && taken(best - 1) < least {
        best -= 1;
        least = taken(best);
    }
    while best < BITS_MAX && taken(best + 1) < least {
        best += 1;
        least = taken(best);
    }
    best
}

/// Appends numbers in unary.
pub(crate) fn write_highs(highs: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    let (start, mut at) = (out.len(), 0);
    for high in highs {
        at += high as usize;
        out.resize(start + at / 8 + 1, 0);
        out[start + at / 8] |= 1 << (at % 8);
        at += 1;
    }
}

/// Appends the lowest `bits` bits of each value.
pub(crate) fn write_lows(values: &[u32], bits: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u64, 0);
    for &value in values {
        word |= u64::from(value & ((1 << bits) - 1)) << filled;
        filled += bits;
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(word as u8);
    }
}

/// Estimates the offset of the low parts of the values from index `from` on, in a block of `bytes_count` bytes. The
/// estimate is right for typical blocks and serves only for prefetching.
#[inline]
pub fn lows_at_about(bytes_count: usize, count: usize, from: usize) -> usize {
    // High parts take 1.5 to 2.5 bits a value at the optimal number of low bits.
    let bits = (bytes_count * 8).saturating_sub(count * 3 / 2) / count.max(1);
    bytes_count.saturating_sub((count - from.min(count)) * bits / 8)
}

/// Decodes the values from index `from` on of a block of `count` values, whose bytes are exactly `bytes`.
#[inline]
pub fn decode(
    bytes: &[u8],
    count: usize,
    from: usize,
    values: &mut [u32],
) -> Result<(), CodecError> {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::RICE.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { avx512::decode(bytes, count, from, values) };
    }
    decode_one_by_one(bytes, count, from, values)
}

for_each_processor! {
    /// Twin of every vectorised [`decode`].
    pub fn decode_one_by_one(
        bytes: &[u8], count: usize, from: usize, values: &mut [u32]
    ) -> Result<(), CodecError> = decode_any, RICE_ONE_BY_ONE
}

/// Decodes as [`decode`], and adds to each value `base` and all values before it in `values` (wrapping).
#[inline]
pub fn decode_sums(
    bytes: &[u8],
    count: usize,
    from: usize,
    base: u32,
    values: &mut [u32],
) -> Result<(), CodecError> {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::RICE_SUMS.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { avx512::decode_sums(bytes, count, from, base, values) };
    }
    decode_sums_one_by_one(bytes, count, from, base, values)
}

for_each_processor! {
    /// Twin of every vectorised [`decode_sums`].
    pub fn decode_sums_one_by_one(
        bytes: &[u8], count: usize, from: usize, base: u32, values: &mut [u32]
    ) -> Result<(), CodecError> = decode_sums_any, RICE_SUMS_ONE_BY_ONE
}
