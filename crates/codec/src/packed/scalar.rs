//! Scalar forms of unpacking rows and summing gaps.
//!
//! They are the twin of every vectorised form: other processors run them, and tests compare with them.
use super::layout::{BLOCK, LANES, ROW_BYTES, ROWS, by_width};

type Kernel = fn(payload: &[u8], values: &mut [u32; BLOCK]);

/// One function for each bit width, so that every shift and mask is a constant.
const UNPACK: [Kernel; 33] = by_width!(unpack_width);

/// Unpacks the values of a payload of `32 * bits` bytes (layout in [`super`]).
///
/// # Panics
/// If `bits` is over 32 or the payload shorter; callers have checked both against the bytes.
pub fn unpack(bits: usize, payload: &[u8], values: &mut [u32; BLOCK]) {
    UNPACK[bits](payload, values);
}

/// Turns gaps into values in place: `values[0] += base`, `values[i] += values[i - 1]` (wrapping).
pub fn prefix_sum(values: &mut [u32; BLOCK], base: u32) {
    let mut sum = base;
    for value in values {
        sum = sum.wrapping_add(*value);
        *value = sum;
    }
}

/// Returns the value at `index` of a payload as [`unpack`] takes it.
///
/// # Panics
/// If `bits` is over 32, `index` over 255 or the payload shorter.
#[inline]
pub fn unpack_one(bits: usize, payload: &[u8], index: usize) -> u32 {
    if bits == 0 {
        return 0;
    }
    let (row, lane) = (index / LANES, index % LANES);
    let (word, shift) = (row * bits / 32, row * bits % 32);
    let at = |word: usize| {
        let start = (word * LANES + lane) * 4;
        let bytes = &payload[start..start + 4];
        u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let mut wide = at(word);
    if shift + bits > 32 {
        wide |= at(word + 1) << 32;
    }
    (wide >> shift & ((1 << bits) - 1)) as u32
}

fn unpack_width<const BITS: usize>(payload: &[u8], values: &mut [u32; BLOCK]) {
    let payload = &payload[..ROW_BYTES * BITS];
    if BITS == 0 {
        values.fill(0);
        return;
    }
    let mask = u32::MAX >> (32 - BITS as u32);
    let (rows, _) = values.as_chunks_mut::<LANES>();
    for (row, out) in rows.iter_mut().enumerate().take(ROWS) {
        let (word, shift) = (row * BITS / 32, row * BITS % 32);
        let low = words(payload, word);
        for (out, low) in out.iter_mut().zip(low) {
            *out = low >> shift & mask;
        }
        if shift + BITS > 32 {
            let high = words(payload, word + 1);
            for (out, high) in out.iter_mut().zip(high) {
                *out |= high << (32 - shift) & mask;
            }
        }
    }
}

#[inline(always)]
fn words(payload: &[u8], word: usize) -> [u32; LANES] {
    let (words, _) = payload[ROW_BYTES * word..][..ROW_BYTES].as_chunks::<4>();
    std::array::from_fn(|lane| u32::from_le_bytes(words[lane]))
}
