//! Tests of values that are asked of the leader's documents before the other words are.
//!
//! Where a filter's documents are listed, and fewer than those of the second word, most documents of the leader fail it: of
//! "things to do when you are bored" in one category of fifty, the frequent words are then probed for a fiftieth.

use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::{Clause, Demand, Probed};
use crate::context::cancel::StopRef;
use crate::context::scratch::Lent;
use crate::verify::probe::Probe;

/// The tests, those of the fewest documents first.
pub(super) struct Early<'a> {
    values: Vec<Probe<'a>>,
    probed: Lent<Probed>,
}

impl<'a> Early<'a> {
    /// Takes the tests out of the further required clauses whose documents are listed and fewer than `second`, the documents of
    /// the second word.
    pub(super) fn take(others: &mut Vec<Probe<'a>>, second: Option<u32>) -> Early<'a> {
        let is_early = |other: &Probe<'_>| match (other.listed_count(), second) {
            (Some(listed), Some(second)) => listed < second,
            _ => false,
        };
        let mut values: Vec<Probe<'a>> = others.extract_if(.., |other| is_early(other)).collect();
        values.sort_by_key(Probe::listed_count);
        Early {
            values,
            probed: Lent::take(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Keeps the candidates that pass, of documents just taken from the leader. Void where `stop` aborted.
    pub(super) fn apply(&mut self, candidates: &mut CandidateBlock, stop: StopRef<'_>) {
        for probe in &mut self.values {
            if candidates.count == 0 {
                return;
            }
            let docs = candidates.docs();
            probe.probe_rows(docs, &[], Demand::Rows, stop, &mut self.probed);
            candidates.keep_taken(self.probed.rows());
        }
    }
}
