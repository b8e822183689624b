//! Which form makes a block smallest, and how is it written?
use super::{BLOCK, CONSTANT, LANES, ROW_BYTES};
use crate::vint;

/// Appends `values` in the smallest form.
pub fn encode(values: &[u32; BLOCK], out: &mut Vec<u8>) {
    if values.iter().fold(0, |differ, v| differ | (v ^ values[0])) == 0 {
        out.push(CONSTANT);
        vint::write_u32(out, values[0]);
        return;
    }
    let (bits, exceptions) = smallest_width(values);
    out.extend([bits as u8, exceptions as u8]);
    pack(values, bits, out);
    if exceptions == 0 {
        return;
    }
    for (index, value) in values.iter().enumerate() {
        // Exceptions exist, so `bits` is below 32 and the shift is defined.
        let high = value >> bits;
        if high != 0 {
            out.push(index as u8);
            vint::write_u32(out, high);
        }
    }
}

/// The bit width with the fewest bytes, and how many values it leaves as exceptions.
///
/// Counts bit lengths once; every width's size follows from the counts. Of equal sizes the wider
/// wins, for it has fewer exceptions to patch.
fn smallest_width(values: &[u32; BLOCK]) -> (u32, usize) {
    let mut count_by_length = [0u16; 33];
    for value in values {
        count_by_length[32 - value.leading_zeros() as usize] += 1;
    }
    let longest = count_by_length.iter().rposition(|&n| n != 0).unwrap_or(0);
    let mut best = (longest, 0);
    let mut best_bytes = ROW_BYTES * longest;
    let mut exceptions = 0;
    for bits in (0..longest).rev() {
        exceptions += usize::from(count_by_length[bits + 1]);
        // Each exception takes two bytes at least.
        if exceptions > 255 || 2 * exceptions >= best_bytes {
            break;
        }
        let exception_bytes: usize = (bits + 1..=longest)
            .map(|length| usize::from(count_by_length[length]) * (1 + (length - bits).div_ceil(7)))
            .sum();
        let bytes = ROW_BYTES * bits + exception_bytes;
        if bytes < best_bytes {
            best_bytes = bytes;
            best = (bits, exceptions);
        }
    }
    (best.0 as u32, best.1)
}

/// Appends the low `bits` bits of all values, lane by lane.
fn pack(values: &[u32; BLOCK], bits: u32, out: &mut Vec<u8>) {
    if bits == 0 {
        return;
    }
    let mask = u32::MAX >> (32 - bits);
    let mut words = [0u32; LANES];
    let mut shift = 0;
    out.reserve(ROW_BYTES * bits as usize);
    for row in values.as_chunks::<LANES>().0 {
        for (word, value) in words.iter_mut().zip(row) {
            *word |= (value & mask) << shift;
        }
        shift += bits;
        if shift >= 32 {
            shift -= 32;
            append(&words, out);
            for (word, value) in words.iter_mut().zip(row) {
                // What did not fit; nothing where the row ended with the word.
                *word = (u64::from(value & mask) >> (bits - shift)) as u32;
            }
        }
    }
}

fn append(words: &[u32; LANES], out: &mut Vec<u8>) {
    let mut bytes = [0; ROW_BYTES];
    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    out.extend_from_slice(&bytes);
}
