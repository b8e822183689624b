//! Words of the texts of a segment in order, in memory, for patterns that allow errors.
//!
//! Such a pattern can match words of many beginnings. A dictionary decodes what it passes over, so most of a look-up there is
//! decoding. Here two looks pass over words unread:
//!
//! - An edit changes the length by one, and [which letters](super::letters) a word has, or has an odd number of, by two. So words of
//!   another length or of other letters are not within some edits.
//! - Where a beginning is compared, a byte says how much a word shares with the one before, and words that begin as one that cannot
//!   match, or that match whatever follows, are passed over.
//!
//! They are made of the dictionaries at the first search that wants them, and stay in memory with the segment: about 30 bytes a
//! word. A segment of more than [`WORDS_MAX`] is looked up in its dictionaries, the slow twin.

use super::letters::{Letters, LettersByLength};
use crate::IndexError;
use crate::terms::common_bytes;
use std::ops::Range;
use text::{BeginningMatcher, Pattern, PatternMatcher, Verdict};

/// Words that are listed at most, in either list.
const WORDS_MAX: u64 = 4_000_000;

/// Words of the texts of a segment: terms, and words as written with other terms.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(super) terms: List,
    /// Entries of words as written: the word, and what its term is made of.
    pub(super) written: List,
}

/// Entries in order, each of which begins with a word.
#[derive(Debug, Default)]
pub(super) struct List {
    bytes: String,
    /// Start of each entry, and end of its word.
    places: Vec<(u32, u32)>,
    /// Bytes that each word shares with the one before, 255 at most.
    shared: Vec<u8>,
    letters: LettersByLength,
}

/// Words whose beginnings are equally many edits away from a wanted one, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) edits: u8,
    pub(super) places: Range<usize>,
}

impl List {
    /// Adds an entry; returns false where it is no text, and where no more can be listed.
    pub(super) fn push(&mut self, entry: &[u8], word_bytes: usize) -> bool {
        let start = self.bytes.len();
        let before = self.places.last().map_or("", |&place| self.word(place));
        let shared = common_bytes(before.as_bytes(), &entry[..word_bytes]);
        let (Ok(from), Ok(word_end), Ok(entry)) = (
            u32::try_from(start),
            u32::try_from(start + word_bytes),
            std::str::from_utf8(entry),
        ) else {
            return false;
        };
        self.letters
            .push(self.places.len(), Letters::of(&entry[..word_bytes]));
        self.bytes.push_str(entry);
        self.places.push((from, word_end));
        self.shared.push(shared.min(u8::MAX.into()) as u8);
        self.places.len() as u64 <= WORDS_MAX
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the word of a place; nothing where there is none.
    pub(super) fn word_at(&self, at: usize) -> &str {
        self.places.get(at).map_or("", |&place| self.word(place))
    }

    /// Returns the first place of a word; `None` where it is not listed.
    pub(super) fn place_of(&self, word: &str) -> Option<usize> {
        let at = (self.places).partition_point(|&place| self.word(place) < word);
        (self.word_at(at) == word && at < self.len()).then_some(at)
    }

    /// Returns the places of the words that begin with `start`.
    pub(super) fn range_of(&self, start: &str) -> Range<usize> {
        let from = (self.places).partition_point(|&place| self.word(place) < start);
        let count =
            self.places[from..].partition_point(|&place| self.word(place).starts_with(start));
        from..from + count
    }

    /// Returns the words that begin within `edits` of `start`, and with its first character, as runs in order.
    pub(super) fn runs_beginning(&self, start: &str, edits: u8) -> Vec<Run> {
        let pattern = Pattern::near_start(start, edits);
        let Range { start: mut at, end } = self.range_of(pattern.literal());
        if edits == 0 {
            let places = at..end;
            return Vec::from_iter((!places.is_empty()).then_some(Run { edits, places }));
        }
        let mut matcher = BeginningMatcher::new(start, edits);
        let mut runs: Vec<Run> = Vec::new();
        while at < end {
            let judged = matcher.judge(self.word(self.places[at]));
            let from = at;
            at = self.end_alike(at, end, judged.shared_bytes);
            let Some(edits) = judged.edits else {
                continue;
            };
            match runs.last_mut() {
                Some(last) if last.edits == edits && last.places.end == from => {
                    last.places.end = at;
                }
                _ => runs.push(Run {
                    edits,
                    places: from..at,
                }),
            }
        }
        runs
    }

    /// Returns the end, at most `end`, of the words from `at` on that share their first `bytes` with the one there.
    fn end_alike(&self, at: usize, end: usize, bytes: Option<usize>) -> usize {
        let rest = self.shared.get(at + 1..end).unwrap_or_default();
        let is_other = |&shared: &u8| bytes.is_none_or(|bytes| usize::from(shared) < bytes);
        at + 1 + rest.iter().position(is_other).unwrap_or(rest.len())
    }

    fn word(&self, (start, end): (u32, u32)) -> &str {
        let word = self.bytes.get(start as usize..end as usize);
        word.unwrap_or_default()
    }

    /// Returns the entry of a place that [`List::visit`] gave.
    pub(super) fn entry(&self, at: usize) -> &[u8] {
        let start_of = |at: usize| self.places.get(at).map(|&(start, _)| start as usize);
        let end = start_of(at + 1).unwrap_or(self.bytes.len());
        let entry = start_of(at).and_then(|start| self.bytes.get(start..end));
        entry.unwrap_or_default().as_bytes()
    }

    /// Calls `each` with the places of the words that match, in order.
    pub(super) fn visit(
        &self,
        pattern: &Pattern,
        mut each: impl FnMut(usize, &str) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let literal = pattern.literal();
        let mut matcher = PatternMatcher::new(pattern);
        let Range { start, end } = self.range_of(literal);
        if let Pattern::Near { term, edits, .. } = pattern {
            let places = (self.letters).within(*edits, Letters::of(term), start..end);
            for at in places {
                let word = self.word(self.places[at]);
                if matcher.judge(word) == Verdict::Match {
                    each(at, word)?;
                }
            }
            return Ok(());
        }
        let mut at = start;
        while at < end {
            let word = self.word(self.places[at]);
            let dead = match matcher.judge(word) {
                Verdict::Match => {
                    each(at, word)?;
                    None
                }
                Verdict::Miss => None,
                Verdict::Dead(bytes) => Some(bytes),
            };
            at = self.end_alike(at, end, dead);
        }
        Ok(())
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
                assert_eq!(list.entry(at), format!("{word}\0b").as_bytes());
                found.push(word.to_owned());
                Ok(())
            };
            list.visit(&pattern, each).unwrap();
            let expected = words.iter().filter(|word| pattern.matches(word));
            prop_assert!(found.iter().eq(expected), "{:?} {:?}", pattern, found);
        }

        /// The slow twin compares every word with a pattern of each number of edits.
        #[test]
        fn words_that_begin_so_are_found(
            words in prop::collection::btree_set("[ab]{0,3}[abcé]{0,4}", 0..60),
            start in "[abcé]{1,6}",
            edits in 0u8..=2,
        ) {
            let mut list = List::default();
            for word in &words {
                prop_assert!(list.push(word.as_bytes(), word.len()));
            }
            let runs = list.runs_beginning(&start, edits);
            prop_assert!(runs.windows(2).all(|two| two[0].places.end <= two[1].places.start));
            let found = runs.iter().flat_map(|run| run.places.clone().map(|at| (at, run.edits)));
            let slow = |word: &String| (0..=edits).find(|&edits| Pattern::near_start(&start, edits).matches(word));
            let expected = words.iter().enumerate().filter_map(|(at, word)| Some((at, slow(word)?)));
            prop_assert!(found.eq(expected), "{} {} {:?}", start, edits, runs);
        }
    }
}
