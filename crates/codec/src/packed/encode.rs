//! Encoding of packed blocks in their smallest form.
use super::layout::{BLOCK, CONSTANT, LANES, ROW_BYTES};
use crate::vint;

/// Appends `values` in the smallest form.
pub fn encode(values: &[u32; BLOCK], out: &mut Vec<u8>) {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::ENCODE.form() == crate::processor::Level::Avx2 {
        // SAFETY: the processor has AVX2 and LZCNT, the only target features of this function.
        return unsafe { encode_avx2(values, out) };
    }
    encode_any(values, out);
}

/// AVX2 form: the same code, compiled for newer processors. There, counting leading zeros is one instruction and a row
/// of words is one register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,lzcnt")]
fn encode_avx2(values: &[u32; BLOCK], out: &mut Vec<u8>) {
    encode_any(values, out);
}

// Always inlined, here and below: inlined code is compiled for the target features of its caller.
#[inline(always)]
pub(super) fn encode_any(values: &[u32; BLOCK], out: &mut Vec<u8>) {
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
    // Exceptions exist, so `bits` is below 32 and the shift is defined.
    let highs = || (0u8..=255).zip(values.iter().map(|value| value >> bits));
    out.extend(
        highs()
            .filter(|(_, high)| *high != 0)
            .map(|(index, _)| index),
    );
    for (_, high) in highs().filter(|(_, high)| *high != 0) {
        vint::write_u32(out, high);
    }
}

/// Returns the bit width with the fewest bytes, and the number of exceptions it leaves.
///
/// Counts bit lengths once; the size of every width follows from the counts. Of equal sizes the wider wins, because it
/// has fewer exceptions to patch.
#[inline(always)]
fn smallest_width(values: &[u32; BLOCK]) -> (u32, usize) {
    let count_by_length = count_lengths(values);
    let longest = count_by_length.iter().rposition(|&n| n != 0).unwrap_or(0);
    let mut best = (longest, 0);
    let mut best_bytes = ROW_BYTES * longest;
    let (mut exceptions, mut exception_bytes) = (0, 0);
    for bits in (0..longest).rev() {
        // One bit less makes exceptions, of at least two bytes each, of the values that just fitted ...
        exceptions += usize::from(count_by_length[bits + 1]);
        exception_bytes += 2 * usize::from(count_by_length[bits + 1]);
        // ... and adds a byte to the high parts that filled their last byte.
        for length in [bits + 8, bits + 15, bits + 22, bits + 29] {
            exception_bytes += usize::from(count_by_length[length]);
        }
        if exceptions > 255 || exception_bytes >= best_bytes {
            break;
        }
        let bytes = ROW_BYTES * bits + exception_bytes;
        if bytes < best_bytes {
            best_bytes = bytes;
            best = (bits, exceptions);
        }
    }
    (best.0 as u32, best.1)
}

/// Counts the values of each bit length. The slots over 32 stay 0.
#[inline(always)]
fn count_lengths(values: &[u32; BLOCK]) -> [u16; 64] {
    // Four tables, because an increment of a slot waits for the one before it.
    let mut tables = [[0u16; 64]; 4];
    for four in values.as_chunks::<4>().0 {
        for (table, value) in tables.iter_mut().zip(four) {
            table[32 - value.leading_zeros() as usize] += 1;
        }
    }
    std::array::from_fn(|length| tables.iter().map(|table| table[length]).sum())
}

/// Appends the low `bits` bits of all values, lane by lane.
#[inline(always)]
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
                // The bits that did not fit; 0 where the row ended with the word.
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
