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
#[cfg(test)]
mod tests;

/// The first byte of a block of zeros, which is no number of low bits.
const ZEROS: u8 = 0x40;
const BITS_MAX: u32 = 31;

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

/// The parts of a block.
enum Parts<'a> {
    Zeros,
    Mixed(Mixed<'a>),
}

#[derive(Clone, Copy)]
struct Mixed<'a> {
    bits: u32,
    highs: &'a [u8],
    lows: &'a [u8],
}

/// Splits a block of `count` values into its parts.
#[inline(always)]
fn parts(bytes: &[u8], count: usize) -> Result<Parts<'_>, CodecError> {
    let (bits, rest) = match *bytes {
        [ZEROS, ..] => return Ok(Parts::Zeros),
        [bits, ref rest @ ..] => (u32::from(bits), rest),
        [] => return Err(truncated(0)),
    };
    check_bits(bits)?;
    let highs_bytes = rest.len().checked_sub(lows_bytes(count, bits));
    let (highs, lows) = rest.split_at(highs_bytes.ok_or(truncated(1))?);
    Ok(Parts::Mixed(Mixed { bits, highs, lows }))
}

#[inline(always)]
pub(crate) fn check_bits(bits: u32) -> Result<(), CodecError> {
    if bits <= BITS_MAX {
        return Ok(());
    }
    Err(CodecError::TooLarge {
        at: 0,
        what: "low bits",
        found: bits.into(),
        max: BITS_MAX.into(),
    })
}

/// Returns the length in bytes of the low parts of `count` values.
#[inline(always)]
pub(crate) fn lows_bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
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

#[inline(always)]
fn decode_any(
    bytes: &[u8],
    count: usize,
    from: usize,
    values: &mut [u32],
) -> Result<(), CodecError> {
    let Parts::Mixed(Mixed { bits, highs, lows }) = parts(bytes, count)? else {
        values.fill(0);
        return Ok(());
    };
    let mut ones = Ones::after(highs, from)?;
    let mut next = ones.next;
    for (index, value) in (from..).zip(values) {
        let at = ones.take()?;
        *value = ((at - next) as u32) << bits | low(lows, bits, index);
        next = at + 1;
    }
    Ok(())
}

#[inline(always)]
fn decode_sums_any(
    bytes: &[u8],
    count: usize,
    from: usize,
    base: u32,
    values: &mut [u32],
) -> Result<(), CodecError> {
    let Parts::Mixed(Mixed { bits, highs, lows }) = parts(bytes, count)? else {
        values.fill(base);
        return Ok(());
    };
    let mut ones = Ones::after(highs, from)?;
    // The sum of high parts is the number of zeros passed.
    let start = ones.next;
    let mut sum = base;
    for (number, value) in values.iter_mut().enumerate() {
        let zeros = ones.take()? - start - number;
        sum = sum.wrapping_add(low(lows, bits, from + number));
        *value = ((zeros as u32) << bits).wrapping_add(sum);
    }
    Ok(())
}

/// Returns the low part of the value at `index`.
#[inline(always)]
pub(crate) fn low(lows: &[u8], bits: u32, index: usize) -> u32 {
    let at = index * bits as usize;
    (word(lows, at / 8) >> (at % 8)) as u32 & ((1 << bits) - 1)
}

/// Reads eight bytes from `at` on; bytes past the end read as 0.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => last_word(bytes, at),
    }
}

#[inline(always)]
fn last_word(bytes: &[u8], at: usize) -> u64 {
    if let Some(eight) = bytes.last_chunk() {
        // The last eight bytes, without those before `at`.
        let before = at + 8 - bytes.len();
        let shift = 8 * before.min(8) as u32;
        return u64::from_le_bytes(*eight).checked_shr(shift).unwrap_or(0);
    }
    very_last_word(bytes, at)
}

/// Reads as [`word`] where the slice has fewer than eight bytes: from its first four and last four, which may overlap.
#[inline(always)]
fn very_last_word(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << (8 * (rest.len() - 4));
    }
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        let (first, last) = (u16::from_le_bytes(*first), u16::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << (8 * (rest.len() - 2));
    }
    rest.first().map_or(0, |&byte| byte.into())
}

/// Iterator over the ones of a bit string.
pub(crate) struct Ones<'a> {
    bytes: &'a [u8],
    /// Offset of the next word, in bytes.
    at: usize,
    /// The rest of the current word.
    word: u64,
    /// Number of the bit after the last one taken.
    pub(crate) next: usize,
}

impl<'a> Ones<'a> {
    /// Returns an iterator behind the first `skipped` ones.
    #[inline(always)]
    pub(crate) fn after(bytes: &'a [u8], skipped: usize) -> Result<Ones<'a>, CodecError> {
        let (mut at, mut left) = (8, skipped as u32);
        let mut word = word(bytes, 0);
        while word.count_ones() < left {
            left -= word.count_ones();
            if at >= bytes.len() {
                return Err(truncated(at));
            }
            word = self::word(bytes, at);
            at += 8;
        }
        let mut next = (at - 8) * 8;
        if left > 0 {
            let last = nth_one(word, left - 1);
            next += last as usize + 1;
            // In two steps, because all 64 bits may be cleared.
            word = word >> last >> 1 << last << 1;
        }
        Ok(Ones {
            bytes,
            at,
            word,
            next,
        })
    }

    /// Returns the number of the next bit that is one.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Result<usize, CodecError> {
        while self.word == 0 {
            if self.at >= self.bytes.len() {
                return Err(truncated(self.at));
            }
            self.word = word(self.bytes, self.at);
            self.at += 8;
        }
        let one = (self.at - 8) * 8 + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        self.next = one + 1;
        Ok(one)
    }
}

/// Returns the bit of `word` that has `before` ones before it. The word must have more than `before` ones.
#[inline(always)]
fn nth_one(mut word: u64, mut before: u32) -> u32 {
    let mut at = 0;
    for half in [32, 16, 8] {
        let ones = (word & ((1 << half) - 1)).count_ones();
        // No branch: the half is unpredictable.
        let over = u32::from(before >= ones);
        before -= ones * over;
        word >>= half * over;
        at += half * over;
    }
    for _ in 0..before {
        word &= word.wrapping_sub(1);
    }
    at + word.trailing_zeros()
}

#[cold]
pub(crate) fn truncated(at: usize) -> CodecError {
    let what = "block of high and low parts";
    CodecError::Truncated { at, what }
}
