//! Result of probing a clause for the documents of a block: the rows that match, and their scores.

use crate::block::term_scorer::{Found, List};
use crate::context::cancel::StopRef;
use crate::context::scratch::kept_by_thread;
use crate::plan::scorer::BLOCK;
use index::Place;
use std::ops::Range;

/// The rows of a block that a clause matches.
#[derive(Debug)]
pub(crate) struct Probed {
    /// The rows found, increasing.
    pub(crate) found: Found,
    /// The scores of the rows found, where the probe was for scores.
    pub(crate) scores: [f32; BLOCK],
    docs: [u32; BLOCK],
    places: [Place; BLOCK],
    pub(super) frequencies: [u32; BLOCK],
}

kept_by_thread!(Probed);

impl Default for Probed {
    fn default() -> Probed {
        Probed {
            found: Found::default(),
            scores: [0.0; BLOCK],
            docs: [0; BLOCK],
            places: [Place::default(); BLOCK],
            frequencies: [1; BLOCK],
        }
    }
}

impl Probed {
    /// Returns the rows found, increasing.
    #[inline]
    pub(crate) fn rows(&self) -> &[u8] {
        &self.found.wanted[..self.found.count]
    }

    /// Adds a row after those found so far.
    pub(crate) fn push(&mut self, row: u8, score: f32) {
        self.found.wanted[self.found.count] = row;
        self.scores[self.found.count] = score;
        self.found.count += 1;
    }

    /// Finds the rows of `docs` (increasing, 256 at most) that a list holds, and scores them. A block of the list is
    /// read only if `matters` says so, as in [`List::probe`].
    #[inline]
    pub(crate) fn look_up<'a>(
        &mut self,
        list: &mut List<'a>,
        docs: &[u32],
        matters: impl FnMut(Range<usize>, &mut List<'a>, usize) -> bool,
    ) {
        let Probed {
            found,
            scores,
            docs: held,
            places,
            frequencies,
        } = self;
        list.probe(docs, found, Some(places), matters);
        let count = found.count;
        if count == 0 {
            return;
        }
        let frequencies = &mut frequencies[..count];
        list.blocks.lookup(&places[..count], frequencies);
        for (held, &row) in held.iter_mut().zip(&found.wanted[..count]) {
            *held = docs[row as usize];
        }
        list.scorer
            .score_many(&held[..count], frequencies, &mut scores[..count]);
    }
}

/// The demand of a probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Demand {
    /// The rows that match.
    Rows,
    /// The rows that match, and their scores.
    Scores,
    /// As `Scores`; rows may be missing whose sum cannot reach `threshold` with this clause and with `later`, the
    /// upper bound of the clauses after it.
    Competitive { threshold: f32, later: f32 },
}

impl Demand {
    /// Returns the demand of a clause whose score counts together with those of others: a row may matter for what they
    /// come to, so none of them may leave it out.
    #[inline]
    pub(crate) fn of_part(self) -> Demand {
        match self {
            Demand::Rows => Demand::Rows,
            Demand::Scores | Demand::Competitive { .. } => Demand::Scores,
        }
    }
}

/// A clause that can be probed for a block of documents.
pub(crate) trait Clause {
    /// Finds the rows of `docs` (increasing, 256 at most) that match; `sums` are their scores so far. Void where `stop`
    /// aborted.
    fn probe_rows(
        &mut self,
        docs: &[u32],
        sums: &[f32],
        demand: Demand,
        stop: StopRef<'_>,
        probed: &mut Probed,
    );
}

impl Clause for List<'_> {
    #[inline]
    fn probe_rows(
        &mut self,
        docs: &[u32],
        sums: &[f32],
        demand: Demand,
        _: StopRef<'_>,
        probed: &mut Probed,
    ) {
        match demand {
            Demand::Rows => self.probe(docs, &mut probed.found, None, |_, _, _| true),
            Demand::Scores => probed.look_up(self, docs, |_, _, _| true),
            Demand::Competitive { threshold, later } => {
                probed.look_up(self, docs, |rows, list, block| {
                    let most = list.bound(block) + later;
                    sums[rows].iter().any(|sum| sum + most >= threshold)
                });
            }
        }
    }
}
