//! Sums of scores by document, in rows of 64 documents: selecting and draining the sums that reach a score.

pub use crate::arrays::ROW;
use crate::packed::BLOCK;

/// Moves the documents whose sum is at least `least` (above 0) out of `rows` to `docs` and `sums`, and zeroes the rows.
/// The first sum of the first row is that of document `base`. Appends from index `*count` on and advances it; stops
/// where fewer than 64 places are left. Returns the number of rows drained.
#[inline]
pub fn drain(
    rows: &mut [[f32; ROW]],
    base: u32,
    least: f32,
    count: &mut usize,
    docs: &mut [u32; BLOCK],
    sums: &mut [f32; BLOCK],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::DRAIN.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { drain_avx512(rows, base, least, count, docs, sums) };
    }
    drain_by_rows(rows, base, least, count, docs, sums)
}

/// Twin of the vectorised [`drain`].
pub fn drain_by_rows(
    rows: &mut [[f32; ROW]],
    base: u32,
    least: f32,
    count: &mut usize,
    docs: &mut [u32; BLOCK],
    sums: &mut [f32; BLOCK],
) -> usize {
    for (number, row) in rows.iter_mut().enumerate() {
        if *count > BLOCK - ROW {
            return number;
        }
        let mut reached = reach(row, least);
        while reached != 0 {
            let at = reached.trailing_zeros();
            reached &= reached - 1;
            docs[*count] = base + (number * ROW) as u32 + at;
            sums[*count] = row[at as usize];
            *count += 1;
        }
        row.fill(0.0);
    }
    rows.len()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn drain_avx512(
    rows: &mut [[f32; ROW]],
    base: u32,
    least: f32,
    count: &mut usize,
    docs: &mut [u32; BLOCK],
    sums: &mut [f32; BLOCK],
) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 16;
    let least = _mm512_set1_ps(least);
    let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut at = *count;
    for (number, row) in rows.iter_mut().enumerate() {
        if at > BLOCK - ROW {
            *count = at;
            return number;
        }
        let (vectors, _) = row.as_chunks_mut::<LANES>();
        for (quarter, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: a chunk is sixteen f32; unaligned loads are allowed.
            let values = unsafe { _mm512_loadu_ps(vector.as_ptr()) };
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(vector.as_mut_ptr(), _mm512_setzero_ps()) };
            let mask = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(values, least);
            if mask == 0 {
                continue;
            }
            let first = base + (number * ROW + quarter * LANES) as u32;
            let numbers = _mm512_add_epi32(_mm512_set1_epi32(first as i32), steps);
            let found = _mm512_maskz_compress_epi32(mask, numbers);
            let reached = _mm512_maskz_compress_ps(mask, values);
            // SAFETY: at the start of the row at least 64 places were left, and each quarter takes at most sixteen of
            // them, so sixteen places from `at` on lie within the 256.
            unsafe {
                _mm512_storeu_si512(docs.as_mut_ptr().add(at).cast(), found);
                _mm512_storeu_ps(sums.as_mut_ptr().add(at), reached);
            }
            at += mask.count_ones() as usize;
        }
    }
    *count = at;
    rows.len()
}

/// Returns a bit for each of the 64 values: 1 where it is at least `least`.
#[inline]
pub fn reach(values: &[f32; ROW], least: f32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    match crate::kernels::REACH.form() {
        crate::processor::Level::Avx512 => {
            // SAFETY: the processor has AVX-512F, the only target feature of this function.
            return unsafe { reach_avx512(values, least) };
        }
        crate::processor::Level::Avx2 => {
            // SAFETY: the processor has AVX2, the only target feature of this function.
            return unsafe { reach_avx2(values, least) };
        }
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::REACH.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { crate::neon::reach(values, least) };
    }
    reach_scalar(values, least)
}

/// Twin of every vectorised [`reach`].
pub fn reach_scalar(values: &[f32; ROW], least: f32) -> u64 {
    let bit = |(index, &value): (usize, &f32)| u64::from(value >= least) << index;
    values.iter().enumerate().map(bit).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn reach_avx512(values: &[f32; ROW], least: f32) -> u64 {
    use std::arch::x86_64::*;
    let least = _mm512_set1_ps(least);
    let (vectors, _) = values.as_chunks::<16>();
    let mut bits = 0;
    for (number, vector) in vectors.iter().enumerate() {
        // SAFETY: a chunk is sixteen f32; unaligned loads are allowed.
        let vector = unsafe { _mm512_loadu_ps(vector.as_ptr()) };
        let mask = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(vector, least);
        bits |= u64::from(mask) << (number * 16);
    }
    bits
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn reach_avx2(values: &[f32; ROW], least: f32) -> u64 {
    use std::arch::x86_64::*;
    let least = _mm256_set1_ps(least);
    let (vectors, _) = values.as_chunks::<8>();
    let mut bits = 0;
    for (number, vector) in vectors.iter().enumerate() {
        // SAFETY: a chunk is eight f32; unaligned loads are allowed.
        let vector = unsafe { _mm256_loadu_ps(vector.as_ptr()) };
        let mask = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(vector, least));
        bits |= (mask as u64) << (number * 8);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    type Drain =
        fn(&mut [[f32; ROW]], u32, f32, &mut usize, &mut [u32; BLOCK], &mut [f32; BLOCK]) -> usize;

    proptest! {
        #[test]
        fn every_form_is_the_plain_one(
            values in prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 1..1500),
            least in 1u8..250,
            used in 0usize..=BLOCK,
        ) {
            kernels::in_each_form(&[kernels::REACH, kernels::DRAIN], || {
                let mut rows = vec![[0.0; ROW]; values.len().div_ceil(ROW)];
                for (at, &value) in values.iter().enumerate() {
                    rows[at / ROW][at % ROW] = f32::from(value) / 8.0;
                }
                let least = f32::from(least) / 8.0;
                prop_assert_eq!(reach(&rows[0], least), reach_scalar(&rows[0], least));
                let run = |drain: Drain| {
                    let (mut rows, mut count) = (rows.clone(), used);
                    let (mut docs, mut sums) = ([7; BLOCK], [0.5; BLOCK]);
                    let emptied = drain(&mut rows, 640, least, &mut count, &mut docs, &mut sums);
                    let found: Vec<(u32, f32)> =
                        docs[used..count].iter().copied().zip(sums[used..count].iter().copied()).collect();
                    (emptied, rows, found)
                };
                let (emptied, left, found) = run(drain);
                prop_assert_eq!(&(emptied, left.clone(), found.clone()), &run(drain_by_rows));
                let expected: Vec<(u32, f32)> = (0..emptied * ROW)
                    .map(|at| (640 + at as u32, rows[at / ROW][at % ROW]))
                    .filter(|(_, sum)| *sum >= least)
                    .collect();
                prop_assert_eq!(found, expected);
                prop_assert!(left[..emptied].iter().flatten().all(|&sum| sum == 0.0));
                prop_assert_eq!(&left[emptied..], &rows[emptied..]);
                prop_assert!(emptied == rows.len() || used > 0 || emptied > 2);
                Ok(())
            })?;
        }
    }
}
