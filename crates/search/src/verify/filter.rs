//! Filter of candidates: clauses that a match requires, and clauses that it excludes.
//!
//! Probed late, for the few documents that could enter. Where all matches are counted, excluded lists are cleared from
//! the bits of a window of documents.

use crate::block::apply::apply_filter;
use crate::block::bitset::mark;
use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::Demand;
use crate::context::cancel::{PROBE, StopRef};
use crate::context::scratch::Lent;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::BLOCK;
use crate::verify::probe::{Probe, damage_of};
use index::{IndexError, Segment};

/// Units of work for marking a list's documents of a window.
const MARKED: u32 = 16;

/// The excluded clauses, from up to four places in a plan.
pub(crate) type Excluded<'a> = [&'a [Node]; 4];

/// Required and excluded clauses on one segment, at least one.
pub(crate) struct Condition<'a> {
    required: Vec<Probe<'a>>,
    excluded: Vec<Probe<'a>>,
    /// The remaining documents of a window, for excluded clauses that are probed.
    left: Lent<CandidateBlock>,
}

impl<'a> Condition<'a> {
    /// Opens excluded clauses; `None` if no document of the segment matches any of them.
    pub(crate) fn excluding(
        plan: &'a Plan,
        nodes: Excluded<'a>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Condition<'a>>, IndexError> {
        let excluded = Probe::open_each(plan, nodes.into_iter().flatten(), segment, stop)?;
        Ok((!excluded.is_empty()).then(|| Condition {
            required: Vec::new(),
            excluded,
            left: Lent::take(),
        }))
    }

    /// Makes the condition that all of `nodes`, which the segment has, match, and that the exclusions of `other` hold.
    pub(crate) fn requiring(
        plan: &'a Plan,
        nodes: impl IntoIterator<Item = &'a Node>,
        other: Option<Condition<'a>>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Condition<'a>, IndexError> {
        Ok(Condition {
            required: Probe::open_each(plan, nodes, segment, stop)?,
            excluded: other.map_or(Vec::new(), |other| other.excluded),
            left: Lent::take(),
        })
    }

    /// Returns the number of required clauses that the segment has.
    pub(crate) fn required_count(&self) -> usize {
        self.required.len()
    }

    /// Returns whether the condition is the exclusion of one list.
    pub(crate) fn is_one_list(&self) -> bool {
        self.required.is_empty() && matches!(self.excluded.as_slice(), [Probe::List(_)])
    }

    /// Keeps the candidates of which the condition holds. Void where `stop` aborted.
    pub(crate) fn apply(&mut self, candidates: &mut CandidateBlock, stop: StopRef<'_>) {
        let required = self.required.iter_mut().map(|probe| (probe, false));
        let excluded = self.excluded.iter_mut().map(|probe| (probe, true));
        for (probe, is_excluded) in required.chain(excluded) {
            if candidates.count == 0 || stop.aborts(PROBE) {
                return;
            }
            apply_filter(probe, is_excluded, candidates, stop);
        }
    }

    /// Clears the documents of which the condition does not hold from the bits of documents from `base` on; `marks` is
    /// room for as many words. Void where `stop` aborted.
    pub(crate) fn strike(
        &mut self,
        base: u32,
        words: &mut [u64],
        marks: &mut Vec<u64>,
        stop: StopRef<'_>,
    ) {
        marks.clear();
        marks.resize(words.len(), 0);
        let mut others = Vec::new();
        for probe in &mut self.excluded {
            if stop.aborts(MARKED) {
                return;
            }
            if !mark_lists(probe, base, marks) {
                others.push(probe);
            }
        }
        for (word, mark) in words.iter_mut().zip(marks.iter()) {
            *word &= !mark;
        }
        for probe in others {
            strike_probed(probe, base, words, stop, &mut self.left);
        }
        for probe in &mut self.required {
            if stop.aborts(MARKED) {
                return;
            }
            marks.fill(0);
            match probe {
                Probe::Value(values) => values.mark(base, marks),
                probe => {
                    if !mark_lists(probe, base, marks) {
                        // What is left of a copy after its matches were struck does not match.
                        marks.copy_from_slice(words);
                        strike_probed(probe, base, marks, stop, &mut self.left);
                        for (mark, word) in marks.iter_mut().zip(words.iter()) {
                            *mark = word & !*mark;
                        }
                    }
                }
            }
            for (word, mark) in words.iter_mut().zip(marks.iter()) {
                *word &= mark;
            }
        }
    }

    /// Returns the first damage found so far.
    pub(crate) fn damage(&mut self) -> Result<(), IndexError> {
        damage_of(&mut self.required)?;
        damage_of(&mut self.excluded)
    }
}

/// Sets the bits of the documents of a list, or of any of some lists. Returns whether the clause is such.
fn mark_lists(probe: &mut Probe<'_>, base: u32, marks: &mut [u64]) -> bool {
    match probe {
        Probe::List(list) => mark(list, base, marks),
        Probe::Best(lists) => lists.mark(base, marks),
        Probe::Any(probes, _) if probes.iter().all(Probe::is_list) => {
            for probe in probes {
                mark_lists(probe, base, marks);
            }
        }
        _ => return false,
    }
    true
}

/// Clears the bits of the documents that match a clause, which is probed for all that are set.
fn strike_probed(
    probe: &mut Probe<'_>,
    base: u32,
    words: &mut [u64],
    stop: StopRef<'_>,
    left: &mut CandidateBlock,
) {
    left.clear();
    // A word adds 64 documents at most.
    for number in 0..words.len() {
        let mut rest = words[number];
        while rest != 0 {
            left.push(base + number as u32 * 64 + rest.trailing_zeros(), 0.0);
            rest &= rest - 1;
        }
        if left.count > BLOCK - 64 || number + 1 == words.len() {
            if stop.aborts(PROBE) {
                return;
            }
            left.probe(probe, Demand::Rows, stop);
            for &row in left.probed.rows() {
                let at = left.docs[row as usize] - base;
                words[at as usize / 64] &= !(1 << (at % 64));
            }
            left.clear();
        }
    }
}
