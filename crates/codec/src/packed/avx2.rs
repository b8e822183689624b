//! AVX2 forms of unpacking rows and summing gaps, eight values at a time.
//!
//! The answers equal those of [`super::scalar`]. Every function checks its slices once and has no further bounds
//! checks. A caller must ensure only that the processor has AVX2.
use super::layout::{BLOCK, LANES, ROW_BYTES, by_width, for_each_row};
use std::arch::x86_64::*;

type Kernel = unsafe fn(payload: &[u8], base: u32, values: &mut [u32; BLOCK]);

/// Unpacking functions by bit width. `base` is not used.
pub(super) const UNPACK: [Kernel; 33] = by_width!(unpack_width, false);
/// Unpacking functions by bit width that sum the values from `base` on.
pub(super) const UNPACK_SUM: [Kernel; 33] = by_width!(unpack_width, true);

#[target_feature(enable = "avx2")]
fn unpack_width<const BITS: usize, const SUM: bool>(
    payload: &[u8],
    base: u32,
    values: &mut [u32; BLOCK],
) {
    assert!(payload.len() >= ROW_BYTES * BITS);
    if BITS == 0 {
        values.fill(if SUM { base } else { 0 });
        return;
    }
    let mut carry = _mm256_set1_epi32(base as i32);
    for_each_row!(ROW => {
        // SAFETY: BITS is 1..=32 and ROW < 32, and the payload has ROW_BYTES * BITS bytes.
        let mut row = unsafe { unpack_row::<BITS, ROW>(payload.as_ptr()) };
        if SUM {
            row = sum_row(row, &mut carry);
        }
        // SAFETY: ROW < 32, so eight values from LANES * ROW on lie within the 256.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().add(LANES * ROW).cast(), row) };
    });
}

/// Turns gaps into values in place (see [`super::prefix_sum`]).
#[target_feature(enable = "avx2")]
pub(super) fn prefix_sum(values: &mut [u32; BLOCK], base: u32) {
    let mut carry = _mm256_set1_epi32(base as i32);
    let (rows, _) = values.as_chunks_mut::<LANES>();
    for row in rows {
        // SAFETY: a chunk is eight u32, 32 bytes; unaligned loads and stores are allowed.
        unsafe {
            let at: *mut __m256i = row.as_mut_ptr().cast();
            _mm256_storeu_si256(at, sum_row(_mm256_loadu_si256(at), &mut carry));
        }
    }
}

/// Unpacks the eight values of row `ROW`.
///
/// # Safety
/// `BITS` is 1..=32, `ROW` is below 32, and `payload` points at `ROW_BYTES * BITS` readable bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn unpack_row<const BITS: usize, const ROW: usize>(payload: *const u8) -> __m256i {
    let (word, shift) = const { (ROW * BITS / 32, ROW * BITS % 32) };
    // SAFETY: ROW <= 31, so word <= 31 * BITS / 32 < BITS: the row of words lies in the payload.
    let low = unsafe { _mm256_loadu_si256(payload.add(ROW_BYTES * word).cast()) };
    let mut row = _mm256_srl_epi32(low, _mm_cvtsi32_si128(shift as i32));
    if shift + BITS > 32 {
        // SAFETY: this row of values ends past bit 32 * (word + 1) of a lane, and a lane's values
        // end at bit 32 * BITS, so word + 1 < BITS.
        let high = unsafe { _mm256_loadu_si256(payload.add(ROW_BYTES * (word + 1)).cast()) };
        row = _mm256_or_si256(
            row,
            _mm256_sll_epi32(high, _mm_cvtsi32_si128(32 - shift as i32)),
        );
    }
    if shift + BITS == 32 {
        return row;
    }
    _mm256_and_si256(row, _mm256_set1_epi32((u32::MAX >> (32 - BITS)) as i32))
}

/// Returns the running sums of a row, started at `carry`. Sets all lanes of `carry` to the last sum.
#[inline]
#[target_feature(enable = "avx2")]
fn sum_row(row: __m256i, carry: &mut __m256i) -> __m256i {
    let row = _mm256_add_epi32(row, _mm256_slli_si256::<4>(row));
    let row = _mm256_add_epi32(row, _mm256_slli_si256::<8>(row));
    // Each half is summed on its own; the upper still lacks the total of the lower.
    let lower_half = _mm256_permute2x128_si256::<0x08>(row, row);
    let lower_total = _mm256_shuffle_epi32::<0xff>(lower_half);
    let row = _mm256_add_epi32(row, lower_total);
    let total = _mm256_permutevar8x32_epi32(row, _mm256_set1_epi32(7));
    let sums = _mm256_add_epi32(row, *carry);
    // Adding the row's own total keeps the dependency chain from row to row at one addition.
    *carry = _mm256_add_epi32(*carry, total);
    sums
}
