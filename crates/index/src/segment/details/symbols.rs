//! Short texts as sequences of symbols of one to eight bytes, each a byte: any one of them is decoded alone.
//!
//! ```text
//! symbols := count:u8 { symbol:[8] }{count} { bytes:u8 }{count}      no symbols: texts are as they are
//! text    := { code:u8 }*                                            below count: the first bytes of that symbol; ff: the next byte
//! ```
//!
//! The symbols of many texts are chosen by what they save (P. Boncz, T. Neumann, V. Leis, "FSST: fast random access string
//! compression", PVLDB 13, 2020; the crate `fsst-rs`). A block compressor needs many texts at once for the same, and decodes all of
//! them for one.

use fsst::Compressor;
use std::borrow::Cow;

/// Bytes of texts below which symbols save less than their table takes.
const BYTES_MIN: usize = 4 << 10;
/// Code of a byte that stands after it.
const ESCAPE: u8 = 255;
const SYMBOL_BYTES: usize = 8;

/// Appends the symbols of `texts`, and returns these encoded.
pub(super) fn encode<'t>(texts: &[&'t [u8]], table: &mut Vec<u8>) -> Vec<Cow<'t, [u8]>> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    if bytes >= BYTES_MIN
        && let Some((symbols, encoded)) = encoded(texts, bytes)
    {
        table.extend_from_slice(&symbols);
        return encoded.into_iter().map(Cow::Owned).collect();
    }
    table.push(0);
    texts.iter().map(|&text| Cow::Borrowed(text)).collect()
}

/// Returns symbols and the encoded texts; `None` where they save nothing of the `bytes`.
fn encoded(texts: &[&[u8]], bytes: usize) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
    let compressor = Compressor::train(&texts.to_vec());
    let (words, word_bytes) = (compressor.symbol_table(), compressor.symbol_lengths());
    let mut table = vec![u8::try_from(words.len()).ok()?];
    for symbol in words {
        table.extend_from_slice(&symbol.to_u64().to_le_bytes());
    }
    table.extend_from_slice(word_bytes);
    let encoded: Vec<Vec<u8>> = texts.iter().map(|text| compressor.compress(text)).collect();
    if encoded.iter().map(Vec::len).sum::<usize>() + table.len() >= bytes {
        return None;
    }
    // Nothing is written that would be read otherwise.
    let symbols = Symbols::read(&table, &mut 0)?;
    let mut decoded = Vec::new();
    let comes_back = texts.iter().zip(&encoded).all(|(text, encoded)| {
        decoded.clear();
        symbols.decode(encoded, &mut decoded).is_some() && decoded == *text
    });
    comes_back.then_some((table, encoded))
}

/// Symbols of some texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbols<'b> {
    /// Eight bytes each.
    words: &'b [u8],
    /// How many of them count.
    bytes: &'b [u8],
}

impl<'b> Symbols<'b> {
    /// Returns the length of the symbols that begin with a byte.
    pub(super) fn bytes_of(count: u8) -> usize {
        1 + usize::from(count) * (SYMBOL_BYTES + 1)
    }

    /// Reads symbols at `at`; `None` where they do not end before the bytes do.
    pub(super) fn read(bytes: &'b [u8], at: &mut usize) -> Option<Symbols<'b>> {
        let rest = bytes.get(*at..)?;
        let count = *rest.first()?;
        let table = rest.get(1..Self::bytes_of(count))?;
        *at += Self::bytes_of(count);
        let (words, bytes) = table.split_at(usize::from(count) * SYMBOL_BYTES);
        Some(Symbols { words, bytes })
    }

    /// Appends the text of some codes; `None` for codes that no writer wrote.
    pub(super) fn decode(&self, codes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        if self.bytes.is_empty() {
            out.extend_from_slice(codes);
            return Some(());
        }
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            let at = usize::from(code);
            if let Some(&bytes) = self.bytes.get(at) {
                if !(1..=SYMBOL_BYTES).contains(&usize::from(bytes)) {
                    return None;
                }
                // All eight are copied, which is faster, and those that do not count are cut off.
                let end = out.len() + usize::from(bytes);
                out.extend_from_slice(self.words.get(at * SYMBOL_BYTES..(at + 1) * SYMBOL_BYTES)?);
                out.truncate(end);
            } else if code == ESCAPE {
                out.push(*codes.next()?);
            } else {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the table and the encoded texts, which must come back.
    fn check(texts: &[&[u8]]) -> (Vec<u8>, usize) {
        let mut table = Vec::new();
        let encoded = encode(texts, &mut table);
        let mut at = 0;
        let symbols = Symbols::read(&table, &mut at).unwrap();
        assert_eq!((at, encoded.len()), (table.len(), texts.len()));
        for (text, encoded) in texts.iter().zip(&encoded) {
            let mut decoded = b"before".to_vec();
            symbols.decode(encoded, &mut decoded).unwrap();
            assert_eq!(decoded[6..], **text);
        }
        let bytes = encoded.iter().map(|text| text.len()).sum();
        (table, bytes)
    }

    #[test]
    fn texts_that_are_alike_take_less_than_half() {
        let texts: Vec<String> = (0..500)
            .map(|number| format!("https://example.org/{}/{number}.html", number % 7))
            .collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let all: usize = texts.iter().map(|text| text.len()).sum();
        let (table, bytes) = check(&texts);
        assert!(
            table.len() + bytes < all / 2,
            "{} {bytes} {all}",
            table.len()
        );
        assert_eq!(check(&texts[..10]).0, [0], "few have no symbols");
        assert_eq!(check(&[]), (vec![0], 0));
        // No two bytes are alike often enough.
        let noise: Vec<u8> = (0..20_000u32)
            .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        check(&[&noise]);
        check(&[&vec![0; 10_000], &vec![255; 10_000], b""]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn any_texts_come_back(
            texts in prop::collection::vec(prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..300), 0..120),
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            check(&texts);
        }

        #[test]
        fn any_bytes_give_a_text_or_none(
            table in prop::collection::vec(any::<u8>(), 0..60),
            count in 0u8..6,
            codes in prop::collection::vec(prop_oneof![0u8..8, Just(255)], 0..30),
        ) {
            let table = [&[count][..], &table].concat();
            if let Some(symbols) = Symbols::read(&table, &mut 0) {
                let mut out = Vec::new();
                let _ = symbols.decode(&codes, &mut out);
                prop_assert!(out.len() <= (codes.len() + 1) * SYMBOL_BYTES);
            }
        }
    }
}
