//! Stretches of a text that can have terms that begin with given bytes: most of a text is passed over byte by byte, without
//! being cut into runs.
//!
//! ```text
//! wanted  b
//! text    The quick-Brown fox is a bear.
//!             ^^^^^^^^^^^            ^^^^^   stretches: from blank to blank
//! ```
//!
//! A stretch is passed over if none of its bytes begins a word, an element of a compound or a capital within it with a
//! wanted byte. No run crosses a blank between ASCII characters, so the runs of a stretch are those of the whole text. Most
//! words certainly are runs of their own: these are found as words.

use super::class::{ASCII, Class};
use super::runs::ascii_word_end;
use std::ops::Range;

/// Number of bytes that are sifted at once, one for each bit of a mask.
const BLOCK_BYTES: usize = 64;

/// Bits of the kind of a byte.
const STOP: u8 = 1;
const LOWER: u8 = 2;
const LETTER: u8 = 4;
const DIGIT: u8 = 8;

/// Part of a text that may have terms with a wanted first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sifted {
    /// ASCII letters of one case form: [`Run::Word`](super::runs::Run::Word).
    Word(Range<usize>),
    /// Anything, to be cut into runs.
    Stretch(Range<usize>),
}

/// Bytes that a term may begin with: none of them is outside ASCII.
pub(super) struct Sieve {
    /// Kind of each byte. A byte that is not ASCII stops, because it may fold to any term.
    kinds: [u8; 256],
}

impl Sieve {
    /// Makes a sieve of the bytes that terms begin with, in lower case.
    pub(super) fn new(starts: &[bool; 256]) -> Sieve {
        let kind_of = |byte: usize| {
            let byte = byte as u8;
            let stops = byte >= 0x80 || starts[usize::from(byte.to_ascii_lowercase())];
            let bits = [
                (STOP, stops),
                (LOWER, byte.is_ascii_lowercase()),
                (LETTER, byte.is_ascii_alphabetic()),
                (DIGIT, byte.is_ascii_digit()),
            ];
            let held = bits.into_iter().filter(|(_, holds)| *holds);
            held.map(|(bit, _)| bit).sum()
        };
        Sieve {
            kinds: std::array::from_fn(kind_of),
        }
    }

    /// Calls `each` for the words and stretches, in order. They do not overlap.
    #[inline]
    pub(super) fn each(&self, text: &str, mut each: impl FnMut(Sifted)) {
        let bytes = text.as_bytes();
        let (mut before, mut done) = (0, 0);
        for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
            let (mut begins, last) = self.begins(block, before);
            before = last;
            while begins != 0 {
                let at = number * BLOCK_BYTES + begins.trailing_zeros() as usize;
                begins &= begins - 1;
                if at < done {
                    continue;
                }
                if let Some(end) = simple_word_end(bytes, at) {
                    done = end;
                    each(Sifted::Word(at..end));
                    continue;
                }
                let start = stretch_start(bytes, done, at);
                done = stretch_end(bytes, at);
                each(Sifted::Stretch(start..done));
            }
        }
    }

    /// Returns a bit for each byte of a block that begins an element with a wanted byte, and the kind of the last byte.
    /// `before` is the kind of the byte before the block. No branch depends on the text: it would be mispredicted every
    /// few bytes.
    #[inline]
    fn begins(&self, block: &[u8], mut before: u8) -> (u64, u8) {
        let mut begins = 0;
        for (at, &byte) in block.iter().enumerate() {
            let kind = self.kinds[usize::from(byte)];
            // A letter in lower case goes on with letters, a digit with digits.
            let continues =
                ((kind / LOWER) & (before / LETTER)) | ((kind / DIGIT) & (before / DIGIT));
            begins |= u64::from(kind & STOP & !continues) << at;
            before = kind;
        }
        (begins, before)
    }
}

/// Returns the end of a word that begins at `at` if it certainly is a run of its own.
#[inline]
fn simple_word_end(bytes: &[u8], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let stands_free = |byte: u8| byte < 0x80 && ASCII[usize::from(byte)] == Class::Other;
    if !bytes[at].is_ascii_alphabetic() || !before.is_none_or(stands_free) {
        return None;
    }
    let end = ascii_word_end(bytes, at);
    let is_end = match bytes.get(end) {
        None | Some(b' ' | b'\n' | b',' | b'!' | b'?' | b')' | b';' | b':' | b'"') => true,
        Some(b'.') => matches!(bytes.get(end + 1), None | Some(b' ' | b'\n')),
        Some(_) => false,
    };
    is_end.then_some(end)
}

/// Returns whether runs end at `at`: a blank or a line break between ASCII characters.
#[inline]
pub(crate) fn separates(bytes: &[u8], at: usize) -> bool {
    let is_ascii = |at: usize| bytes.get(at).is_none_or(u8::is_ascii);
    matches!(bytes[at], b' ' | b'\n') && is_ascii(at + 1) && at.checked_sub(1).is_none_or(is_ascii)
}

fn stretch_start(bytes: &[u8], done: usize, at: usize) -> usize {
    let before = (done..at).rev().find(|&before| separates(bytes, before));
    before.map_or(done, |before| before + 1)
}

fn stretch_end(bytes: &[u8], at: usize) -> usize {
    let after = (at..bytes.len()).find(|&after| separates(bytes, after));
    after.unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(text: &str, wanted: &str) -> Vec<String> {
        let mut starts = [false; 256];
        wanted
            .bytes()
            .for_each(|byte| starts[usize::from(byte)] = true);
        let mut found = Vec::new();
        Sieve::new(&starts).each(text, |sifted| {
            found.push(match sifted {
                Sifted::Word(range) => format!("'{}", &text[range]),
                Sifted::Stretch(range) => text[range].to_owned(),
            });
        });
        found
    }

    #[test]
    fn what_cannot_have_a_term_is_passed_over() {
        for (text, wanted, expected) in [
            ("The quick-Brown fox is a bear.", "b", "quick-Brown|'bear"),
            ("but, But. but! bit", "b", "'but|'But|'but|'bit"),
            ("but-x but.x but+ xbut 5but", "b", "but-x|but.x|but+|5but"),
            ("but,b-x bit;foo,b-x", "b", "'but|,b-x|'bit|;foo,b-x"),
            ("FooBar XMLHttp fooBar", "b", "FooBar|fooBar"),
            ("XMLHttp", "h", "XMLHttp"),
            ("12,345 in 1345", "3", "12,345"),
            (
                "caf\u{e9} x \u{6771}\n\u{4eac} y",
                "b",
                "caf\u{e9} x \u{6771}\n\u{4eac} y",
            ),
            ("", "b", ""),
        ] {
            assert_eq!(stretches(text, wanted).join("|"), expected, "{text:?}");
        }
    }
}
