//! Phrases: words in sequence, exactly or with slop.
//!
//! Let the adjusted position of word i be a_i = position − i. The phrase matches at an occurrence
//! p of its first word if positions for the other words can be chosen, distinct for repeated
//! words, so that max(a) − min(a) ≤ slop. The frequency is the number of such p. With slop 0 all
//! adjusted positions are equal: the exact phrase.
use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::join::phrase::positions::{Numbers, distinct_records, positions_work, sloppy_frequency};
use crate::plan::node::PhraseNode;
use crate::plan::planner::Plan;
use crate::plan::scorer::Scorer;
use index::{DocId, IndexError, Postings, Segment};

/// Cursor over the documents that hold a phrase.
#[derive(Debug)]
pub(crate) struct PhraseCursor<'a> {
    // Lists of the distinct words, cheapest first.
    lists: Vec<Postings<'a>>,
    // Word i of the phrase is list `words[i]`.
    words: Numbers,
    slop: u32,
    scorer: Scorer<'a>,
    stop: StopRef<'a>,
    doc: DocId,
    frequency: u32,
    // Scratch: the positions in the current document, by list, and the working memory of matching.
    positions: Vec<Vec<u32>>,
    anchors: Vec<u32>,
}

impl<'a> PhraseCursor<'a> {
    /// Opens a phrase; `None` if the segment lacks one of the words.
    pub(crate) fn open(
        plan: &'a Plan,
        phrase: &PhraseNode,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<PhraseCursor<'a>>, IndexError> {
        let Some((records, words)) = distinct_records(phrase, segment)? else {
            return Ok(None);
        };
        let mut lists = Vec::with_capacity(records.len());
        for record in &records {
            lists.push(segment.postings(record)?);
        }
        let mut cursor = PhraseCursor {
            positions: vec![Vec::new(); lists.len()],
            lists,
            words,
            slop: phrase.slop,
            scorer: Scorer::new(plan, phrase.field, phrase.weight, segment),
            stop,
            doc: DocId(0),
            frequency: 0,
            anchors: Vec::new(),
        };
        let first = cursor.lists[0].doc();
        cursor.settle(first);
        Ok(Some(cursor))
    }

    /// Returns the frequency of the phrase in the current document.
    pub(crate) fn frequency(&self) -> u32 {
        self.frequency
    }

    /// Returns the current document's quantised length.
    pub(crate) fn length_byte(&self) -> u8 {
        self.scorer.length_byte(self.doc)
    }

    /// Moves from the cheapest list's position to the first document that holds the phrase; to the end
    /// if the search is aborted.
    fn settle(&mut self, mut doc: DocId) {
        loop {
            doc = agree(&mut self.lists, doc, self.stop);
            if doc != DocId::END {
                self.frequency = self.frequency_here();
            }
            if self.stop.is_aborted() {
                doc = DocId::END;
            }
            self.doc = doc;
            if doc == DocId::END || self.frequency > 0 {
                return;
            }
            doc = self.lists[0].next();
        }
    }

    /// Returns the frequency of the phrase in the document that all lists are on. It is void if the
    /// search is aborted.
    fn frequency_here(&mut self) -> u32 {
        for (list, positions) in self.lists.iter_mut().zip(&mut self.positions) {
            list.positions(positions);
            if self.stop.aborts(positions_work(positions)) {
                return 0;
            }
        }
        match self.slop {
            0 => exact_frequency(&self.positions, &self.words, &mut self.anchors),
            slop => sloppy_frequency(&self.positions, &self.words, slop, self.stop),
        }
    }
}

/// Returns the first document at or after `doc`, the first list's position, that all lists hold. It is
/// void if `stop` aborted.
fn agree(lists: &mut [Postings<'_>], mut doc: DocId, stop: StopRef<'_>) -> DocId {
    let Some((leader, others)) = lists.split_first_mut() else {
        return DocId::END;
    };
    'candidate: while doc != DocId::END && !stop.aborts(cancel::DOCUMENT) {
        for other in others.iter_mut() {
            let reached = other.seek(doc);
            if reached != doc {
                doc = leader.seek(reached);
                continue 'candidate;
            }
        }
        return doc;
    }
    doc
}

/// Returns the frequency of the exact phrase, from the places of the rarest word that the others
/// confirm.
fn exact_frequency(positions: &[Vec<u32>], words: &[usize], starts: &mut Vec<u32>) -> u32 {
    let Some(rarest) = (0..words.len()).min_by_key(|&word| positions[words[word]].len()) else {
        return 0;
    };
    starts.clear();
    starts.extend(
        positions[words[rarest]]
            .iter()
            .filter_map(|position| position.checked_sub(rarest as u32)),
    );
    for (word, &list) in words.iter().enumerate() {
        if word != rarest && !starts.is_empty() {
            retain_confirmed(starts, &positions[list], word as u32);
        }
    }
    starts.len() as u32
}

/// Keeps the starts for which `start + offset` is a position. Both lists are sorted, so one walk is
/// enough.
fn retain_confirmed(starts: &mut Vec<u32>, positions: &[u32], offset: u32) {
    let mut at = 0;
    starts.retain(|start| {
        let wanted = start.saturating_add(offset);
        while at < positions.len() && positions[at] < wanted {
            at += 1;
        }
        at < positions.len() && positions[at] == wanted
    });
}

impl DocCursor for PhraseCursor<'_> {
    fn doc(&self) -> DocId {
        self.doc
    }
    fn next(&mut self) -> DocId {
        if self.doc != DocId::END {
            let doc = self.lists[0].next();
            self.settle(doc);
        }
        self.doc
    }
    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            let doc = self.lists[0].seek(target);
            self.settle(doc);
        }
        self.doc
    }
    fn cost(&self) -> u32 {
        self.lists[0].cost()
    }
    fn take_error(&mut self) -> Option<IndexError> {
        self.lists.iter_mut().find_map(|list| list.take_error())
    }
}

impl ScoredCursor for PhraseCursor<'_> {
    fn score(&mut self) -> f32 {
        self.scorer.score(self.doc, self.frequency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tries every choice of places.
    fn naive(positions: &[Vec<u32>], words: &[usize], slop: u32) -> u32 {
        fn any_choice(
            positions: &[Vec<u32>],
            words: &[usize],
            slop: i64,
            chosen: &mut Vec<u32>,
        ) -> bool {
            let at = chosen.len();
            if at == words.len() {
                let adjusted = |i: usize| i64::from(chosen[i]) - i as i64;
                let max = (0..at).map(adjusted).max().unwrap_or(0);
                let min = (0..at).map(adjusted).min().unwrap_or(0);
                return max - min <= slop;
            }
            for &place in &positions[words[at]] {
                let taken = (0..at).any(|i| words[i] == words[at] && chosen[i] == place);
                if taken {
                    continue;
                }
                chosen.push(place);
                let found = any_choice(positions, words, slop, chosen);
                chosen.pop();
                if found {
                    return true;
                }
            }
            false
        }
        positions[words[0]]
            .iter()
            .filter(|&&p| any_choice(positions, words, slop.into(), &mut vec![p]))
            .count() as u32
    }

    fn case() -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<usize>)> {
        let text = proptest::collection::vec(0usize..3, 1..14);
        let words = proptest::collection::vec(0usize..3, 2..5);
        (text, words).prop_map(|(text, words)| {
            let mut positions = vec![Vec::new(); 3];
            for (position, word) in text.iter().enumerate() {
                positions[*word].push(position as u32);
            }
            (positions, words)
        })
    }

    proptest! {
        #[test]
        fn exact_is_naive((positions, words) in case()) {
            prop_assert_eq!(
                exact_frequency(&positions, &words, &mut Vec::new()),
                naive(&positions, &words, 0)
            );
        }

        #[test]
        fn sloppy_is_naive((positions, words) in case(), slop in 0u32..6) {
            prop_assert_eq!(
                sloppy_frequency(&positions, &words, slop, StopRef::default()),
                naive(&positions, &words, slop)
            );
        }
    }

    #[test]
    fn swapped_words_take_slop_two() {
        let positions = vec![vec![1], vec![0]];
        let frequency = |slop| sloppy_frequency(&positions, &[0, 1], slop, StopRef::default());
        assert_eq!(frequency(1), 0);
        assert_eq!(frequency(2), 1);
    }
}
