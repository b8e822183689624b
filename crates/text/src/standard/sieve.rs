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
use super::runs::{ascii_word_end, starts_dotted};
use smallvec::SmallVec;
use std::ops::Range;

/// Number of bytes that are sifted at once, one for each bit of a mask.
const BLOCK_BYTES: usize = 64;

/// Upper limit on the wanted bytes that a block is compared with, one after the other; more are looked up.
const COMPARED_MAX: usize = 8;

/// Part of a text that may have terms with a wanted first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sifted {
    /// ASCII letters of one case form: [`Run::Word`](super::runs::Run::Word).
    Word(Range<usize>),
    /// Anything, to be cut into runs.
    Stretch(Range<usize>),
}

/// Bytes that a term may begin with: none of them is outside ASCII.
pub(super) struct Sieve<'a> {
    /// Whether a term begins with each byte.
    starts: &'a [bool; 256],
    /// These bytes, where they are few.
    compared: Option<SmallVec<[u8; COMPARED_MAX]>>,
}

/// What the byte before a block goes on with.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    is_letter: bool,
    is_digit: bool,
}

impl Sieve<'_> {
    /// Makes a sieve of the bytes that terms begin with, in lower case.
    pub(super) fn new(starts: &[bool; 256]) -> Sieve<'_> {
        let wanted = (0..=u8::MAX).filter(|&byte| starts[usize::from(byte)]);
        let compared: SmallVec<[u8; COMPARED_MAX]> = wanted.take(COMPARED_MAX + 1).collect();
        Sieve {
            starts,
            compared: (compared.len() <= COMPARED_MAX).then_some(compared),
        }
    }

    /// Calls `each` for the words and stretches, in order. They do not overlap.
    #[inline]
    pub(super) fn each(&self, text: &str, mut each: impl FnMut(Sifted)) {
        let bytes = text.as_bytes();
        let (mut before, mut done) = (Before::default(), 0);
        for (number, bytes_of) in bytes.chunks(BLOCK_BYTES).enumerate() {
            let mut padded = [0; BLOCK_BYTES];
            let block = bytes_of.try_into().unwrap_or_else(|_| {
                padded[..bytes_of.len()].copy_from_slice(bytes_of);
                &padded
            });
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

    /// Returns a bit for each byte of a block that begins an element with a wanted byte, and what goes on after it. No branch
    /// depends on the text: it would be mispredicted every few bytes.
    #[inline]
    fn begins(&self, block: &[u8; BLOCK_BYTES], before: Before) -> (u64, Before) {
        let lower = mask(&block.map(|byte| u8::from(byte.is_ascii_lowercase())));
        let letter = mask(&block.map(|byte| u8::from(byte.is_ascii_alphabetic())));
        let digit = mask(&block.map(|byte| u8::from(byte.is_ascii_digit())));
        // A letter in lower case goes on with letters, a digit with digits.
        let continues = lower & (letter << 1 | u64::from(before.is_letter))
            | digit & (digit << 1 | u64::from(before.is_digit));
        let last = Before {
            is_letter: letter >> (BLOCK_BYTES - 1) > 0,
            is_digit: digit >> (BLOCK_BYTES - 1) > 0,
        };
        (self.stops(block) & !continues, last)
    }

    /// Returns a bit for each wanted byte of a block, and for each that is not ASCII, because it may fold to any term.
    #[inline]
    fn stops(&self, block: &[u8; BLOCK_BYTES]) -> u64 {
        let lowered = block.map(|byte| byte.to_ascii_lowercase());
        let mut stops = block.map(|byte| byte >> 7);
        match &self.compared {
            Some(compared) => {
                for &wanted in compared {
                    for (stop, &byte) in stops.iter_mut().zip(&lowered) {
                        *stop |= u8::from(byte == wanted);
                    }
                }
            }
            None => {
                for (stop, &byte) in stops.iter_mut().zip(&lowered) {
                    *stop |= u8::from(self.starts[usize::from(byte)]);
                }
            }
        }
        mask(&stops)
    }
}

/// Returns the bits of bytes that are 0 or 1. A multiplication gathers those of eight bytes in its highest byte.
#[inline]
fn mask(flags: &[u8; BLOCK_BYTES]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = flags.as_chunks::<8>();
    let mut mask = 0;
    for (number, &eight) in eights.iter().enumerate() {
        mask |= (u64::from_le_bytes(eight).wrapping_mul(GATHER) >> 56) << (8 * number);
    }
    mask
}

/// Returns the end of a word that begins at `at` if it certainly is a run of its own.
#[inline]
fn simple_word_end(bytes: &[u8], at: usize) -> Option<usize> {
    if !bytes[at].is_ascii_alphabetic() || !stands_free(bytes, at) {
        return None;
    }
    let end = ascii_word_end(bytes, at);
    let is_free = |at: usize| {
        let byte = bytes.get(at);
        byte.is_none_or(|&byte| byte < 0x80 && !ASCII[usize::from(byte)].is_wordly())
    };
    let is_end = match bytes.get(end) {
        None => true,
        Some(b'+' | b'#') => false,
        Some(&byte) if byte >= 0x80 => false,
        Some(&byte) => match ASCII[usize::from(byte)] {
            Class::Joiner => is_free(end + 1),
            class => class == Class::Other,
        },
    };
    is_end.then_some(end)
}

/// Returns whether what begins at `at` certainly goes on with nothing before it.
#[inline]
fn stands_free(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return true;
    };
    let is = |at: usize, class: Class| bytes[at] < 0x80 && ASCII[usize::from(bytes[at])] == class;
    let is_free = |at: usize| is(at, Class::Other) || is(at, Class::Joiner);
    // Joiners join what they stand between alone; a dot may belong to what follows it.
    is(before, Class::Other)
        || is(before, Class::Joiner)
            && before.checked_sub(1).is_none_or(is_free)
            && !(bytes[before] == b'.' && starts_dotted(bytes, before))
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
    use proptest::prelude::*;

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

    /// Slow twin of `begins`, over a whole text.
    fn begins_by_bytes(starts: &[bool; 256], bytes: &[u8]) -> Vec<usize> {
        let begins = |&at: &usize| {
            let (byte, before) = (
                bytes[at],
                at.checked_sub(1).map_or(0, |before| bytes[before]),
            );
            let continues = byte.is_ascii_lowercase() && before.is_ascii_alphabetic()
                || byte.is_ascii_digit() && before.is_ascii_digit();
            let stops = byte >= 0x80 || starts[usize::from(byte.to_ascii_lowercase())];
            stops && !continues
        };
        (0..bytes.len()).filter(begins).collect()
    }

    proptest! {
        #[test]
        fn blocks_are_sifted_as_bytes_are(
            text in prop::collection::vec(prop_oneof![any::<u8>(), b'a'..=b'h', b'A'..=b'D', Just(b' '), b'0'..=b'9'], 0..300),
            wanted in prop::collection::vec(prop_oneof![b'a'..=b'z', b'0'..=b'9', Just(b'.')], 0..12),
        ) {
            let mut starts = [false; 256];
            wanted.iter().for_each(|&byte| starts[usize::from(byte)] = true);
            let sieve = Sieve::new(&starts);
            let (mut found, mut before) = (Vec::new(), Before::default());
            for (number, bytes) in text.chunks(BLOCK_BYTES).enumerate() {
                let mut block = [0; BLOCK_BYTES];
                block[..bytes.len()].copy_from_slice(bytes);
                let (begins, last) = sieve.begins(&block, before);
                before = last;
                let places = (0..BLOCK_BYTES).filter(|at| begins >> at & 1 == 1);
                found.extend(places.map(|at| number * BLOCK_BYTES + at));
            }
            prop_assert_eq!(found, begins_by_bytes(&starts, &text));
        }
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
