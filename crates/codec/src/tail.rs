//! Postings of a tail, one after another: documents and frequencies interleaved.
//!
//! ```text
//! posting := gap<<1 | (frequency == 1) : vint  [frequency:vint]
//! ```
//!
//! The length of an integer is not predicted but counted from the bits that end it, eight bytes at once. No branch
//! depends on the data where the bytes are valid and at least sixteen are left.

use crate::bits::for_each_processor;
use crate::{CodecError, vint};

/// Decodes postings until `docs` is full and moves `at` past them. Documents are counted from `base`; `u32::MAX` stands
/// before document 0.
pub fn decode(
    bytes: &[u8],
    at: &mut usize,
    base: u32,
    docs: &mut [u32],
    frequencies: &mut [u32],
) -> Result<(), CodecError> {
    let mut doc = base;
    let done = decode_quick(bytes, at, &mut doc, docs, frequencies);
    let rest = docs.iter_mut().zip(frequencies).skip(done);
    for (slot, frequency) in rest {
        let gap = vint::read_u32(bytes, at)?;
        doc = doc.wrapping_add(gap >> 1);
        *slot = doc;
        *frequency = if gap & 1 == 1 {
            1
        } else {
            vint::read_u32(bytes, at)?
        };
    }
    Ok(())
}

for_each_processor! {
    /// Decodes postings until one is doubtful or fewer than sixteen bytes are left, and returns their number.
    pub fn decode_quick(
        bytes: &[u8],
        at: &mut usize,
        doc: &mut u32,
        docs: &mut [u32],
        frequencies: &mut [u32]
    ) -> usize = decode_quick_any, TAIL
}

#[inline(always)]
fn decode_quick_any(
    bytes: &[u8],
    at: &mut usize,
    doc: &mut u32,
    docs: &mut [u32],
    frequencies: &mut [u32],
) -> usize {
    let mut done = 0;
    for (slot, frequency) in docs.iter_mut().zip(frequencies) {
        let Some(chunk) = bytes.get(*at..).and_then(|rest| rest.first_chunk::<16>()) else {
            break;
        };
        let mut both = u128::from_le_bytes(*chunk);
        let (gap, gap_bytes) = short(both as u64);
        both >>= gap_bytes * 8;
        let (read, read_bytes) = short(both as u64);
        let is_one = gap & 1 == 1;
        // At most four bytes. Longer integers, and those longer than their value needs, are left to the reader that
        // reports the error.
        let odd = gap_bytes > 4
            || (gap_bytes > 1 && gap < 1 << (7 * (gap_bytes - 1)))
            || !is_one
                && (read_bytes > 4 || (read_bytes > 1 && read < 1 << (7 * (read_bytes - 1))));
        if odd {
            break;
        }
        *doc = doc.wrapping_add(gap >> 1);
        *slot = *doc;
        *frequency = if is_one { 1 } else { read };
        *at += gap_bytes as usize + if is_one { 0 } else { read_bytes as usize };
        done += 1;
    }
    done
}

/// Returns the integer at the start of `bytes` and its length in bytes. The integer is valid up to four bytes.
#[inline(always)]
fn short(bytes: u64) -> (u32, u32) {
    let ends = !bytes & 0x8080_8080_8080_8080;
    let count = ends.trailing_zeros() / 8 + 1;
    // All bits up to the one that ends the integer.
    let bytes = bytes & (ends ^ ends.wrapping_sub(1));
    let value = (bytes & 0x7f)
        | (bytes >> 1 & 0x7f << 7)
        | (bytes >> 2 & 0x7f << 14)
        | (bytes >> 3 & 0x7f << 21);
    (value as u32, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    fn slow(bytes: &[u8], docs: &mut [u32], frequencies: &mut [u32]) -> Result<usize, CodecError> {
        let (mut at, mut doc) = (0, u32::MAX);
        for (slot, frequency) in docs.iter_mut().zip(frequencies) {
            let gap = vint::read_u32(bytes, &mut at)?;
            doc = doc.wrapping_add(gap >> 1);
            *slot = doc;
            *frequency = match gap & 1 {
                1 => 1,
                _ => vint::read_u32(bytes, &mut at)?,
            };
        }
        Ok(at)
    }

    fn check(bytes: &[u8], count: usize) {
        kernels::check_each_form(&[kernels::TAIL], || check_form(bytes, count));
    }

    fn check_form(bytes: &[u8], count: usize) {
        let (mut docs, mut frequencies) = (vec![0; count], vec![0; count]);
        let (mut docs_slow, mut frequencies_slow) = (docs.clone(), docs.clone());
        let expected = slow(bytes, &mut docs_slow, &mut frequencies_slow);
        let mut at = 0;
        let read = decode(bytes, &mut at, u32::MAX, &mut docs, &mut frequencies);
        assert_eq!(read.map(|()| at), expected);
        if expected.is_ok() {
            assert_eq!((docs, frequencies), (docs_slow, frequencies_slow));
        }
    }

    proptest! {
        #[test]
        fn the_quick_way_is_the_slow_way(
            postings in prop::collection::vec((0u32..32, any::<u32>(), 0u32..40), 0..100),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = Vec::new();
            for &(bits, gap, frequency) in &postings {
                let gap = (gap >> bits) & !1;
                vint::write_u32(&mut bytes, gap | u32::from(frequency < 20));
                if frequency >= 20 {
                    vint::write_u32(&mut bytes, 1 << (frequency - 20));
                }
            }
            check(&bytes, postings.len());
            check(&bytes[..cut.index(bytes.len() + 1)], postings.len());
        }

        #[test]
        fn any_bytes_give_the_same_postings_or_error(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x80), Just(0)], 0..90),
            count in 0usize..30,
        ) {
            check(&bytes, count);
        }
    }
}
