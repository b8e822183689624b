//! Phrase search: a conjunction of the words, then verification by their positions.
//!
//! ```text
//! for each block of the rarest list (of a word or a stored pair):
//!     bound(block) for the phrase < threshold?  skip it
//!     candidates = documents that all sparse lists hold
//!     drop candidates whose bound, from the frequencies of the two rarest words, is below the threshold
//!     count where the two rarest words stand as the phrase has them; probe dense lists about the rest
//!     verify the positions of the further words; score and collect
//! ```
//!
//! A phrase stands in a document no more often than its rarest word (with slop: than its first, whose places are
//! counted), so a bound on that word's frequency bounds the phrase's score: by block before documents are read, by
//! document before positions are.
//!
//! Exact: hits, scores, order and counts are those of its slow twin, [`crate::exhaustive`].

use crate::block::columns::{ROWS, pick};
use crate::block::term_scorer::{List, Lists, first_damage};
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::executor::{Executor, SLOW};
use crate::context::cancel;
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use crate::join::conjunction::{Conjunction, Sought, first_late};
use crate::join::phrase::bigrams::pairs_of;
use crate::join::phrase::pattern::Pattern;
use crate::join::phrase::positions::{Numbers, distinct_records};
use crate::plan::node::PhraseNode;
use crate::plan::planner::Plan;
use crate::plan::scorer::{BLOCK, Scorer};
use codec::lanes;
use codec::rice::follow::UNKNOWN;
use index::{DocId, IndexError, PairRecord, Segment};
use std::ops::Range;

/// The search of a phrase on one segment.
pub(crate) struct Phrase<'a> {
    /// The conjunction of the distinct words and stored pairs.
    pub(crate) words: Conjunction<'a>,
    /// The number of the first list that is probed late: only for documents in which the two rarest words stand at
    /// their distance.
    late: usize,
    pub(crate) pattern: Pattern<'a>,
}

impl<'a> Phrase<'a> {
    /// Opens a phrase; `None` where the segment lacks one of its words.
    pub(crate) fn open(
        plan: &'a Plan,
        phrase: &PhraseNode,
        segment: &'a Segment,
    ) -> Result<Option<Phrase<'a>>, IndexError> {
        let Some((records, order)) = distinct_records(phrase, segment)? else {
            return Ok(None);
        };
        // With the phrase's scorer the leader's bounds are those of the phrase.
        let scorer = Scorer::new(plan, phrase.field, phrase.weight, segment);
        let Some(mut pairs) = pairs_of(phrase, &records, &order, segment) else {
            return Ok(None);
        };
        pairs.sort_by_key(PairRecord::documents_count);
        let mut pairs = pairs.iter().peekable();
        let mut lists = Lists::take();
        let mut numbers = Numbers::new();
        // Both are cheapest first already, and equal ones stay in place: `order` holds.
        for record in &records {
            let is_cheaper = |pair: &&PairRecord| pair.documents_count() <= record.documents_count;
            while let Some(pair) = pairs.next_if(is_cheaper) {
                lists.push(List::of_pair(pair, scorer, segment)?);
            }
            numbers.push(lists.len());
            List::push(&mut lists, record, scorer, segment)?;
        }
        let late = match phrase.slop {
            // After those of the two rarest words, whose positions are compared first.
            0 => {
                let from = numbers.get(1).map_or(lists.len(), |second| second + 1);
                first_late(&lists, from, segment)
            }
            _ => lists.len(),
        };
        Ok(Some(Phrase {
            late,
            words: Conjunction::new(lists),
            pattern: Pattern::new(numbers, order, phrase.slop, scorer),
        }))
    }

    /// Collects the hits and matches that are wanted among the documents of `range`.
    pub(crate) fn search<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) -> Result<(), IndexError> {
        let counted = wanted.is_counted();
        let mut block = self.words.lists[0].find(DocId(range.start));
        while self.words.is_in_range(block, &range)
            && !top
                .stop()
                .ends_hits(self.words.start(block), cancel::WINDOW)
        {
            top.context.exchange();
            let bounded = !counted && top.threshold() > 0.0 && self.pattern.is_bounded_by(0);
            if !bounded || top.would_enter(self.words.lists[0].bound(block)) {
                self.words
                    .find_matches_of(self.late, block, &range, None, Sought::Places);
                self.offer(segment, top, wanted);
                if top.stop().has_ended_hits() {
                    break;
                }
            }
            block += 1;
        }
        first_damage(&mut self.words.lists)
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        match self.pattern.is_bounded_by(0) {
            true => self.words.lists[0].bound_in(base, end),
            false => f32::INFINITY,
        }
    }

    /// Probes the late lists for the candidates at `kept` whose pair counts are not 0. Keeps those that all lists
    /// hold, with their pair counts and upper bounds; returns their number.
    fn ask_late(
        &mut self,
        kept: &mut [u8; BLOCK],
        kept_count: usize,
        pairs: &mut [u32; BLOCK],
        most: &mut [f32; BLOCK],
    ) -> usize {
        let mut count = 0;
        for at in 0..kept_count {
            (kept[count], pairs[count]) = (kept[at], pairs[at]);
            count += usize::from(pairs[at] > 0);
        }
        let Phrase {
            words,
            pattern,
            late,
        } = self;
        words.candidates.placed = 0..*late;
        words.candidates.keep(&kept[..count]);
        pattern.keep_spans(&kept[..count]);
        pick(most, &kept[..count]);
        words.keep_held(*late);
        let count = words.candidates.count;
        *kept = words.candidates.origins;
        pattern.keep_spans(&kept[..count]);
        pick(most, &kept[..count]);
        pick(pairs, &kept[..count]);
        *kept = ROWS;
        count
    }

    /// Verifies the candidates and collects those that hold the phrase.
    fn offer<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) {
        let counted = wanted.is_counted();
        let Phrase { words, pattern, .. } = self;
        let count = words.candidates.count;
        if count == 0 {
            return;
        }
        let mut most = [f32::INFINITY; BLOCK];
        // A search that counts all matches needs no upper bounds.
        pattern.find_spans(words, (!counted).then_some(&mut most));
        let mut kept = [0; BLOCK];
        let least = match counted {
            true => f32::NEG_INFINITY,
            false => top.threshold(),
        };
        let mut kept_count = lanes::at_least(&most[..count], least, &mut kept);
        let mut pairs = [UNKNOWN; BLOCK];
        pattern.count_pairs(words, &kept[..kept_count], &mut pairs);
        if self.late < self.words.lists.len() {
            kept_count = self.ask_late(&mut kept, kept_count, &mut pairs, &mut most);
        }
        let Phrase { words, pattern, .. } = self;
        let mut found = 0;
        for number in 0..kept_count {
            let (at, pairs) = (usize::from(kept[number]), pairs[number]);
            let doc = DocId(words.candidates.docs[at]);
            if pairs == 0 || !(counted || most[at] >= top.threshold()) || segment.is_deleted(doc) {
                continue;
            }
            if pattern.is_loose() && top.stop().ends_hits(doc.0, cancel::DOCUMENT) {
                break;
            }
            let frequency = pattern.frequency(words, at, pairs, top.stop());
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(doc.0);
                break;
            }
            if frequency > 0 {
                kept[found] = at as u8;
                found += 1;
                if wanted.has_hits() && top.context.k() > 0 {
                    crate::context::counters::offered(1);
                    top.offer(pattern.scorer.score(doc, frequency), doc);
                }
            }
        }
        top.found_at(wanted, &self.words.candidates.docs, &kept[..found]);
    }
}

impl<'a> Executor<'a> for Phrase<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        self.search(range, segment, top, wanted)
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.bound_in(DocId(range.start), DocId(range.end))
    }

    fn cost(&self) -> u64 {
        u64::from(self.words.lists[0].cost()) * SLOW
    }

    fn name(&self) -> Name {
        Name::Phrase
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::plan::node::Node;
    use crate::testing::check;

    #[test]
    fn phrases_are_those_of_the_slow_twin() {
        let typed = [
            "\"w11 w10\"",
            "\"w11 w10 w11\"",
            "\"w9 w11\"~2",
            "\"w10 w10\"",
            "\"w11 w9 w10\"~3",
        ];
        for typed in typed {
            for wanted in [Wanted::Hits, Wanted::HitsAndCount, Wanted::Count] {
                check(typed, wanted, |plan, segment, ranges, top| {
                    let Node::Phrase(phrase) = &plan.root else {
                        panic!("{typed} is a phrase");
                    };
                    let mut phrase = Phrase::open(plan, phrase, segment).unwrap().unwrap();
                    for range in ranges {
                        asserting::run(&mut phrase, range.clone(), segment, wanted, top).unwrap();
                    }
                });
            }
        }
    }
}
