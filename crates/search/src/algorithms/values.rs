//! Search of the documents with certain values, where these are few: the values lead, all other clauses are probed.
//!
//! ```text
//! for each window of documents in whose blocks a value passes:
//!     candidates = documents whose values pass
//!     keep those that the other required clauses match, and the condition allows; add the scores
//!     add the scores of alternatives or optional clauses, dropping what cannot enter; collect
//! ```
//!
//! Any of some terms, where hits alone are wanted, is probed as [`Alternatives`] that are pruned.
//!
//! Where the documents are listed ([`index::Segment::documents_with`]), they are taken from there, and no column is scanned.
//!
//! Exact: hits, scores, order and counts are those of its slow twin, [`crate::exhaustive`], since sums are exact.

use crate::algorithms::alternatives::Alternatives;
use crate::block::apply::{apply_optional, apply_required};
use crate::block::candidate_block::CandidateBlock;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::doc_bits::each_document;
use crate::collect::executor::Executor;
use crate::context::cancel;
use crate::context::cancel::{PROBE, StopRef};
use crate::context::counters::Name;
use crate::context::scratch::Lent;
use crate::context::wanted::Wanted;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::BLOCK;
use crate::verify::filter::Condition;
use crate::verify::filter_runs::{FilterWay, OpenFilter};
use crate::verify::probe::{Probe, damage_of};
use index::{CodeRange, Column, DocId, IndexError, Segment};
use std::ops::Range;
use std::sync::Arc;

/// Words of a window: as many documents as 16 blocks of a column have; few in tests, which have small segments.
const WINDOW_WORDS: usize = if cfg!(test) { 3 } else { 256 };
/// Documents of a window.
const WINDOW: u32 = WINDOW_WORDS as u32 * 64;

/// Test of values that few documents pass, and an estimate of their number.
pub(crate) struct Leader<'a> {
    /// Number among the required clauses.
    pub(crate) number: usize,
    column: Column<'a>,
    codes: CodeRange,
    run: OpenFilter<'a>,
    /// The documents, where they are listed.
    list: Option<Arc<[u32]>>,
    /// Documents whose block may have a value that passes.
    pub(crate) scanned: u64,
    /// Estimate of the documents that pass.
    pub(crate) documents: u64,
}

impl<'a> Leader<'a> {
    /// Finds the test of values among `required` that the fewest documents pass, `is_listed`: of those whose documents are
    /// listed already. All of them pass somewhere.
    pub(crate) fn find(
        required: &'a [Node],
        segment: &'a Segment,
        is_listed: bool,
    ) -> Result<Option<Leader<'a>>, IndexError> {
        let mut least: Option<Leader<'a>> = None;
        for (number, node) in required.iter().enumerate() {
            let Node::Value(value) = node else {
                continue;
            };
            let Some((column, codes)) = value.open(segment)? else {
                continue;
            };
            let list = match is_listed {
                true => segment.listed_documents(&value.field, codes),
                false => segment.documents_with(&value.field, &column, codes),
            };
            let (scanned, documents) = match &list {
                Some(list) => (0, list.len() as u64),
                None if is_listed => continue,
                None => column.estimate(codes),
            };
            if least
                .as_ref()
                .is_none_or(|least| documents < least.documents)
            {
                least = Some(Leader {
                    number,
                    column,
                    codes,
                    run: OpenFilter::new(
                        value,
                        segment.id(),
                        match &list {
                            Some(_) => FilterWay::List,
                            None => FilterWay::ColumnScan,
                        },
                    ),
                    list,
                    scanned,
                    documents,
                });
            }
        }
        Ok(least)
    }
}

/// A combination that is led by a test of values.
pub(crate) struct ByValues<'a> {
    leader: Leader<'a>,
    /// The other required clauses, those of the fewest documents first.
    required: Vec<Probe<'a>>,
    /// The alternatives of them, where no other clause adds to the score and hits alone are wanted.
    alternatives: Option<Alternatives<'a>>,
    optional: Vec<Probe<'a>>,
    condition: Option<Condition<'a>>,
    candidates: Lent<CandidateBlock>,
    marks: Box<[u64; WINDOW_WORDS]>,
}

impl<'a> ByValues<'a> {
    /// Opens a combination; `None` where the segment lacks a required clause.
    pub(crate) fn open(
        plan: &'a Plan,
        [required, optional]: [&'a [Node]; 2],
        condition: Option<Condition<'a>>,
        leader: Leader<'a>,
        segment: &'a Segment,
        stop: StopRef<'a>,
        wanted: Wanted,
    ) -> Result<Option<ByValues<'a>>, IndexError> {
        let mut probes = Vec::with_capacity(required.len());
        for (number, node) in required.iter().enumerate() {
            if number == leader.number {
                continue;
            }
            match Probe::open(plan, node, segment, stop)? {
                Some(probe) => probes.push(probe),
                None => return Ok(None),
            }
        }
        probes.sort_by_key(Probe::cost);
        let optional = Probe::open_each(plan, optional, segment, stop)?;
        let alternatives = match wanted == Wanted::Hits && optional.is_empty() {
            true => Alternatives::take(&mut probes),
            false => None,
        };
        Ok(Some(ByValues {
            leader,
            required: probes,
            alternatives,
            optional,
            condition,
            candidates: Lent::take(),
            marks: Box::new([0; WINDOW_WORDS]),
        }))
    }

    fn search<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) -> Result<(), IndexError> {
        let work = cancel::WINDOW + cancel::clauses_work(self.required.len());
        if let Some(list) = self.leader.list.clone() {
            self.search_list(&list, range, segment, top, wanted);
            return self.damage();
        }
        let mut base = range.start;
        while base < range.end && !top.stop().ends_hits(base, work) {
            top.context.exchange();
            // Aligned, for the marks.
            let next = self
                .leader
                .column
                .skip_blocks(DocId(base), self.leader.codes);
            base = base.max(next.0 & !63);
            if base >= range.end {
                break;
            }
            let first = base & !63;
            let end = range.end.min(first.saturating_add(WINDOW));
            let words = (end - first).div_ceil(64) as usize;
            let codes = self.leader.codes;
            self.leader
                .column
                .mark(first, &mut self.marks[..words], codes);
            self.leader.run.candidates += u64::from(end - first);
            self.leader.run.passed += codec::bits::count(&self.marks[..words]);
            self.search_window(first, base..end, segment, top, wanted);
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(base);
                break;
            }
            base = end;
        }
        self.damage()
    }

    /// Searches the documents of a range that are listed.
    fn search_list<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        list: &[u32],
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) {
        let work = cancel::WINDOW + cancel::clauses_work(self.required.len());
        let place = |doc: u32| list.partition_point(|&listed| listed < doc);
        self.candidates.clear();
        for docs in list[place(range.start)..place(range.end)].chunks(BLOCK) {
            let base = docs[0];
            if top.stop().ends_hits(base, work) {
                break;
            }
            top.context.exchange();
            for &doc in docs {
                self.candidates.push(doc, 0.0);
            }
            self.leader.run.candidates += docs.len() as u64;
            self.leader.run.passed += docs.len() as u64;
            self.search_candidates(segment, top, wanted);
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(base);
                break;
            }
        }
    }

    /// Searches the documents of a range that are marked; `first` is the document of the first mark.
    fn search_window<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        first: u32,
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) {
        let words = (range.end - first).div_ceil(64) as usize;
        self.candidates.clear();
        for number in 0..words {
            let candidates = &mut *self.candidates;
            each_document(first / 64 + number as u32, self.marks[number], &mut |doc| {
                if range.contains(&doc.0) {
                    candidates.push(doc.0, 0.0);
                }
            });
            // A word adds 64 documents at most.
            if self.candidates.count > BLOCK - 64 {
                self.search_candidates(segment, top, wanted);
            }
        }
        self.search_candidates(segment, top, wanted);
    }

    /// Collects the candidates that match, and empties their block.
    fn search_candidates<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) {
        let candidates = &mut *self.candidates;
        for probe in &mut self.required {
            if candidates.count == 0 || top.stop().aborts(PROBE) {
                break;
            }
            apply_required(probe, wanted.has_hits(), candidates, top.stop());
        }
        if let Some(alternatives) = &mut self.alternatives {
            alternatives.apply(top.threshold(), candidates, top.stop());
        }
        if let Some(condition) = &mut self.condition {
            condition.apply(candidates, top.stop());
        }
        if top.stop().is_aborted() {
            return candidates.clear();
        }
        if wanted.is_counted() {
            top.found(wanted, candidates.docs(), segment);
        }
        if wanted.has_hits() {
            let threshold = top.threshold();
            for probe in &mut self.optional {
                if candidates.count == 0 || top.stop().aborts(PROBE) {
                    break;
                }
                apply_optional(probe, threshold, f32::INFINITY, candidates, top.stop());
            }
            if !top.stop().is_aborted() {
                candidates.offer(segment, top);
            }
        }
        candidates.clear();
    }

    /// Returns the first damage found so far.
    fn damage(&mut self) -> Result<(), IndexError> {
        damage_of(&mut self.required)?;
        if let Some(alternatives) = &mut self.alternatives {
            alternatives.damage()?;
        }
        damage_of(&mut self.optional)?;
        self.condition.as_mut().map_or(Ok(()), Condition::damage)
    }
}

impl<'a> Executor<'a> for ByValues<'a> {
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
        let (base, end) = (DocId(range.start), DocId(range.end));
        let probes = self.required.iter_mut().chain(&mut self.optional);
        let bounds = probes.map(|probe| probe.bound_in(base, end));
        let alternatives = self.alternatives.as_mut();
        bounds.sum::<f32>() + alternatives.map_or(0.0, |any| any.bound_in(base, end))
    }

    fn cost(&self) -> u64 {
        let clauses = self.required.len()
            + self.optional.len()
            + self.alternatives.as_ref().map_or(0, Alternatives::len);
        self.leader.scanned / 4 + self.leader.documents * 8 * clauses as u64
    }

    fn name(&self) -> Name {
        Name::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::asserting;
    use crate::testing::{check, clauses};

    #[test]
    fn matches_led_by_values_are_those_of_the_slow_twin() {
        for typed in [
            "+n:7 +w11",
            "+n:2..4 +w10 w9 w3",
            "+n:>35 +w11 w8 -w9",
            "+n:<3 w10 w4",
            "+n:2..4 +(w10 w9 w3)",
            "+n:2..4 +(w2 w11 w1 w5 w10)",
            "+n:<3 +(w10 w4) -w9",
            "+n:<30 +n:>10 +(w8 w4 w11)",
            "+n:2..4 +(w10 w9 w3) w1",
        ] {
            for wanted in [Wanted::Hits, Wanted::HitsAndCount, Wanted::Count] {
                check(typed, wanted, |plan, segment, ranges, top| {
                    let [required, optional, excluded] = clauses(plan);
                    let stop = top.stop();
                    let excluded = [excluded, &[], &[], &[]];
                    let condition = Condition::excluding(plan, excluded, segment, stop).unwrap();
                    let leader = Leader::find(required, segment, false).unwrap().unwrap();
                    let nodes = [required, optional];
                    let opened =
                        ByValues::open(plan, nodes, condition, leader, segment, stop, wanted);
                    let mut values = opened.unwrap().unwrap();
                    for range in ranges {
                        asserting::run(&mut values, range.clone(), segment, wanted, top).unwrap();
                    }
                });
            }
        }
    }
}
