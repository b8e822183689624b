//! AVX-512 forms of decoding high and low parts, sixteen values at a time.
//!
//! One instruction lists the numbers of the bits of a word that are one. Another one aligns the low parts, each with its
//! four bytes.
//!
//! The answers equal those of the one-by-one forms of [`super`] and [`crate::elias_fano`].

use super::scalar::{Mixed, Parts, decode_any, decode_sums_any, parts, truncated, word};
use crate::CodecError;
use std::arch::x86_64::*;

pub(super) const LANES: usize = 16;
/// Upper limit on the low bits: more do not fit four bytes from any bit of the first.
pub(crate) const BITS_MAX: u32 = 25;

const STEPS: [i32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// AVX-512 form of [`super::decode_one_by_one`].
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
pub(super) fn decode(
    bytes: &[u8],
    count: usize,
    from: usize,
    values: &mut [u32],
) -> Result<(), CodecError> {
    let Parts::Mixed(mixed) = parts(bytes, count)? else {
        values.fill(0);
        return Ok(());
    };
    if mixed.bits > BITS_MAX {
        return decode_any(bytes, count, from, values);
    }
    let first = (from, after_ones(mixed.highs, from)?);
    read::<false, _>(mixed, first, 0, values.len(), |done, read, used| {
        store(values, done, read, used);
        true
    })
}

/// AVX-512 form of [`super::decode_sums_one_by_one`].
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
pub(super) fn decode_sums(
    bytes: &[u8],
    count: usize,
    from: usize,
    base: u32,
    values: &mut [u32],
) -> Result<(), CodecError> {
    let Parts::Mixed(mixed) = parts(bytes, count)? else {
        values.fill(base);
        return Ok(());
    };
    if mixed.bits > BITS_MAX {
        return decode_sums_any(bytes, count, from, base, values);
    }
    let first = (from, after_ones(mixed.highs, from)?);
    read::<true, _>(mixed, first, base, values.len(), |done, read, used| {
        store(values, done, read, used);
        true
    })
}

/// Stores decoded lanes to `values`, as a whole vector where there is room: a whole vector can be reloaded sooner than
/// parts of it.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(values: &mut [u32], done: usize, read: __m512i, used: u16) {
    if let Some(room) = values.get_mut(done..done + LANES) {
        // SAFETY: there is room for sixteen.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), read) };
        return;
    }
    let mut vector = [0u32; LANES];
    // SAFETY: an array of sixteen.
    unsafe { _mm512_storeu_si512(vector.as_mut_ptr().cast(), read) };
    let taken = used.count_ones() as usize;
    values[done..done + taken].copy_from_slice(&vector[..taken]);
}

/// Decodes `wanted` values, or their sums from `base` on. The first value has index `from`; its high part begins at bit
/// `start`. Calls `each` with the index of a vector's first value, the vector and the mask of its used lanes, until
/// `each` returns false.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
pub(super) fn read<const SUMS: bool, F: FnMut(usize, __m512i, u16) -> bool>(
    parts: Mixed<'_>,
    (from, start): (usize, usize),
    base: u32,
    wanted: usize,
    mut each: F,
) -> Result<(), CodecError> {
    let Mixed { bits, highs, lows } = parts;
    let mut base = _mm512_set1_epi32(base as i32);
    // SAFETY: 64 bytes are read from an array of 64.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    // SAFETY: likewise, of sixteen integers.
    let steps = unsafe { _mm512_loadu_si512(STEPS.as_ptr().cast()) };
    let offsets = _mm512_mullo_epi32(steps, _mm512_set1_epi32(bits as i32));
    let mask = _mm512_set1_epi32(((1u32 << bits) - 1) as i32);
    let shift = _mm_cvtsi32_si128(bits as i32);
    // Number of zeros before the last value read, in all lanes.
    let mut passed = _mm512_setzero_si512();
    let (mut at, mut done) = (start, 0);
    while done < wanted {
        if at / 8 >= highs.len() {
            return Err(truncated(at / 8));
        }
        // A window may start at any bit, so that a few values mostly fit one window.
        let ones = word(highs, at / 8) >> (at % 8);
        let ones_count = ones.count_ones() as usize;
        let taken = ones_count.min(LANES).min(wanted - done);
        let found = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(ones, numbers));
        let before = _mm512_set1_epi32((at as i32).wrapping_sub((start + done) as i32));
        let zeros = _mm512_sub_epi32(_mm512_cvtepu8_epi32(found), steps);
        let zeros = _mm512_add_epi32(zeros, before);
        let bit = (from + done) * bits as usize;
        let low = low_parts(lows, bit, taken, bits, offsets, mask);
        let last = _mm512_set1_epi32(taken as i32 - 1);
        let read = if SUMS {
            let low_sums = _mm512_add_epi32(sum_up(low), base);
            // Zeros are counted from the start, so only low parts carry over.
            if taken > 0 {
                base = _mm512_permutexvar_epi32(last, low_sums);
            }
            _mm512_add_epi32(low_sums, _mm512_sll_epi32(zeros, shift))
        } else {
            let highs = _mm512_sub_epi32(zeros, _mm512_alignr_epi32::<15>(zeros, passed));
            if taken > 0 {
                passed = _mm512_permutexvar_epi32(last, zeros);
            }
            _mm512_or_si512(_mm512_sll_epi32(highs, shift), low)
        };
        if !each(done, read, (1u32 << taken).wrapping_sub(1) as u16) {
            break;
        }
        at += match ones_count > LANES {
            true => _pdep_u64(1 << (LANES - 1), ones).trailing_zeros() as usize + 1,
            false => 64 - at % 8,
        };
        done += taken;
    }
    Ok(())
}

/// Writes for each value the number of zeros before its one bit.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
fn zeros_passed(highs: &[u8], values: &mut [u32]) -> Result<(), CodecError> {
    // SAFETY: 64 bytes are read from an array of 64.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    // SAFETY: likewise, of sixteen integers.
    let steps = unsafe { _mm512_loadu_si512(STEPS.as_ptr().cast()) };
    let (mut at, mut done) = (0, 0);
    while done < values.len() {
        if at / 8 >= highs.len() {
            return Err(truncated(at / 8));
        }
        // A window may start at any bit, so that a few values mostly fit one window.
        let bits = word(highs, at / 8) >> (at % 8);
        let mut left = bits.count_ones() as usize;
        let mut found = _mm512_maskz_compress_epi8(bits, numbers);
        while left > 0 && done < values.len() {
            let taken = left.min(LANES).min(values.len() - done);
            let ones = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
            let before = _mm512_set1_epi32((at as i32).wrapping_sub(done as i32));
            let zeros = _mm512_add_epi32(_mm512_sub_epi32(ones, steps), before);
            let mask = (1u32 << taken).wrapping_sub(1) as u16;
            // SAFETY: `taken` lanes are written, and at least `taken` values are left from `done` on.
            unsafe { _mm512_mask_storeu_epi32(values.as_mut_ptr().add(done).cast(), mask, zeros) };
            found = _mm512_alignr_epi64::<2>(found, found);
            left -= taken;
            done += taken;
        }
        at += 64 - at % 8;
    }
    Ok(())
}

/// Returns the number of the bit after the first `count` ones.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,bmi1,bmi2,lzcnt"
)]
pub(super) fn after_ones(bytes: &[u8], count: usize) -> Result<usize, CodecError> {
    const BYTES: usize = 64;
    if count == 0 {
        return Ok(0);
    }
    let zero = _mm512_setzero_si512();
    let mut left = count as u64;
    for (number, chunk) in bytes.chunks(BYTES).enumerate() {
        let there = u64::MAX >> (BYTES - chunk.len());
        // SAFETY: only bytes of the chunk are read, those whose bit in `there` is set.
        let words = unsafe { _mm512_maskz_loadu_epi8(there, chunk.as_ptr().cast()) };
        let ones = _mm512_popcnt_epi64(words);
        let ends = _mm512_add_epi64(ones, _mm512_alignr_epi64::<7>(ones, zero));
        let ends = _mm512_add_epi64(ends, _mm512_alignr_epi64::<6>(ends, zero));
        let ends = _mm512_add_epi64(ends, _mm512_alignr_epi64::<4>(ends, zero));
        // Words that end before the one: the next word has it. No branch to mispredict.
        let passed = _mm512_cmplt_epu64_mask(ends, _mm512_set1_epi64(left as i64)).count_ones();
        let lane = _mm512_set1_epi64(i64::from(passed));
        let of_lane = |lanes| {
            let lane = _mm512_permutexvar_epi64(lane, lanes);
            _mm_cvtsi128_si64(_mm512_castsi512_si128(lane)) as u64
        };
        if passed == 8 {
            left -= _mm512_reduce_add_epi64(ones) as u64;
            continue;
        }
        let before = of_lane(_mm512_sub_epi64(ends, ones));
        let one = _pdep_u64(1 << (left - before - 1), of_lane(words));
        return Ok(number * BYTES * 8 + passed as usize * 64 + one.trailing_zeros() as usize + 1);
    }
    Err(truncated(bytes.len()))
}

/// The bit numbers of a word.
pub(super) const NUMBERS: [u8; 64] = {
    let mut numbers = [0; 64];
    let mut at = 0;
    while at < 64 {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

/// Loads the first 64 bytes, padded with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn load(bytes: &[u8]) -> __m512i {
    let there = _bzhi_u64(u64::MAX, bytes.len().min(64) as u32);
    // SAFETY: only bytes of the slice are read, those whose bit in `there` is set.
    unsafe { _mm512_maskz_loadu_epi8(there, bytes.as_ptr().cast()) }
}

/// Decodes ids from their high parts in unary and their low parts, as [`crate::elias_fano::decode`] after its first
/// byte. Returns the number of the bit after the last high part.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
pub(crate) fn decode_ids(
    lows: &[u8],
    highs: &[u8],
    bits: u32,
    first: u32,
    ids: &mut [u32],
) -> Result<usize, CodecError> {
    zeros_passed(highs, ids)?;
    // The zeros passed, and a one for each id.
    let end = ids.last().map_or(0, |&zeros| zeros as usize + ids.len());
    // SAFETY: sixteen integers are read from an array of sixteen.
    let steps = unsafe { _mm512_loadu_si512(STEPS.as_ptr().cast()) };
    let offsets = _mm512_mullo_epi32(steps, _mm512_set1_epi32(bits as i32));
    let mask = _mm512_set1_epi32(((1u32 << bits) - 1) as i32);
    let shift = _mm_cvtsi32_si128(bits as i32);
    let first = _mm512_set1_epi32(first as i32);
    let mut bit = 0;
    for chunk in ids.chunks_mut(LANES) {
        let low = low_parts(lows, bit, chunk.len(), bits, offsets, mask);
        bit += chunk.len() * bits as usize;
        let used = (1u32 << chunk.len()).wrapping_sub(1) as u16;
        // SAFETY: the chunk has as many values as `used` has ones.
        let zeros = unsafe { _mm512_maskz_loadu_epi32(used, chunk.as_ptr().cast()) };
        let id = _mm512_or_si512(_mm512_sll_epi32(zeros, shift), low);
        let id = _mm512_add_epi32(id, first);
        // SAFETY: as above.
        unsafe { _mm512_mask_storeu_epi32(chunk.as_mut_ptr().cast(), used, id) };
    }
    Ok(end)
}

/// Extracts sixteen low parts from a bit on; those past `count` are unspecified.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
fn low_parts(
    lows: &[u8],
    bit: usize,
    count: usize,
    bits: u32,
    offsets: __m512i,
    mask: __m512i,
) -> __m512i {
    let rest = lows.get(bit / 8..).unwrap_or(&[]);
    let bytes_count = (bit % 8 + count * bits as usize).div_ceil(8);
    let packed = load(&rest[..bytes_count.min(rest.len())]);
    let at = _mm512_add_epi32(offsets, _mm512_set1_epi32((bit % 8) as i32));
    // The number of a lane's first byte, in all four of its bytes.
    let first_of_four = _mm512_set4_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0);
    let byte = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(at), first_of_four);
    let four = _mm512_set1_epi32(0x0302_0100);
    let lanes = _mm512_permutexvar_epi8(_mm512_add_epi8(byte, four), packed);
    let within = _mm512_and_si512(at, _mm512_set1_epi32(7));
    _mm512_and_si512(_mm512_srlv_epi32(lanes, within), mask)
}

/// Returns the running sums of sixteen lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_up(values: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let values = _mm512_add_epi32(values, _mm512_alignr_epi32::<15>(values, zero));
    let values = _mm512_add_epi32(values, _mm512_alignr_epi32::<14>(values, zero));
    let values = _mm512_add_epi32(values, _mm512_alignr_epi32::<12>(values, zero));
    _mm512_add_epi32(values, _mm512_alignr_epi32::<8>(values, zero))
}
