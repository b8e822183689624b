//! Arithmetic over the postings of a block, many at a time.
//!
//! Plain code, compiled again for newer processors as in [`crate::bits`]. No operation is fused or reordered, so every
//! form gives the same bits.

use crate::bits::for_each_processor;

for_each_processor! {
    /// Computes `weight - weight / (1 + frequency · factor)` for every posting, rounded to a grid: adding `grid` and
    /// subtracting it leaves a multiple of its unit in the last place (a `grid` of 0 does not round). Processes as many
    /// postings as the shortest slice has. Frequencies are below 2^31.
    pub fn saturate(
        weight: f32, grid: f32, frequencies: &[u32], factors: &[f32], scores: &mut [f32]
    ) -> () = saturate_any, SATURATE
}

for_each_processor! {
    /// Returns the largest value; 0 for an empty slice.
    pub fn max(values: &[u32]) -> u32 = max_any, MAX
}

for_each_processor! {
    /// Returns the sum of the values, modulo 2^32.
    pub fn sum(values: &[u32]) -> u32 = sum_any, SUM
}

for_each_processor! {
    /// Adds 1 to every value, modulo 2^32.
    pub fn add_one(values: &mut [u32]) -> () = add_one_any, ADD_ONE
}

/// Writes the indexes of the values that are at least `least` to `kept` and returns their number. Considers the first
/// 256 values.
#[inline]
pub fn at_least(values: &[f32], least: f32, kept: &mut [u8; 256]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::AT_LEAST.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { at_least_avx512(values, least, kept) };
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::AT_LEAST.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { crate::neon::at_least(values, least, kept) };
    }
    at_least_one_by_one(values, least, kept)
}

for_each_processor! {
    /// Twin of every vectorised [`at_least`].
    pub fn at_least_one_by_one(
        values: &[f32], least: f32, kept: &mut [u8; 256]
    ) -> usize = at_least_any, AT_LEAST_ONE_BY_ONE
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt,bmi1,bmi2,lzcnt")]
fn at_least_avx512(values: &[f32], least: f32, kept: &mut [u8; 256]) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 16;
    let least = _mm512_set1_ps(least);
    let mut indexes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut count = 0;
    for vector in values[..values.len().min(256)].chunks(LANES) {
        let there = (1u32 << vector.len()).wrapping_sub(1) as u16;
        // SAFETY: only values of the chunk are read, those whose bit in `there` is set.
        let vector = unsafe { _mm512_maskz_loadu_ps(there, vector.as_ptr()) };
        let mask = _mm512_mask_cmp_ps_mask::<_CMP_GE_OQ>(there, vector, least);
        let found = _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(mask, indexes));
        // SAFETY: the vectors before this one held at least `count` values, a multiple of sixteen below 256, so sixteen
        // bytes from `count` on lie within the 256.
        unsafe { _mm_storeu_si128(kept.as_mut_ptr().add(count).cast(), found) };
        count += mask.count_ones() as usize;
        indexes = _mm512_add_epi32(indexes, _mm512_set1_epi32(LANES as i32));
    }
    count
}

#[inline(always)]
fn saturate_any(weight: f32, grid: f32, frequencies: &[u32], factors: &[f32], scores: &mut [f32]) {
    for ((score, &frequency), &factor) in scores.iter_mut().zip(frequencies).zip(factors) {
        *score = saturate_one(weight, grid, frequency, factor);
    }
}

/// Computes [`saturate`] for one posting.
#[inline(always)]
pub fn saturate_one(weight: f32, grid: f32, frequency: u32, factor: f32) -> f32 {
    // Signed, because only the signed conversion is one instruction on every processor.
    let score = weight - weight / (1.0 + frequency as i32 as f32 * factor);
    (score + grid) - grid
}

#[inline(always)]
fn max_any(values: &[u32]) -> u32 {
    values.iter().fold(0, |max, &value| max.max(value))
}

#[inline(always)]
fn sum_any(values: &[u32]) -> u32 {
    values.iter().fold(0, |sum, &value| sum.wrapping_add(value))
}

#[inline(always)]
fn add_one_any(values: &mut [u32]) {
    for value in values {
        *value = value.wrapping_add(1);
    }
}

#[inline(always)]
fn at_least_any(values: &[f32], least: f32, kept: &mut [u8; 256]) -> usize {
    let mut count = 0;
    for (index, &value) in values.iter().take(256).enumerate() {
        // Always written, counted only when kept: no branch to mispredict. The index stays below 256.
        kept[count & 255] = index as u8;
        count += usize::from(value >= least);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    fn ten_thousandths(count: std::ops::Range<u32>) -> impl Strategy<Value = f32> {
        count.prop_map(|count| count as f32 / 10_000.0)
    }

    proptest! {
        #[test]
        fn every_form_is_the_plain_one(
            postings in prop::collection::vec((1u32..5000, ten_thousandths(1..100_000)), 0..=256),
            weight in ten_thousandths(0..300_000),
            grid in prop_oneof![Just(0.0f32), Just(48.0), Just(1536.0)],
        ) {
            use kernels::{ADD_ONE, AT_LEAST, AT_LEAST_ONE_BY_ONE, MAX, SATURATE, SUM};
            let of = [SATURATE, MAX, SUM, ADD_ONE, AT_LEAST_ONE_BY_ONE, AT_LEAST];
            kernels::in_each_form(&of, || {
                let (frequencies, factors): (Vec<u32>, Vec<f32>) = postings.iter().copied().unzip();
                let mut scores = vec![0.0; postings.len()];
                saturate(weight, grid, &frequencies, &factors, &mut scores);
                for ((frequency, factor), score) in postings.iter().zip(&scores) {
                    let expected = saturate_one(weight, grid, *frequency, *factor);
                    prop_assert_eq!(score.to_bits(), expected.to_bits());
                }
                let least = scores.get(scores.len() / 2).copied().unwrap_or(1.0);
                let mut kept = [0; 256];
                let count = at_least(&scores, least, &mut kept);
                let expected: Vec<u8> = (0..scores.len())
                    .filter(|&index| scores[index] >= least)
                    .map(|index| index as u8)
                    .collect();
                prop_assert_eq!(&kept[..count], &expected);
                prop_assert_eq!(at_least_one_by_one(&scores, least, &mut kept), count);
                prop_assert_eq!(&kept[..count], &expected);
                let mut raised = frequencies.clone();
                add_one(&mut raised);
                prop_assert!(raised.iter().zip(&frequencies).all(|(one, before)| *one == before + 1));
                prop_assert_eq!(max(&frequencies), frequencies.iter().copied().max().unwrap_or(0));
                prop_assert_eq!(sum(&frequencies), frequencies.iter().sum::<u32>());
                Ok(())
            })?;
        }
    }
}
