//! Collector of every match, one bit for each document.

use super::collectors::MatchCollector;
use super::context::MatchNeeds;
use index::{DocId, Segment};

/// Every match of a query, one bit for each document, by segment: the base of facets, exports and
/// filters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocBits {
    /// Segment ids and their matches, in the order in which segments were entered.
    segments: Vec<(u32, Bits)>,
    /// Index of the segment entered last.
    entered: usize,
}

/// Matches of one segment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Bits {
    /// A bit for each document.
    words: Vec<u64>,
    /// A bit for each word that may have a bit: few matches are found again by few words.
    summary: Vec<u64>,
}

/// Matches of one segment, for reading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matches<'a> {
    /// A bit for each document.
    pub(crate) words: &'a [u64],
    summary: &'a [u64],
}

impl DocBits {
    /// Returns the matches of a segment, by its id, increasing.
    pub fn documents(&self, segment: u32) -> impl Iterator<Item = DocId> {
        let words = self.words(segment).unwrap_or_default();
        (0u32..).zip(words).flat_map(|(number, &word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| DocId(number * 64 + bit))
        })
    }

    /// Returns the bits of the documents of a segment, by its id; `None` where it was not searched.
    pub fn words(&self, segment: u32) -> Option<&[u64]> {
        self.matches(segment).map(|matches| matches.words)
    }

    /// Returns the matches of a segment, by its id; `None` where it was not searched.
    pub(crate) fn matches(&self, segment: u32) -> Option<Matches<'_>> {
        let of_segment = self.segments.iter().find(|(id, _)| *id == segment);
        of_segment.map(|(_, bits)| bits.matches())
    }

    /// Adds the matches of another collector, of other documents of the same segments.
    pub fn join(&mut self, other: DocBits) {
        for (segment, other) in other.segments {
            match self.segments.iter_mut().find(|(id, _)| *id == segment) {
                None => self.segments.push((segment, other)),
                Some((_, own)) => {
                    join_words(&mut own.words, &other.words);
                    join_words(&mut own.summary, &other.summary);
                }
            }
        }
    }

    /// Returns the number of matches in all segments.
    pub fn count(&self) -> u64 {
        let segments = self.segments.iter();
        segments.map(|(_, bits)| bits.matches().count()).sum()
    }
}

fn join_words(own: &mut [u64], other: &[u64]) {
    for (own, other) in own.iter_mut().zip(other) {
        *own |= other;
    }
}

impl Bits {
    fn matches(&self) -> Matches<'_> {
        Matches {
            words: &self.words,
            summary: &self.summary,
        }
    }
}

impl Matches<'_> {
    /// Calls `each` with the number of every word that has a bit, and the word.
    #[inline(always)]
    fn each_word(&self, mut each: impl FnMut(u32, u64)) {
        for (number, &marks) in (0u32..).zip(self.summary) {
            let mut rest = marks;
            while rest != 0 {
                let number = number * 64 + rest.trailing_zeros();
                rest &= rest - 1;
                if let Some(&word) = self.words.get(number as usize) {
                    each(number, word);
                }
            }
        }
    }

    /// Calls `each` for every match, increasing.
    #[inline(always)]
    pub(crate) fn each(&self, mut each: impl FnMut(DocId)) {
        self.each_word(|number, word| each_document(number, word, &mut each));
    }

    /// Returns the number of matches.
    pub(crate) fn count(&self) -> u64 {
        let mut count = 0;
        self.each_word(|_, word| count += u64::from(word.count_ones()));
        count
    }
}

/// Calls `each` for every document of the word of a number.
#[inline(always)]
pub(crate) fn each_document(number: u32, word: u64, each: &mut impl FnMut(DocId)) {
    let mut rest = word;
    while rest != 0 {
        each(DocId(number * 64 + rest.trailing_zeros()));
        rest &= rest - 1;
    }
}

impl MatchCollector for DocBits {
    const NEEDS: MatchNeeds = MatchNeeds::Documents;

    fn enter(&mut self, segment: &Segment) {
        let known = self.segments.iter().position(|(id, _)| *id == segment.id());
        self.entered = known.unwrap_or_else(|| {
            let words = segment.documents_count().div_ceil(64) as usize;
            let bits = Bits {
                words: vec![0; words],
                summary: vec![0; words.div_ceil(64)],
            };
            self.segments.push((segment.id(), bits));
            self.segments.len() - 1
        });
    }

    fn count(&mut self, _: u64) {
        unreachable!("documents are asked for, not their number");
    }

    fn documents(&mut self, docs: &[u32]) {
        let Some((_, bits)) = self.segments.get_mut(self.entered) else {
            return;
        };
        for &doc in docs {
            let number = doc as usize / 64;
            // A damaged list may name a document that the segment lacks.
            if let (Some(word), Some(marks)) = (
                bits.words.get_mut(number),
                bits.summary.get_mut(number / 64),
            ) {
                *word |= 1 << (doc % 64);
                *marks |= 1 << (number % 64);
            }
        }
    }

    fn bits(&mut self, base: u32, found: &[u64]) {
        let Some((_, bits)) = self.segments.get_mut(self.entered) else {
            return;
        };
        let first = base as usize / 64;
        let own = bits.words.iter_mut().enumerate().skip(first);
        for ((number, word), found) in own.zip(found) {
            *word |= found;
            if let Some(marks) = bits.summary.get_mut(number / 64) {
                *marks |= u64::from(*found != 0) << (number % 64);
            }
        }
    }
}
