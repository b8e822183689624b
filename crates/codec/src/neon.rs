//! NEON forms of the kernels over decoded blocks: comparing, picking and compressing.
//!
//! NEON has no instruction that compresses the selected lanes of a vector. A table replaces it: for each set of eight
//! lanes, their numbers, a byte each (Lemire & Rupp, "Upscaledb: efficient integer-key compression", 2017, section on
//! intersections, do likewise with shuffles). Eight bytes are always stored; only those of selected lanes count.
//!
//! The answers equal those of the twins in the named modules. A caller must ensure only that the processor has NEON.

use crate::arrays::{LIMITS, LengthBytes, Pairs, ROW};
use crate::packed::BLOCK;
use std::arch::aarch64::*;

/// Number of lanes compressed at once.
const LANES: usize = 8;

/// For each set of eight lanes, the numbers of its lanes, from the lowest byte on.
static CHOSEN: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < LANES {
            if set >> lane & 1 == 1 {
                table[set] |= (lane as u64) << (8 * count);
                count += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
};

/// The bit of each lane, in its byte.
const LANE_BITS: u64 = 0x8040_2010_0804_0201;
/// The value 1 in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Returns a bit for each byte: 1 for all ones, 0 for zero.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of(bytes: uint8x8_t) -> u8 {
    vaddv_u8(vand_u8(bytes, vcreate_u8(LANE_BITS)))
}

/// Narrows eight lanes, each all ones or 0, to bytes.
#[inline]
#[target_feature(enable = "neon")]
fn narrow(low: uint32x4_t, high: uint32x4_t) -> uint8x8_t {
    vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high)))
}

/// Writes the indexes of the lanes of `set`, counted from `first`, to `kept` and advances `count`.
#[inline]
#[target_feature(enable = "neon")]
fn keep(kept: &mut [u8; BLOCK], count: &mut usize, set: u8, first: usize) {
    let indexes = CHOSEN[usize::from(set)].wrapping_add(EACH.wrapping_mul(first as u64));
    // The vectors before this one held at least `count` values, a multiple of eight below 256, so the eight bytes lie
    // within; the check costs nothing measurable.
    if let Some(room) = kept.get_mut(*count..*count + LANES) {
        room.copy_from_slice(&indexes.to_le_bytes());
    }
    *count += set.count_ones() as usize;
}

/// NEON form of [`crate::lanes::at_least`].
#[target_feature(enable = "neon")]
pub(crate) fn at_least(values: &[f32], least: f32, kept: &mut [u8; BLOCK]) -> usize {
    let (vectors, rest) = values[..values.len().min(BLOCK)].as_chunks::<LANES>();
    let limit = vdupq_n_f32(least);
    let mut count = 0;
    for (number, vector) in vectors.iter().enumerate() {
        // SAFETY: a chunk is eight f32.
        let (low, high) = unsafe {
            (
                vld1q_f32(vector.as_ptr()),
                vld1q_f32(vector.as_ptr().add(4)),
            )
        };
        let set = bits_of(narrow(vcgeq_f32(low, limit), vcgeq_f32(high, limit)));
        keep(kept, &mut count, set, number * LANES);
    }
    for (index, &value) in (vectors.len() * LANES..).zip(rest) {
        kept[count] = index as u8;
        count += usize::from(value >= least);
    }
    count
}

/// NEON form of [`crate::limits::shorter`]: the 64 limits are a table in which one instruction looks up sixteen.
#[target_feature(enable = "neon")]
pub(crate) fn shorter(
    frequencies: &[u32],
    lengths: &LengthBytes,
    limits: &[u8; LIMITS],
    kept: &mut [u8; BLOCK],
) -> usize {
    const AT_ONCE: usize = 16;
    let (vectors, rest) = frequencies[..frequencies.len().min(BLOCK)].as_chunks::<AT_ONCE>();
    // SAFETY: the limits are 64 bytes.
    let table = unsafe { vld1q_u8_x4(limits.as_ptr()) };
    let mut count = 0;
    for (number, (vector, lengths)) in vectors
        .iter()
        .zip(lengths.as_chunks::<AT_ONCE>().0)
        .enumerate()
    {
        let at = vector.as_ptr();
        // SAFETY: a chunk is sixteen u32.
        let four = unsafe {
            [
                vld1q_u32(at),
                vld1q_u32(at.add(4)),
                vld1q_u32(at.add(8)),
                vld1q_u32(at.add(12)),
            ]
        };
        // Saturating: a value that does not fit becomes the maximum.
        let low = vcombine_u16(vqmovn_u32(four[0]), vqmovn_u32(four[1]));
        let high = vcombine_u16(vqmovn_u32(four[2]), vqmovn_u32(four[3]));
        let frequency = vcombine_u8(vqmovn_u16(low), vqmovn_u16(high));
        let limit = vqtbl4q_u8(table, vminq_u8(frequency, vdupq_n_u8(LIMITS as u8 - 1)));
        // SAFETY: a chunk is sixteen bytes.
        let length = vminq_u8(unsafe { vld1q_u8(lengths.as_ptr()) }, vdupq_n_u8(254));
        let passes = vcltq_u8(length, limit);
        keep(
            kept,
            &mut count,
            bits_of(vget_low_u8(passes)),
            number * AT_ONCE,
        );
        keep(
            kept,
            &mut count,
            bits_of(vget_high_u8(passes)),
            number * AT_ONCE + LANES,
        );
    }
    for (index, &frequency) in (vectors.len() * AT_ONCE..).zip(rest) {
        let limit = limits[(frequency as usize).min(LIMITS - 1)];
        kept[count] = index as u8;
        count += usize::from(lengths[index].min(254) < limit);
    }
    count
}

/// NEON form of [`crate::limits::pick_bits`]. `bytes` begins with the byte of the first bit.
#[target_feature(enable = "neon")]
pub(crate) fn pick_bits(bytes: &[u8], words: &[[u8; 8]], picked: &mut LengthBytes) -> bool {
    let mut count = 0;
    for (number, set) in words.as_flattened().iter().enumerate() {
        let rest = bytes.get(number * LANES..).unwrap_or(&[]);
        let Some(eight) = rest.first_chunk::<LANES>() else {
            // The segment may end within the byte; bits past its end are damage.
            if usize::from(*set) >> rest.len() != 0 {
                return false;
            }
            for (lane, byte) in rest.iter().enumerate() {
                if let (1, Some(slot)) = (set >> lane & 1, picked.get_mut(count)) {
                    *slot = *byte;
                    count += 1;
                }
            }
            continue;
        };
        let chosen = vcreate_u8(CHOSEN[usize::from(*set)]);
        let found = vtbl1_u8(vcreate_u8(u64::from_le_bytes(*eight)), chosen);
        let Some(room) = picked
            .get_mut(count..count + LANES)
            .filter(|_| count <= BLOCK)
        else {
            return false;
        };
        // SAFETY: there is room for eight bytes.
        unsafe { vst1_u8(room.as_mut_ptr(), found) };
        count += set.count_ones() as usize;
    }
    count == BLOCK
}

/// NEON form of [`crate::docs::documents_of`].
#[target_feature(enable = "neon")]
pub(crate) fn spread(words: &[[u8; 8]], first: u32, docs: &mut [u32; BLOCK]) -> usize {
    let mut count = 0;
    for (number, set) in words.as_flattened().iter().enumerate() {
        let base = first.wrapping_add((number * LANES) as u32);
        match docs.get_mut(count..count + LANES) {
            Some(room) => {
                let lanes = vmovl_u8(vcreate_u8(CHOSEN[usize::from(*set)]));
                let all = vdupq_n_u32(base);
                let low = vaddw_u16(all, vget_low_u16(lanes));
                let high = vaddw_high_u16(all, lanes);
                // SAFETY: there is room for eight.
                unsafe {
                    vst1q_u32(room.as_mut_ptr(), low);
                    vst1q_u32(room.as_mut_ptr().add(4), high);
                }
            }
            None => {
                let chosen = CHOSEN[usize::from(*set)].to_le_bytes();
                let found = &chosen[..set.count_ones() as usize];
                let rest = docs.get_mut(count..).unwrap_or(&mut []);
                for (slot, lane) in rest.iter_mut().zip(found) {
                    *slot = base.wrapping_add(u32::from(*lane));
                }
            }
        }
        count += set.count_ones() as usize;
    }
    count
}

/// NEON form of [`crate::sums::reach`].
#[target_feature(enable = "neon")]
pub(crate) fn reach(values: &[f32; ROW], least: f32) -> u64 {
    let limit = vdupq_n_f32(least);
    let bits = vdupq_n_u64(LANE_BITS);
    // Sixteen values as sixteen bytes, each its bit among eight, or 0.
    let sixteen = |from: usize| {
        let of = |from: usize| -> uint8x8_t {
            let at = &values[from..from + LANES];
            // SAFETY: eight f32.
            let (low, high) = unsafe { (vld1q_f32(at.as_ptr()), vld1q_f32(at.as_ptr().add(4))) };
            narrow(vcgeq_f32(low, limit), vcgeq_f32(high, limit))
        };
        vandq_u8(
            vcombine_u8(of(from), of(from + LANES)),
            vreinterpretq_u8_u64(bits),
        )
    };
    // Sums of eight neighbours are the bytes of the result.
    let low = vpaddq_u8(sixteen(0), sixteen(16));
    let high = vpaddq_u8(sixteen(32), sixteen(48));
    let all = vpaddq_u8(low, high);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(all, all)))
}

/// NEON form of [`crate::sorted::intersect`]: vectors are skipped by their last value.
#[target_feature(enable = "neon")]
pub(crate) fn intersect(wanted: &[u32], block: &[u32; BLOCK], pairs: &mut Pairs) -> usize {
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
        let eight = &block[vector..vector + LANES];
        // SAFETY: eight u32.
        let (low, high) = unsafe { (vld1q_u32(eight.as_ptr()), vld1q_u32(eight.as_ptr().add(4))) };
        let all = vdupq_n_u32(value);
        let equal = narrow(vceqq_u32(low, all), vceqq_u32(high, all));
        // A byte for each lane; the lowest byte that is not 0 marks the match.
        let found = vget_lane_u64::<0>(vreinterpret_u64_u8(equal));
        // Always written, counted only when found: no branch to mispredict. `count` is at most `index`.
        pairs.wanted[count] = index as u8;
        pairs.block[count] = (vector as u32 + found.trailing_zeros() / 8) as u8;
        count += usize::from(found != 0);
    }
    count
}
