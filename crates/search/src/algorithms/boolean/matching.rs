//! Candidates of a combination in one block of its leader, narrowed clause by clause.
//!
//! Each step probes one kind of clause for the candidates that the steps before left: words, phrases, further required
//! clauses, excluded clauses, optional clauses.

use crate::algorithms::boolean::state::{Bounded, Mixed, Most};
use crate::block::apply::{apply_optional, apply_required};
use crate::block::candidate_block::CandidateBlock;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::context::cancel::StopRef;
use crate::context::wanted::Wanted;
use crate::join::conjunction::Sought;
use crate::verify::probe::Probe;
use index::Segment;
use std::ops::Range;

impl<'a> Mixed<'a> {
    /// Finds all matches of a block of the leader, deleted documents included; with `scored`, adds the scores of the
    /// required clauses that are not words.
    pub(super) fn match_all(
        &mut self,
        block: usize,
        range: &Range<u32>,
        scored: bool,
        stop: StopRef<'_>,
    ) {
        let sought = match scored || !self.phrases.is_empty() {
            true => Sought::Places,
            false => Sought::Documents,
        };
        let sieve = |candidates: &mut CandidateBlock| self.early.apply(candidates, stop);
        self.words
            .find_matches_through(sieve, block, range, None, sought);
        self.words.candidates.clear_sums();
        self.check_phrases(f32::NEG_INFINITY, f32::INFINITY, stop);
        self.require_others(scored, stop);
        self.exclude(stop);
    }

    /// Finds the matches of a block of the leader that can enter, judged by everything but the optional clauses. With
    /// `least`, only documents that score that or more in the leader are considered.
    pub(super) fn match_best(
        &mut self,
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        context: &Context<'_>,
    ) {
        let (threshold, most) = (context.threshold(), self.known_most(context.threshold()));
        // With a minimum the leader was scored already.
        let (sought, first) = match least.is_some() && self.adds[0].is_some() {
            true => (Sought::Scores, 1),
            false => (Sought::Places, 0),
        };
        let stop = context.stop();
        let sieve = |candidates: &mut CandidateBlock| self.early.apply(candidates, stop);
        self.words
            .find_matches_through(sieve, block, range, least, sought);
        if sought != Sought::Scores {
            self.words.candidates.clear_sums();
        }
        self.score_words(first, threshold, most.phrases + most.others + most.optional);
        let later = self.add_optional_words(threshold, most, context.stop());
        self.check_phrases(threshold, later, context.stop());
        self.require_others(true, context.stop());
        self.exclude(context.stop());
    }

    /// Adds the scores of the words from number `first` on. After each, drops the candidates that cannot reach the
    /// threshold with `later`, the upper bound of the clauses after the words.
    pub(super) fn score_words(&mut self, first: usize, threshold: f32, later: f32) {
        let candidates = &mut *self.words.candidates;
        let mut rest = later + self.adds[first..].iter().flatten().sum::<f32>();
        for (number, list) in self.words.lists.iter_mut().enumerate().skip(first) {
            let Some(most) = self.adds[number] else {
                continue;
            };
            if candidates.count == 0 {
                return;
            }
            candidates.add_placed(number, list);
            // Exact: all of them lie on the grid.
            rest -= most;
            candidates.retain(threshold - rest);
        }
    }

    /// Adds the scores of optional words before phrases are verified, so that positions are read of fewer candidates.
    /// Returns the upper bound of the clauses after the phrases.
    fn add_optional_words(&mut self, threshold: f32, most: Most, stop: StopRef<'_>) -> f32 {
        let mut later = most.others + most.optional;
        if self.phrases.is_empty() {
            return later;
        }
        let candidates = &mut *self.words.candidates;
        for Bounded {
            clause,
            most: added,
        } in &mut self.optional
        {
            if let Probe::List(list) = clause {
                later -= *added;
                apply_optional(
                    &mut **list,
                    threshold,
                    later + most.phrases,
                    candidates,
                    stop,
                );
            }
        }
        later
    }

    /// Keeps the candidates that hold the phrases, and adds the phrases' scores. Drops those that cannot reach the
    /// threshold with `later`, the upper bound of the clauses after the phrases.
    fn check_phrases(&mut self, threshold: f32, later: f32, stop: StopRef<'_>) {
        let mut rest = later + self.phrases.iter().map(|phrase| phrase.most).sum::<f32>();
        for phrase in &mut self.phrases {
            rest -= phrase.most;
            phrase.clause.check(&mut self.words, threshold - rest, stop);
            self.words.candidates.keep_probed();
            self.words.candidates.add_probed();
        }
    }

    /// Keeps the candidates that the other required clauses match.
    fn require_others(&mut self, scored: bool, stop: StopRef<'_>) {
        for other in &mut self.others {
            apply_required(&mut other.clause, scored, &mut self.words.candidates, stop);
        }
    }

    /// Drops the candidates that are excluded.
    fn exclude(&mut self, stop: StopRef<'_>) {
        if let Some(condition) = &mut self.condition {
            condition.apply(&mut self.words.candidates, stop);
        }
    }

    /// Adds the scores of the optional clauses that were not applied before, and offers the candidates.
    pub(super) fn offer<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) {
        let mut rest = self.known_most(top.threshold()).optional;
        let has_words = wanted == Wanted::Hits && !self.phrases.is_empty();
        let threshold = top.threshold();
        let candidates = &mut *self.words.candidates;
        // Nothing is read by place from here on.
        candidates.placed = 0..0;
        candidates.retain(threshold - rest);
        for Bounded { clause, most } in &mut self.optional {
            if candidates.count == 0 {
                return;
            }
            rest -= *most;
            match clause {
                Probe::List(_) if has_words => continue,
                clause => apply_optional(clause, threshold, rest, candidates, top.stop()),
            }
        }
        if top.stop().is_aborted() {
            candidates.clear();
            return;
        }
        candidates.offer(segment, top);
    }
}
