//! Count of equal sums in short stretches of two blocks.
//!
//! Most words occur in a document a few times. Eight values of one block and eight of another fill one vector. They are
//! read and summed like sixteen values of one block, at half the cost of two reads, and one instruction (conflict
//! detection) finds the lanes that equal an earlier lane. There is no unpredictable branch.
//!
//! The answers equal those of [`super::follow`] for more values.

use super::avx512::NUMBERS;
use super::scalar::{Mixed, word};
use std::arch::x86_64::*;

/// Upper limit on the values of each block.
pub(super) const FEW: usize = 8;

/// Consecutive values of a block; their sums are the positions of a word in a document.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) block: Mixed<'a>,
    pub(super) wanted: usize,
    /// Index of the first value in the block.
    pub(super) from: usize,
    /// Offset of the high part, in bits.
    pub(super) start: usize,
}

impl Places<'_> {
    /// Returns the bits of the high parts; `None` where the wanted ones do not all end within a word.
    #[inline(always)]
    fn ones(&self) -> Option<u64> {
        let ones = word(self.block.highs, self.start / 8) >> (self.start % 8);
        (ones.count_ones() as usize >= self.wanted).then_some(ones)
    }

    /// Returns the number of the bit at which the first low part begins.
    #[inline(always)]
    fn low_bit(&self) -> usize {
        self.from * self.block.bits as usize
    }

    /// Loads the bytes of the low parts. More than 25 bits each do not fit.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn lows(&self) -> __m256i {
        let rest = self.block.lows.get(self.low_bit() / 8..).unwrap_or(&[]);
        let there = _bzhi_u32(u32::MAX, rest.len().min(32) as u32);
        // SAFETY: only bytes of the slice are read, those whose bit in `there` is set.
        unsafe { _mm256_maskz_loadu_epi8(there, rest.as_ptr().cast()) }
    }

    /// Returns a mask with a bit for each wanted value.
    #[inline(always)]
    fn used(&self) -> u32 {
        (1 << self.wanted) - 1
    }
}

/// Counts the sums of `some`, each plus `distance`, that are among the sums of `others`. Returns `None` where this form
/// cannot tell.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
pub(super) fn count_equal(some: Places<'_>, others: Places<'_>, distance: i32) -> Option<u32> {
    /// The lanes of `others`.
    const OTHERS: u16 = 0xff00;
    if some.wanted.max(others.wanted) > FEW {
        return None;
    }
    let both =
        |some: i32, others: i32| _mm512_mask_set1_epi32(_mm512_set1_epi32(some), OTHERS, others);
    // SAFETY: 64 bytes are read from an array of 64.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    let bits = both(some.block.bits as i32, others.block.bits as i32);
    // The number of zeros before each one.
    let ones = |ones| _mm512_castsi512_si128(_mm512_maskz_compress_epi8(ones, numbers));
    let found = _mm_unpacklo_epi64(ones(some.ones()?), ones(others.ones()?));
    let zeros = _mm512_sub_epi32(_mm512_cvtepu8_epi32(found), steps);
    // Each low part with its four bytes; those of `others` from byte 32 on.
    let packed = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(some.lows()), others.lows());
    let first = both((some.low_bit() % 8) as i32, (others.low_bit() % 8) as i32);
    let at = _mm512_add_epi32(_mm512_mullo_epi32(steps, bits), first);
    let first_of_four = _mm512_set4_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0);
    let byte = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(at), first_of_four);
    let four = both(0x0302_0100, 0x2322_2120);
    let lanes = _mm512_permutexvar_epi8(_mm512_add_epi8(byte, four), packed);
    let lanes = _mm512_srlv_epi32(lanes, _mm512_and_si512(at, _mm512_set1_epi32(7)));
    let lows = _mm512_andnot_si512(_mm512_sllv_epi32(_mm512_set1_epi32(-1), bits), lanes);
    // Running sums of four, then the total of the preceding four within each eight.
    let lows = _mm512_add_epi32(lows, _mm512_bslli_epi128::<4>(lows));
    let lows = _mm512_add_epi32(lows, _mm512_bslli_epi128::<8>(lows));
    let total = _mm512_shuffle_epi32::<0xff>(lows);
    let before = _mm512_maskz_shuffle_i64x2::<0b10_10_00_00>(0b1100_1100, total, total);
    let lows = _mm512_add_epi32(lows, before);
    let sums = _mm512_add_epi32(lows, _mm512_sllv_epi32(zeros, bits));
    let sums = _mm512_mask_add_epi32(sums, !OTHERS, sums, _mm512_set1_epi32(distance));
    // For each lane, a bit for every earlier lane that is equal.
    let equal = _mm512_conflict_epi32(sums);
    let equal = _mm512_test_epi32_mask(equal, _mm512_set1_epi32(some.used() as i32));
    Some((u32::from(equal) >> FEW & others.used()).count_ones())
}
