//! Elias-Fano coding of increasing documents as high and low parts, in the tails of lists.
//!
//! ```text
//! documents := bits:u8(0..=31) low{n} high{n}
//! low       := the lowest `bits` bits of the document          together filled up to a whole byte
//! high      := (rise of document >> bits) times 0, then 1      likewise
//! ```
//!
//! Documents are counted from the first possible one. A rise is the difference from the document before; the first
//! rise counts from 0. So one 0 bit stands for each step of 2^bits documents, and one 1 bit for each document.
//! Example: documents 2, 3, 9 after none are `01  06  46`: low parts 0, 1, 1, high parts 1, 1, 4.
//!
//! Invariants: decoding any bytes gives documents or an error, and reads nothing past the slice.
//!
//! Why: about half a bit a document above the theoretical minimum, no sums while decoding, and no branch that depends
//! on the data (Elias 1974; Fano 1971; Vigna, "Quasi-succinct indices", 2013).

use crate::CodecError;
use crate::bits::for_each_processor;
use crate::rice::{Ones, check_bits, low, lows_bytes, truncated, write_highs, write_lows};

/// Appends `docs`: increasing, not empty, none before `first`.
pub fn encode(first: u32, docs: &[u32], out: &mut Vec<u8>) {
    let Some(&last) = docs.last() else { return };
    let bits = ((last - first) / docs.len() as u32).max(1).ilog2();
    out.push(bits as u8);
    let docs: Vec<u32> = docs.iter().map(|doc| doc - first).collect();
    write_lows(&docs, bits, out);
    let mut before = 0;
    let highs = docs.iter().map(|doc| {
        let rise = (doc >> bits) - before;
        before += rise;
        rise
    });
    write_highs(highs, out);
}

/// Decodes documents until `docs` is full and returns the number of bytes read.
/// After an error the content of `docs` is unspecified.
#[inline]
pub fn decode(bytes: &[u8], first: u32, docs: &mut [u32]) -> Result<usize, CodecError> {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::ELIAS_FANO.form() == crate::processor::Level::Avx512 {
        let parts = Parts::read(bytes, docs.len())?;
        let Parts { bits, lows, highs } = parts;
        if bits <= crate::rice::avx512::BITS_MAX {
            // SAFETY: the processor supports the target features of this function.
            let end = unsafe { crate::rice::avx512::decode_ids(lows, highs, bits, first, docs) };
            return end.map(|end| parts.bytes_before_highs() + end.div_ceil(8));
        }
    }
    decode_one_by_one(bytes, first, docs)
}

for_each_processor! {
    /// Twin of every vectorised [`decode`].
    pub fn decode_one_by_one(
        bytes: &[u8], first: u32, docs: &mut [u32]
    ) -> Result<usize, CodecError> = decode_any, ELIAS_FANO_ONE_BY_ONE
}

/// The parts of a block. Both slices extend past their end, into the bytes that follow.
struct Parts<'a> {
    bits: u32,
    lows: &'a [u8],
    highs: &'a [u8],
}

impl<'a> Parts<'a> {
    #[inline(always)]
    fn read(bytes: &'a [u8], count: usize) -> Result<Parts<'a>, CodecError> {
        let Some((&bits, lows)) = bytes.split_first() else {
            return Err(truncated(0));
        };
        let bits = u32::from(bits);
        check_bits(bits)?;
        let highs = lows.get(lows_bytes(count, bits)..).ok_or(truncated(1))?;
        Ok(Parts { bits, lows, highs })
    }

    #[inline(always)]
    fn bytes_before_highs(&self) -> usize {
        1 + self.lows.len() - self.highs.len()
    }
}

#[inline(always)]
fn decode_any(bytes: &[u8], first: u32, docs: &mut [u32]) -> Result<usize, CodecError> {
    let parts = Parts::read(bytes, docs.len())?;
    let mut ones = Ones::after(parts.highs, 0)?;
    for (index, doc) in docs.iter_mut().enumerate() {
        *doc = (ones.take()? - index) as u32;
    }
    for (index, doc) in docs.iter_mut().enumerate() {
        let id = *doc << parts.bits | low(parts.lows, parts.bits, index);
        *doc = id.wrapping_add(first);
    }
    Ok(parts.bytes_before_highs() + ones.next.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    /// Reference decoder, one bit after another.
    fn slow(bytes: &[u8], first: u32, count: usize) -> Option<(Vec<u32>, usize)> {
        let bit = |at: usize| Some(u32::from(bytes.get(at / 8)? >> (at % 8) & 1));
        let bits = usize::from(*bytes.first()?);
        let start = (1 + (count * bits).div_ceil(8)) * 8;
        let (mut at, mut high) = (start, 0u32);
        let mut docs = Vec::new();
        for index in 0..count {
            while bit(at)? == 0 {
                high += 1;
                at += 1;
            }
            at += 1;
            let mut doc = high.wrapping_shl(bits as u32);
            for low in 0..bits {
                doc |= bit(8 + index * bits + low)? << low;
            }
            docs.push(doc.wrapping_add(first));
        }
        Some((docs, at.div_ceil(8)))
    }

    fn check(bytes: &[u8], first: u32, count: usize) {
        let kernels = [kernels::ELIAS_FANO, kernels::ELIAS_FANO_ONE_BY_ONE];
        kernels::check_each_form(&kernels, || check_form(bytes, first, count));
    }

    fn check_form(bytes: &[u8], first: u32, count: usize) {
        let mut docs = vec![0; count];
        let read = decode(bytes, first, &mut docs);
        let mut plain = docs.clone();
        for one_by_one in [decode_one_by_one, decode_any] {
            let plainly = one_by_one(bytes, first, &mut plain);
            assert_eq!(plainly.as_ref().ok(), read.as_ref().ok());
        }
        match slow(bytes, first, count) {
            Some((expected, taken)) => {
                assert_eq!(read, Ok(taken));
                assert_eq!((&docs, &plain), (&expected, &expected));
            }
            None => assert!(read.is_err()),
        }
    }

    #[test]
    fn the_worked_example_holds() {
        let mut out = Vec::new();
        encode(0, &[2, 3, 9], &mut out);
        assert_eq!(out, [0x01, 0x06, 0x46]);
        check(&out, 0, 3);
    }

    proptest! {
        #[test]
        fn documents_come_back(
            gaps in prop::collection::vec((any::<u32>(), 8u32..32), 1..256),
            first in 0u32..1000,
            more in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut next = first;
            let docs: Vec<u32> = gaps.iter().map(|(gap, shift)| {
                let doc = next + (gap >> shift);
                next = doc + 1;
                doc
            }).collect();
            let mut out = Vec::new();
            encode(first, &docs, &mut out);
            let taken = out.len();
            out.extend(more);
            let mut read = vec![0; docs.len()];
            prop_assert_eq!(decode(&out, first, &mut read), Ok(taken));
            prop_assert_eq!(&read, &docs);
            check(&out, first, docs.len());
        }

        #[test]
        fn any_bytes_give_documents_or_an_error(
            mut bytes in prop::collection::vec(any::<u8>(), 0..60),
            bits in 0u8..32,
            count in 0usize..40,
        ) {
            if let Some(first) = bytes.first_mut() {
                *first = bits;
            }
            check(&bytes, u32::MAX, count);
        }
    }
}
