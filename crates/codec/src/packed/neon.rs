//! NEON forms of unpacking rows and summing gaps, eight values at a time: a row is two registers of four.
//!
//! The answers equal those of [`super::scalar`]. Every function checks its slices once and has no further bounds
//! checks. A caller must ensure only that the processor has NEON.
use super::layout::{BLOCK, LANES, ROW_BYTES, by_width, for_each_row};
use std::arch::aarch64::*;

type Kernel = unsafe fn(payload: &[u8], base: u32, values: &mut [u32; BLOCK]);

/// Unpacking functions by bit width. `base` is not used.
pub(super) const UNPACK: [Kernel; 33] = by_width!(unpack_width, false);
/// Unpacking functions by bit width that sum the values from `base` on.
pub(super) const UNPACK_SUM: [Kernel; 33] = by_width!(unpack_width, true);

/// A row: lanes 0 to 3, and lanes 4 to 7.
type Row = [uint32x4_t; 2];

#[target_feature(enable = "neon")]
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
    let mut carry = vdupq_n_u32(base);
    for_each_row!(ROW => {
        // SAFETY: BITS is 1..=32 and ROW < 32, and the payload has ROW_BYTES * BITS bytes.
        let mut row = unsafe { unpack_row::<BITS, ROW>(payload.as_ptr()) };
        if SUM {
            row = sum_row(row, &mut carry);
        }
        // SAFETY: ROW < 32, so eight values from LANES * ROW on lie within the 256.
        unsafe { store(values.as_mut_ptr().add(LANES * ROW), row) };
    });
}

/// Turns gaps into values in place (see [`super::prefix_sum`]).
#[target_feature(enable = "neon")]
pub(super) fn prefix_sum(values: &mut [u32; BLOCK], base: u32) {
    let mut carry = vdupq_n_u32(base);
    let (rows, _) = values.as_chunks_mut::<LANES>();
    for row in rows {
        let at = row.as_mut_ptr();
        // SAFETY: a chunk is eight u32.
        let gaps = unsafe { [vld1q_u32(at), vld1q_u32(at.add(4))] };
        // SAFETY: as above.
        unsafe { store(at, sum_row(gaps, &mut carry)) };
    }
}

/// Unpacks the eight values of row `ROW`.
///
/// # Safety
/// `BITS` is 1..=32, `ROW` is below 32, and `payload` points at `ROW_BYTES * BITS` readable bytes.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn unpack_row<const BITS: usize, const ROW: usize>(payload: *const u8) -> Row {
    let (word, shift) = const { (ROW * BITS / 32, ROW * BITS % 32) };
    // SAFETY: ROW <= 31, so word <= 31 * BITS / 32 < BITS: the row of words lies in the payload.
    let mut row = unsafe { load(payload.add(ROW_BYTES * word)) };
    // A right shift is a left shift by a negative count; by a constant it is one instruction.
    row = row.map(|four| vshlq_u32(four, vdupq_n_s32(-(shift as i32))));
    if shift + BITS > 32 {
        // SAFETY: this row of values ends past bit 32 * (word + 1) of a lane, and a lane's values
        // end at bit 32 * BITS, so word + 1 < BITS.
        let high = unsafe { load(payload.add(ROW_BYTES * (word + 1))) };
        let left = vdupq_n_s32(32 - shift as i32);
        row = [0, 1].map(|half: usize| vorrq_u32(row[half], vshlq_u32(high[half], left)));
    }
    if shift + BITS == 32 {
        return row;
    }
    row.map(|four| vandq_u32(four, vdupq_n_u32(u32::MAX >> (32 - BITS))))
}

/// Loads 32 bytes as little-endian words. The processor reads words this way where it is little-endian, as all ARM
/// processors under Linux are.
///
/// # Safety
/// `at` points at 32 readable bytes.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(at: *const u8) -> Row {
    const { assert!(cfg!(target_endian = "little")) };
    // SAFETY: 32 bytes are readable; loads of bytes need no alignment.
    unsafe {
        [
            vreinterpretq_u32_u8(vld1q_u8(at)),
            vreinterpretq_u32_u8(vld1q_u8(at.add(16))),
        ]
    }
}

/// Stores the eight values of a row.
///
/// # Safety
/// `at` points at eight u32 that may be written.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store(at: *mut u32, [low, high]: Row) {
    // SAFETY: there is room for eight.
    unsafe {
        vst1q_u32(at, low);
        vst1q_u32(at.add(4), high);
    }
}

/// Returns the running sums of a row, started at `carry`. Sets all lanes of `carry` to the last sum.
#[inline]
#[target_feature(enable = "neon")]
fn sum_row(row: Row, carry: &mut uint32x4_t) -> Row {
    let zero = vdupq_n_u32(0);
    let [low, high] = row.map(|four| {
        let four = vaddq_u32(four, vextq_u32::<3>(zero, four));
        vaddq_u32(four, vextq_u32::<2>(zero, four))
    });
    let high = vaddq_u32(high, vdupq_laneq_u32::<3>(low));
    let total = vdupq_laneq_u32::<3>(high);
    let sums = [vaddq_u32(low, *carry), vaddq_u32(high, *carry)];
    // Adding the row's own total keeps the dependency chain from row to row at one addition.
    *carry = vaddq_u32(*carry, total);
    sums
}
