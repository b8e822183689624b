//! AVX-512 forms of unpacking rows and summing gaps, sixteen values or two rows at a time.
//!
//! The answers equal those of [`super::scalar`]. Neighbouring rows begin in the same word or in consecutive words, so
//! one load fetches both, and one instruction extracts each value out of two words. Every function checks its slices
//! once and has no further bounds checks. A caller must ensure only that the processor has AVX-512 with VBMI2.
use super::layout::{BLOCK, LANES, ROW_BYTES, by_width, for_each_row};
use std::arch::x86_64::*;

type Kernel = unsafe fn(payload: &[u8], base: u32, values: &mut [u32; BLOCK]);

/// Unpacking functions by bit width. `base` is not used.
pub(super) const UNPACK: [Kernel; 33] = by_width!(unpack_width, false);
/// Unpacking functions by bit width that sum the values from `base` on.
pub(super) const UNPACK_SUM: [Kernel; 33] = by_width!(unpack_width, true);

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
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
    let mut carry = _mm512_set1_epi32(base as i32);
    for_each_row!(ROW => {
        if const { ROW.is_multiple_of(2) } {
            // SAFETY: BITS is 1..=32 and ROW is even and below 32, and the payload has ROW_BYTES * BITS bytes.
            let mut rows = unsafe { unpack_rows::<BITS, ROW>(payload.as_ptr()) };
            if SUM {
                rows = sum_rows(rows, &mut carry);
            }
            // SAFETY: ROW is at most 30, so sixteen values from LANES * ROW on lie within the 256.
            unsafe { _mm512_storeu_si512(values.as_mut_ptr().add(LANES * ROW).cast(), rows) };
        }
    });
}

/// Turns gaps into values in place (see [`super::prefix_sum`]).
#[target_feature(enable = "avx512f")]
pub(super) fn prefix_sum(values: &mut [u32; BLOCK], base: u32) {
    let mut carry = _mm512_set1_epi32(base as i32);
    let (rows, _) = values.as_chunks_mut::<{ 2 * LANES }>();
    for two in rows {
        // SAFETY: a chunk is sixteen u32, 64 bytes; unaligned loads and stores are allowed.
        unsafe {
            let at: *mut __m512i = two.as_mut_ptr().cast();
            _mm512_storeu_si512(at, sum_rows(_mm512_loadu_si512(at), &mut carry));
        }
    }
}

/// Unpacks the sixteen values of row `ROW` and the next row.
///
/// # Safety
/// `BITS` is 1..=32, `ROW` is even and below 32, and `payload` points at `ROW_BYTES * BITS` readable bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
unsafe fn unpack_rows<const BITS: usize, const ROW: usize>(payload: *const u8) -> __m512i {
    let (word, shift) = const { (ROW * BITS / 32, ROW * BITS % 32) };
    let (next_word, next_shift) = const { ((ROW + 1) * BITS / 32, (ROW + 1) * BITS % 32) };
    // Whether a row ends in the word after its first word.
    let (spans, next_spans) = (shift + BITS > 32, next_shift + BITS > 32);
    // A row begins at most 32 bits after the row before: in the same word or in the next.
    const { assert!((ROW + 1) * BITS / 32 - ROW * BITS / 32 <= 1) };
    // SAFETY: as in `super::avx2`, a row's words are below BITS: `word`, `next_word`, and `word + 1` or
    // `next_word + 1` where that row spans. So the words read below lie in the payload.
    let low = unsafe { words::<BITS>(payload, word, next_word) };
    let counts = _mm512_inserti64x4::<1>(
        _mm512_set1_epi32(shift as i32),
        _mm256_set1_epi32(next_shift as i32),
    );
    let rows = if spans || next_spans {
        // For a row that does not span two words, the bits shifted in from the left are masked off below.
        let (first, second) = match (spans, next_spans) {
            (true, true) => (word + 1, next_word + 1),
            (true, false) => (word + 1, word + 1),
            _ => (next_word + 1, next_word + 1),
        };
        // SAFETY: as above.
        let high = unsafe { words::<BITS>(payload, first, second) };
        _mm512_shrdv_epi32(low, high, counts)
    } else {
        _mm512_srlv_epi32(low, counts)
    };
    if BITS == 32 {
        return rows;
    }
    _mm512_and_si512(rows, _mm512_set1_epi32((u32::MAX >> (32 - BITS)) as i32))
}

/// Loads two rows of words. The second is the same as the first, or the next.
///
/// # Safety
/// Both row numbers are below `BITS`, and `payload` points at `ROW_BYTES * BITS` readable bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn words<const BITS: usize>(payload: *const u8, first: usize, second: usize) -> __m512i {
    debug_assert!(second < BITS && second - first <= 1);
    // SAFETY: the row of words lies in the payload.
    let at = unsafe { payload.add(ROW_BYTES * first) };
    if first == second {
        // SAFETY: 32 bytes of the row of words; unaligned loads are allowed.
        return _mm512_broadcast_i32x8(unsafe { _mm256_loadu_si256(at.cast()) });
    }
    // SAFETY: 64 bytes, up to the end of the second row.
    unsafe { _mm512_loadu_si512(at.cast()) }
}

/// Returns the running sums of two rows, started at `carry`. Sets all lanes of `carry` to the last sum.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_rows(rows: __m512i, carry: &mut __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let rows = _mm512_add_epi32(rows, _mm512_alignr_epi32::<15>(rows, zero));
    let rows = _mm512_add_epi32(rows, _mm512_alignr_epi32::<14>(rows, zero));
    let rows = _mm512_add_epi32(rows, _mm512_alignr_epi32::<12>(rows, zero));
    let rows = _mm512_add_epi32(rows, _mm512_alignr_epi32::<8>(rows, zero));
    let total = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), rows);
    let sums = _mm512_add_epi32(rows, *carry);
    // Adding the rows' own total keeps the dependency chain at one addition.
    *carry = _mm512_add_epi32(*carry, total);
    sums
}
