//! Words of the texts of a segment in order, in memory, for patterns that allow errors.
//!
//! Such a pattern can match words of many beginnings. A dictionary decodes what it passes over, so most of a look-up there is
//! decoding; here a byte a word says how much it shares with the one before, and words that begin as one that cannot match are
//! passed over by these bytes alone. (Of 294,472 words within two edits, 190,548 documents: a twelfth of the time.)
//!
//! They are made of the dictionaries at the first search that wants them, and stay in memory with the segment: about 20 bytes a
//! word. A segment of more than [`WORDS_MAX`] is looked up in its dictionaries, the slow twin.

use super::Segment;
use crate::terms::common_bytes;
use crate::written::{self, field_of_forms};
use crate::{Field, IndexError, terms};
use fst::Streamer;
use text::{Pattern, PatternMatcher, Verdict};

/// Words that are listed at most, in either list.
const WORDS_MAX: u64 = 4_000_000;

/// Words of the texts of a segment: terms, and words as written with other terms.
#[derive(Debug, Default)]
pub(crate) struct Words {
    terms: List,
    /// Ordinal of the first term; the others follow.
    first_ordinal: u64,
    /// Entries of words as written: the word, and what its term is made of.
    written: List,
}

/// Entries in order, each of which begins with a word.
#[derive(Debug, Default)]
struct List {
    bytes: Vec<u8>,
    /// End of each entry, and of its word.
    ends: Vec<(u32, u32)>,
    /// Bytes that each word shares with the one before, 255 at most.
    shared: Vec<u8>,
}

impl List {
    /// Adds an entry; returns false where no more can be listed.
    fn push(&mut self, entry: &[u8], word_bytes: usize) -> bool {
        let start = self.bytes.len();
        let before = self
            .word(self.ends.len().wrapping_sub(1))
            .unwrap_or_default();
        let shared = common_bytes(before.as_bytes(), &entry[..word_bytes]);
        let (Ok(word_end), Ok(end)) = (
            u32::try_from(start + word_bytes),
            u32::try_from(start + entry.len()),
        ) else {
            return false;
        };
        self.bytes.extend_from_slice(entry);
        self.ends.push((end, word_end));
        self.shared.push(shared.min(u8::MAX.into()) as u8);
        self.ends.len() as u64 <= WORDS_MAX
    }

    fn start(&self, at: usize) -> usize {
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        before.map_or(0, |&(end, _)| end as usize)
    }

    /// Returns a word; `None` past the last one, and for one that is no text.
    fn word(&self, at: usize) -> Option<&str> {
        let &(_, end) = self.ends.get(at)?;
        std::str::from_utf8(self.bytes.get(self.start(at)..end as usize)?).ok()
    }

    fn entry(&self, at: usize) -> Option<&[u8]> {
        let &(end, _) = self.ends.get(at)?;
        self.bytes.get(self.start(at)..end as usize)
    }

    /// Calls `each` with the places of the words that match, in order.
    fn visit(
        &self,
        pattern: &Pattern,
        mut each: impl FnMut(usize, &str) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let literal = pattern.literal().as_bytes();
        let bytes = |at: usize| {
            let end = self.ends.get(at).map_or(0, |&(_, end)| end as usize);
            self.bytes.get(self.start(at)..end).unwrap_or_default()
        };
        let mut matcher = PatternMatcher::new(pattern);
        let mut at = partition_point(self.ends.len(), |at| bytes(at) < literal);
        while at < self.ends.len() && bytes(at).starts_with(literal) {
            // Of what is no text nothing is known.
            let mut dead = usize::MAX;
            if let Some(word) = self.word(at) {
                match matcher.judge(word) {
                    Verdict::Match => each(at, word)?,
                    Verdict::Miss => {}
                    Verdict::Dead(bytes) => dead = bytes,
                }
            }
            at += 1;
            let rest = self.shared.get(at..).unwrap_or_default();
            let begins_alike = |&shared: &u8| usize::from(shared) >= dead;
            at += rest
                .iter()
                .position(|one| !begins_alike(one))
                .unwrap_or(rest.len());
        }
        Ok(())
    }
}

/// Returns the first of some numbers for which `is_before` does not hold; it holds for all before.
fn partition_point(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

impl Segment {
    /// Returns the words of the text, made at the first call; `None` where there are too many.
    ///
    /// # Errors
    /// A damaged dictionary.
    fn words(&self) -> Result<Option<&Words>, IndexError> {
        let files = [&**self.file()];
        let words = (self.core.words).get_or_derive(files, || self.read_words())?;
        Ok(words.as_ref())
    }

    fn read_words(&self) -> Result<Option<Words>, IndexError> {
        let mut words = Words::default();
        let first = terms::with_key(Field::Text, "", |key| key.bytes.to_vec());
        let mut stream = self.core.terms.range(&first, None);
        while let Some((key, ordinal)) = stream.next() {
            let Some(term) = key.strip_prefix(&first[..]) else {
                break;
            };
            if words.terms.ends.is_empty() {
                words.first_ordinal = ordinal;
            }
            if !words.terms.push(term, term.len()) {
                return Ok(None);
            }
        }
        let dictionary = self.core.written.as_ref();
        let Some((dictionary, _)) = dictionary.zip(field_of_forms(Field::Text)) else {
            return Ok(Some(words));
        };
        let mut stream = dictionary.from(&first);
        while let Some(entry) = stream.next()? {
            if !entry.starts_with(&first) {
                break;
            }
            let end = written::form_end(entry)
                .ok_or_else(|| dictionary.damaged("words as written are inconsistent"))?;
            if !words.written.push(&entry[1..], end - 1) {
                return Ok(None);
            }
        }
        Ok(Some(words))
    }

    /// Calls `each(word, term, ordinal)` for every word of the text that a pattern with errors matches: for terms, with their
    /// ordinal, and for words as written whose terms are others. Returns false, without a call, where the words are not listed.
    ///
    /// # Errors
    /// A damaged dictionary.
    pub(crate) fn visit_listed(
        &self,
        pattern: &Pattern,
        mut each: impl FnMut(&str, &str, Option<u64>) -> Result<(), IndexError>,
    ) -> Result<bool, IndexError> {
        let Some(words) = self.words()? else {
            return Ok(false);
        };
        words.terms.visit(pattern, |at, term| {
            each(term, term, Some(words.first_ordinal + at as u64))
        })?;
        let mut term = Vec::new();
        words.written.visit(pattern, |at, word| {
            let entry = words.written.entry(at).unwrap_or_default();
            let term = written::read_entry(entry, &mut term)
                .and_then(|_| std::str::from_utf8(&term).ok())
                .ok_or_else(|| self.damaged_at_terms("words as written are inconsistent"))?;
            each(word, term, None)
        })?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The slow twin compares every word.
        #[test]
        fn words_that_match_are_found(
            words in prop::collection::btree_set("[ab]{0,3}[abcé]{0,4}", 0..60),
            typed in "[abcé]{1,6}",
            edits in 1u8..=2,
            kind in 0u8..3,
        ) {
            let pattern = match kind {
                0 => Pattern::near(&typed, edits),
                1 => Pattern::near_of_one_initial(&typed, edits),
                _ => Pattern::near_start(&typed, edits),
            };
            let mut list = List::default();
            for word in &words {
                // What follows the word of an entry is not compared.
                let entry = format!("{word}\0b");
                prop_assert!(list.push(entry.as_bytes(), word.len()));
            }
            let mut found = Vec::new();
            let each = |at: usize, word: &str| {
                assert_eq!(list.entry(at), Some(format!("{word}\0b").as_bytes()));
                found.push(word.to_owned());
                Ok(())
            };
            list.visit(&pattern, each).unwrap();
            let expected = words.iter().filter(|word| pattern.matches(word));
            prop_assert!(found.iter().eq(expected), "{:?} {:?}", pattern, found);
        }
    }
}
