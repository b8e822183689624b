//! Words of `plain` and `english`: maximal runs of `char::is_alphanumeric` characters.
//!
//! This is the inner loop of indexing. A table classifies ASCII bytes, and a word that is its own term is returned as a
//! slice of the text. The results equal those of the slow twin in the tests.

use crate::token::{TERM_BYTES_MAX, Token, WrittenForm};

/// Bits that a byte adds to the class of its word. A byte without a bit separates words.
const LOWERED: u8 = 1;
const UPPER: u8 = 2;
const WIDE: u8 = 4;

const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => LOWERED,
            b'A'..=b'Z' => UPPER,
            0x80.. => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    class
};

/// Byte range of a word and the union of the classes of its bytes.
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    class: u8,
}

impl Word {
    #[inline]
    pub(super) fn token<'a>(&self, term: &'a str, position: u32) -> Token<'a> {
        Token {
            term,
            position,
            start: self.start,
            end: self.end,
        }
    }

    #[inline]
    pub(super) fn form<'a>(&self, written: &'a str, term: &'a str) -> WrittenForm<'a> {
        WrittenForm {
            written,
            term,
            start: self.start,
            end: self.end,
        }
    }

    /// Returns whether the word is its own lower-cased term.
    #[inline]
    pub(super) fn is_lowered(&self) -> bool {
        self.class == LOWERED && self.end - self.start <= TERM_BYTES_MAX
    }

    #[inline]
    pub(super) fn lowered<'a>(&self, text: &'a str, buffer: &'a mut String) -> &'a str {
        if self.is_lowered() {
            &text[self.start..self.end]
        } else {
            self.lower_into(text, buffer);
            buffer
        }
    }

    #[inline]
    pub(super) fn lower_into(&self, text: &str, buffer: &mut String) {
        buffer.clear();
        let word = &text[self.start..self.end];
        if self.class & WIDE == 0 {
            buffer.push_str(&word[..word.len().min(TERM_BYTES_MAX)]);
            buffer.make_ascii_lowercase();
        } else {
            lower_wide_into(word, buffer);
        }
    }
}

#[cold]
#[inline(never)]
fn lower_wide_into(word: &str, buffer: &mut String) {
    for character in word.chars().flat_map(char::to_lowercase) {
        if buffer.len() + character.len_utf8() > TERM_BYTES_MAX {
            return;
        }
        buffer.push(character);
    }
}

#[inline(always)]
pub(super) fn each_word(text: &str, mut each: impl FnMut(Word)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let first = CLASS[bytes[at] as usize];
        if first == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let mut class = 0;
        loop {
            // A run of ASCII letters and digits ends at a separator, a wide character or the end of the text.
            while let Some(&byte) = bytes.get(at)
                && CLASS[byte as usize] & (LOWERED | UPPER) != 0
            {
                class |= CLASS[byte as usize];
                at += 1;
            }
            if at == bytes.len() || bytes[at] < 0x80 {
                break;
            }
            let (alphanumeric, wide_bytes) = wide_at(text, at);
            if !alphanumeric {
                break;
            }
            class |= WIDE;
            at += wide_bytes;
        }
        if at > start {
            let end = at;
            each(Word { start, end, class });
        } else {
            at += wide_at(text, at).1;
        }
    }
}

/// Returns the end of the word that continues at `at`, or `at` itself where no word continues.
#[inline]
pub(crate) fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        match CLASS[byte as usize] {
            0 => break,
            WIDE => match wide_at(text, at) {
                (true, wide_bytes) => at += wide_bytes,
                (false, _) => break,
            },
            _ => at += 1,
        }
    }
    at
}

/// Returns whether the character before `at` belongs to no word.
#[inline]
pub(crate) fn starts_word(text: &str, at: usize) -> bool {
    match at.checked_sub(1).map(|before| text.as_bytes()[before]) {
        None => true,
        Some(byte) if byte < 0x80 => CLASS[byte as usize] == 0,
        Some(_) => !text[..at].ends_with(char::is_alphanumeric),
    }
}

/// Returns whether `term` has only lower-case ASCII letters and digits.
pub(crate) fn is_lowered_ascii(term: &str) -> bool {
    term.bytes().all(|byte| CLASS[byte as usize] == LOWERED)
}

/// Returns whether the non-ASCII character at `at` belongs to a word, and its length in bytes.
#[inline(never)]
fn wide_at(text: &str, at: usize) -> (bool, usize) {
    match text[at..].chars().next() {
        Some(character) => (character.is_alphanumeric(), character.len_utf8()),
        None => (false, 1),
    }
}
