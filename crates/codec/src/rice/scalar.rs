//! Parts of a block of high and low parts, and their scalar decoding.

use crate::CodecError;

/// The first byte of a block of zeros, which is no number of low bits.
pub(super) const ZEROS: u8 = 0x40;
pub(super) const BITS_MAX: u32 = 31;

/// The parts of a block.
pub(super) enum Parts<'a> {
    Zeros,
    Mixed(Mixed<'a>),
}

#[derive(Clone, Copy)]
pub(super) struct Mixed<'a> {
    pub(super) bits: u32,
    pub(super) highs: &'a [u8],
    pub(super) lows: &'a [u8],
}

/// Splits a block of `count` values into its parts.
#[inline(always)]
pub(super) fn parts(bytes: &[u8], count: usize) -> Result<Parts<'_>, CodecError> {
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

#[inline(always)]
pub(super) fn decode_any(
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
pub(super) fn decode_sums_any(
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
pub(super) fn nth_one(mut word: u64, mut before: u32) -> u32 {
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
