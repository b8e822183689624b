//! Filter of candidates: clauses that a match requires, and clauses that it excludes.
//!
//! Asked late, about the few documents that could enter; where all are counted, excluded lists are taken
//! away from a window of documents as bits.

use crate::block::answer::Answer;
use crate::block::bitset::mark;
use crate::context::cancel::StopRef;
use crate::context::scratch::Lent;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::BLOCK;
use crate::verify::probe::{Probe, damage_of};
use index::{IndexError, Segment};

/// Units of work for probing a list for a batch of documents, and for marking a list's documents of a window.
const PROBE: u32 = 1;
const MARKED: u32 = 16;

/// What is excluded, from up to three places in a plan.
pub(crate) type Excluded<'a> = [&'a [Node]; 3];

/// Clauses of a query on one segment that say which documents match: one at least.
pub(crate) struct Condition<'a> {
    required: Vec<Probe<'a>>,
    excluded: Vec<Probe<'a>>,
    answer: Lent<Answer>,
}

impl<'a> Condition<'a> {
    /// Opens clauses that are excluded; `None` where nothing of the segment matches any of them.
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
            answer: Lent::take(),
        }))
    }

    /// The condition that all of some clauses match, which the segment has, beside another.
    pub(crate) fn requiring(
        plan: &'a Plan,
        nodes: &'a [Node],
        other: Option<Condition<'a>>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Condition<'a>, IndexError> {
        Ok(Condition {
            required: Probe::open_each(plan, nodes, segment, stop)?,
            excluded: other.map_or(Vec::new(), |other| other.excluded),
            answer: Lent::take(),
        })
    }

    /// Whether all that it says is that one term is excluded.
    pub(crate) fn is_one_list(&self) -> bool {
        self.required.is_empty() && matches!(self.excluded.as_slice(), [Probe::List(_)])
    }

    /// Of some documents (increasing, 256 at most) those that match: writes their indexes to `kept`; how many
    /// they are. Void where `stop` aborted.
    pub(crate) fn allowed(
        &mut self,
        docs: &[u32],
        kept: &mut [u8; BLOCK],
        stop: StopRef<'_>,
    ) -> usize {
        // By document, how many of the required clauses it matches; more than all, where it is excluded.
        let mut matched = [0usize; BLOCK];
        for probe in &mut self.required {
            if stop.aborts(PROBE) {
                return 0;
            }
            probe.ask(docs, false, stop, &mut self.answer);
            for &index in self.answer.indexes() {
                matched[index as usize] += 1;
            }
        }
        for probe in &mut self.excluded {
            if stop.aborts(PROBE) {
                return 0;
            }
            probe.ask(docs, false, stop, &mut self.answer);
            for &index in self.answer.indexes() {
                matched[index as usize] = self.required.len() + 1;
            }
        }
        let mut count = 0;
        for (index, &matched) in matched[..docs.len()].iter().enumerate() {
            kept[count] = index as u8;
            count += usize::from(matched == self.required.len());
        }
        count
    }

    /// Takes what is excluded away from the bits of documents from `base` on; `marks` is room for as many. Void
    /// where `stop` aborted.
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
            match probe {
                Probe::List(list) => mark(list, base, marks),
                probe => others.push(probe),
            }
        }
        for (word, mark) in words.iter_mut().zip(marks.iter()) {
            *word &= !mark;
        }
        for probe in others {
            strike_asked(probe, base, words, stop, &mut self.answer);
        }
    }

    /// Damage met so far.
    pub(crate) fn damage(&mut self) -> Result<(), IndexError> {
        damage_of(&mut self.required)?;
        damage_of(&mut self.excluded)
    }
}

/// Takes the documents that match a clause away, asking about all that are left.
fn strike_asked(
    probe: &mut Probe<'_>,
    base: u32,
    words: &mut [u64],
    stop: StopRef<'_>,
    answer: &mut Answer,
) {
    let mut docs = [0u32; BLOCK];
    let mut count = 0;
    // A word adds 64 documents at most.
    for number in 0..words.len() {
        let mut rest = words[number];
        while rest != 0 {
            docs[count] = base + number as u32 * 64 + rest.trailing_zeros();
            count += 1;
            rest &= rest - 1;
        }
        if count > BLOCK - 64 || number + 1 == words.len() {
            if stop.aborts(PROBE) {
                return;
            }
            probe.ask(&docs[..count], false, stop, answer);
            for &index in answer.indexes() {
                let at = docs[index as usize] - base;
                words[at as usize / 64] &= !(1 << (at % 64));
            }
            count = 0;
        }
    }
}
