//! Collector of every match, one bit for each document.

use super::collectors::MatchCollector;
use super::context::MatchNeeds;
use index::{DocId, Segment};

/// Every match of a query, one bit for each document, by segment: the base of facets, exports and
/// filters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocBits {
    /// Segment ids and the bits of their documents, in the order in which segments were entered.
    segments: Vec<(u32, Vec<u64>)>,
    /// Index of the segment entered last.
    entered: usize,
}

impl DocBits {
    /// Returns the matches of a segment, by its id, increasing.
    pub fn documents(&self, segment: u32) -> impl Iterator<Item = DocId> {
        let of_segment = self.segments.iter().filter(move |(id, _)| *id == segment);
        let words = of_segment.flat_map(|(_, words)| (0u32..).zip(words));
        words.flat_map(|(number, &word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| DocId(number * 64 + bit))
        })
    }

    /// Returns the bits of the documents of a segment, by its id; `None` where it was not searched.
    pub fn words(&self, segment: u32) -> Option<&[u64]> {
        let of_segment = self.segments.iter().find(|(id, _)| *id == segment);
        of_segment.map(|(_, words)| words.as_slice())
    }

    /// Returns the number of matches in all segments.
    pub fn count(&self) -> u64 {
        let words = self.segments.iter().map(|(_, words)| words);
        words.map(|words| codec::bits::count(words)).sum()
    }
}

impl MatchCollector for DocBits {
    const NEEDS: MatchNeeds = MatchNeeds::Documents;

    fn enter(&mut self, segment: &Segment) {
        let known = self.segments.iter().position(|(id, _)| *id == segment.id());
        self.entered = known.unwrap_or_else(|| {
            let words = segment.documents_count().div_ceil(64) as usize;
            self.segments.push((segment.id(), vec![0; words]));
            self.segments.len() - 1
        });
    }

    fn count(&mut self, _: u64) {
        unreachable!("documents are asked for, not their number");
    }

    fn documents(&mut self, docs: &[u32]) {
        let Some((_, words)) = self.segments.get_mut(self.entered) else {
            return;
        };
        for doc in docs {
            // A damaged list may name a document that the segment lacks.
            if let Some(word) = words.get_mut(*doc as usize / 64) {
                *word |= 1 << (doc % 64);
            }
        }
    }

    fn bits(&mut self, base: u32, found: &[u64]) {
        let Some((_, words)) = self.segments.get_mut(self.entered) else {
            return;
        };
        for (word, found) in words.iter_mut().skip(base as usize / 64).zip(found) {
            *word |= found;
        }
    }
}
