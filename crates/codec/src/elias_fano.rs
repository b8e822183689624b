//! Increasing documents as high and low parts: what the tails of lists hold.
//!
//! ```text
//! documents := bits:u8(0..=31) low{n} high{n}
//! low       := the lowest `bits` bits of the document          together filled up to a whole byte
//! high      := (rise of document >> bits) times 0, then 1      likewise
//! ```
//!
//! Documents are counted from the first that is possible; a rise is that over the document before, the
//! first's over 0. So one bit stands for every step of 2^bits documents, and one more for each document.
//! Example: documents 2, 3, 9 after none are `01  06  46`: low parts 0, 1, 1, high parts 1, 1, 4.
//!
//! Invariants: decoding any bytes gives documents or an error, and reads nothing past the slice.
//!
//! Why: about half a bit a document more than the least possible, no sums while decoding, and no
//! branch that depends on the data (Elias 1974; Fano 1971; Vigna, "Quasi-succinct indices", 2013).

use crate::CodecError;
use crate::bits::for_each_processor;
use crate::rice::{Ones, check_bits, low, lows_bytes, truncated, write_highs, write_lows};

/// Appends `docs`, increasing, of which there are some, none of them before `first`.
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

for_each_processor! {
    /// Reads as many documents as there is room for; returns the bytes they took.
    /// After an error `docs` holds anything.
    pub fn decode(bytes: &[u8], first: u32, docs: &mut [u32]) -> Result<usize, CodecError> = decode_any
}

#[inline(always)]
fn decode_any(bytes: &[u8], first: u32, docs: &mut [u32]) -> Result<usize, CodecError> {
    let Some((&bits, rest)) = bytes.split_first() else {
        return Err(truncated(0));
    };
    let bits = u32::from(bits);
    check_bits(bits)?;
    let lows_bytes = lows_bytes(docs.len(), bits);
    let highs = rest.get(lows_bytes..).ok_or(truncated(1))?;
    let mut ones = Ones::after(highs, 0)?;
    for (index, doc) in docs.iter_mut().enumerate() {
        *doc = (ones.take()? - index) as u32;
    }
    // Low parts are read over their end, into what follows, so that few are at the end of the bytes.
    for (index, doc) in docs.iter_mut().enumerate() {
        let parts = *doc << bits | low(rest, bits, index);
        *doc = parts.wrapping_add(first);
    }
    Ok(1 + lows_bytes + ones.next.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One bit after another.
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
        let mut docs = vec![0; count];
        let read = decode(bytes, first, &mut docs);
        let mut plain = docs.clone();
        assert_eq!(decode_any(bytes, first, &mut plain), read);
        match slow(bytes, first, count) {
            Some((expected, taken)) => {
                assert_eq!(read, Ok(taken));
                assert_eq!((&docs, plain), (&expected, expected.clone()));
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
