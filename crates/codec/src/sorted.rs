//! Intersection of sorted values with a sorted block.
//!
//! ```text
//! wanted  3 9 17 20        block  1 3 4 17 30      gives pairs (0, 1), (2, 3)
//! ```
//!
//! Vectors are skipped by their last value; a value is compared with a whole vector at once (Lemire, Boytsov & Kurz,
//! "SIMD compression and the intersection of sorted integers", 2016). With AVX-512 the last values of all vectors of a
//! block form one vector themselves, so there is no walk and no branch to mispredict.

pub use crate::arrays::Pairs;
use crate::bits::for_each_processor;
use crate::packed::BLOCK;

/// Returns the first place from `from` on of a value of `target` or more; the number of values if there is none. Values are
/// increasing.
#[inline]
pub fn seek(values: &[u32], from: usize, target: u32) -> usize {
    // Galloping, then binary search: most seeks are short, few are long.
    let (mut low, mut step) = (from, 1);
    while low + step < values.len() && values[low + step] < target {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(values.len());
    let low = low.min(high);
    low + values[low..high].partition_point(|&value| value < target)
}

/// Finds the values of `wanted` (at most 256, increasing) in `block` and returns the number of pairs. `block` is
/// increasing; unused places at its end are `u32::MAX`, which is never wanted.
#[inline]
pub fn intersect(wanted: &[u32], block: &[u32; BLOCK], pairs: &mut Pairs) -> usize {
    #[cfg(target_arch = "x86_64")]
    match crate::kernels::SORTED_INTERSECT.form() {
        crate::processor::Level::Avx512 => {
            // SAFETY: the processor supports the target features of this function.
            return unsafe { intersect_avx512(wanted, block, pairs) };
        }
        crate::processor::Level::Avx2 => {
            // SAFETY: as above.
            return unsafe { intersect_avx2(wanted, block, pairs) };
        }
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::SORTED_INTERSECT.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { crate::neon::intersect(wanted, block, pairs) };
    }
    intersect_scalar(wanted, block, pairs)
}

/// Scalar twin of every vectorised form.
pub fn intersect_scalar(wanted: &[u32], block: &[u32; BLOCK], pairs: &mut Pairs) -> usize {
    let (mut at, mut count) = (0, 0);
    for (index, &value) in wanted.iter().enumerate().take(BLOCK) {
        while at < BLOCK && block[at] < value {
            at += 1;
        }
        if at < BLOCK && block[at] == value {
            pairs.wanted[count] = index as u8;
            pairs.block[count] = at as u8;
            count += 1;
        }
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
fn intersect_avx2(wanted: &[u32], block: &[u32; BLOCK], pairs: &mut Pairs) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 8;
    const STRIDE: usize = 4 * LANES;
    let (mut at, mut count) = (0, 0);
    for (index, &value) in wanted.iter().enumerate().take(BLOCK) {
        while block[at + STRIDE - 1] < value {
            at += STRIDE;
            if at > BLOCK - STRIDE {
                return count;
            }
        }
        let mut vector = at;
        while block[vector + LANES - 1] < value {
            vector += LANES;
        }
        // SAFETY: `at` is at most BLOCK - STRIDE, and the last value of one of the four vectors from
        // there on is not below `value` (else the loop above had gone on), so the vector lies within.
        let found = unsafe {
            let values = _mm256_loadu_si256(block.as_ptr().add(vector).cast());
            let equal = _mm256_cmpeq_epi32(values, _mm256_set1_epi32(value as i32));
            _mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u32
        };
        // Always written, counted only when found: no branch to mispredict. `count` is at most `index`.
        pairs.wanted[count] = index as u8;
        pairs.block[count] = (vector as u32 + found.trailing_zeros()) as u8;
        count += usize::from(found != 0);
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt,bmi1,bmi2,lzcnt")]
fn intersect_avx512(wanted: &[u32], block: &[u32; BLOCK], pairs: &mut Pairs) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 16;
    const { assert!(BLOCK == LANES * LANES) };
    let vectors = block.as_chunks::<LANES>().0;
    let last = |vector: usize| vectors[vector][LANES - 1] as i32;
    let lasts = _mm512_setr_epi32(
        last(0),
        last(1),
        last(2),
        last(3),
        last(4),
        last(5),
        last(6),
        last(7),
        last(8),
        last(9),
        last(10),
        last(11),
        last(12),
        last(13),
        last(14),
        last(15),
    );
    let mut count = 0;
    for (index, &value) in wanted.iter().enumerate().take(BLOCK) {
        let all = _mm512_set1_epi32(value as i32);
        // The first vector that does not end before the value. Where all do, any vector will do: none holds the value.
        let passed = _mm512_cmplt_epu32_mask(lasts, all).count_ones() as usize;
        let vector = passed % LANES;
        // SAFETY: a chunk is sixteen u32; unaligned loads are allowed.
        let values = unsafe { _mm512_loadu_si512(vectors[vector].as_ptr().cast()) };
        let found = u32::from(_mm512_cmpeq_epi32_mask(values, all));
        // Always written, counted only when found. `count` is at most `index`.
        pairs.wanted[count % BLOCK] = index as u8;
        pairs.block[count % BLOCK] = (vector * LANES) as u8 + (found.trailing_zeros() % 16) as u8;
        count += usize::from(found != 0);
    }
    count
}

for_each_processor! {
    /// Moves those of `starts` (increasing) whose value plus `offset` is in `positions` (increasing) to its beginning,
    /// and returns their number.
    pub fn keep_followed(starts: &mut [u32], offset: u32, positions: &[u32]) -> usize = keep_followed_any, KEEP_FOLLOWED
}

#[inline(always)]
fn keep_followed_any(starts: &mut [u32], offset: u32, positions: &[u32]) -> usize {
    /// Number of positions compared in the time of one step of a walk.
    const AT_ONCE: usize = 8;
    if starts.len() * positions.len() <= AT_ONCE * (starts.len() + positions.len()) {
        // Compares all with all: no branch to mispredict, and many at a time.
        let mut count = 0;
        for at in 0..starts.len() {
            let start = starts[at];
            let wanted = start.wrapping_add(offset);
            let is_there = positions
                .iter()
                .fold(false, |is_there, &position| is_there | (position == wanted));
            starts[count] = start;
            // A sum that wraps around is no position.
            count += usize::from(is_there && wanted >= start);
        }
        return count;
    }
    keep_followed_walking(starts, offset, positions)
}

/// Twin of every form of [`keep_followed`]: walks both slices once.
pub fn keep_followed_walking(starts: &mut [u32], offset: u32, positions: &[u32]) -> usize {
    let (mut at, mut count) = (0, 0);
    for index in 0..starts.len() {
        let start = starts[index];
        let Some(wanted) = start.checked_add(offset) else {
            break;
        };
        while at < positions.len() && positions[at] < wanted {
            at += 1;
        }
        if at < positions.len() && positions[at] == wanted {
            starts[count] = start;
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn followed_are_those_of_the_walk(
            starts in prop::collection::btree_set(prop_oneof![20 => 0u32..300, 1 => u32::MAX - 9..=u32::MAX], 0..60),
            positions in prop::collection::btree_set(prop_oneof![20 => 0u32..300, 1 => u32::MAX - 9..=u32::MAX], 0..60),
            offset in 0u32..5,
        ) {
            kernels::in_each_form(&[kernels::KEEP_FOLLOWED], || {
                let starts: Vec<u32> = starts.iter().copied().collect();
                let listed: Vec<u32> = positions.iter().copied().collect();
                let expected: Vec<u32> = starts.iter().copied()
                    .filter(|start| start.checked_add(offset).is_some_and(|wanted| positions.contains(&wanted)))
                    .collect();
                for keep in [keep_followed, keep_followed_any, keep_followed_walking] {
                    let mut kept = starts.clone();
                    let count = keep(&mut kept, offset, &listed);
                    prop_assert_eq!(&kept[..count], &expected);
                }
                Ok(())
            })?;
        }

        #[test]
        fn seeks_are_binary_searches(
            values in prop::collection::btree_set(0u32..600, 0..300),
            from in 0usize..320,
            target in 0u32..620,
        ) {
            let values: Vec<u32> = values.iter().copied().collect();
            let from = from.min(values.len());
            let expected = values.partition_point(|&value| value < target).max(from);
            prop_assert_eq!(seek(&values, from, target), expected);
        }

        #[test]
        fn every_form_is_the_plain_one(
            wanted in prop::collection::btree_set(0u32..3000, 0..=256),
            block in prop::collection::btree_set(0u32..3000, 0..=256),
        ) {
            kernels::in_each_form(&[kernels::SORTED_INTERSECT], || {
                let wanted: Vec<u32> = wanted.iter().copied().collect();
                let mut padded = [u32::MAX; BLOCK];
                for (slot, value) in padded.iter_mut().zip(&block) {
                    *slot = *value;
                }
                let mut slow = Pairs::default();
                let count = intersect_scalar(&wanted, &padded, &mut slow);
                let mut fast = Pairs::default();
                prop_assert_eq!(intersect(&wanted, &padded, &mut fast), count);
                prop_assert_eq!(&fast.wanted[..count], &slow.wanted[..count]);
                prop_assert_eq!(&fast.block[..count], &slow.block[..count]);
                let expected = wanted.iter().filter(|value| block.contains(value)).count();
                prop_assert_eq!(count, expected);
                Ok(())
            })?;
        }
    }
}
