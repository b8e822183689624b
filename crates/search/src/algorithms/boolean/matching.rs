//! Matches of a combination in one block of the leader, and the candidates among them.
//!
//! Each kind of clause is asked about what those before it left: words, phrases, whatever else is required, what
//! is excluded, what is optional.

use crate::algorithms::boolean::state::{Bounded, Mixed, Most};
use crate::block::matches::Matches;
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::context::cancel::StopRef;
use crate::context::wanted::Wanted;
use crate::join::conjunction::Sought;
use crate::plan::scorer::BLOCK;
use crate::verify::probe::Probe;
use codec::lanes;
use index::Segment;
use std::ops::Range;

impl<'a> Mixed<'a> {
    /// Finds all matches of a block of the leader, deleted ones among them.
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
        self.words.find_matches(block, range, None, sought);
        self.words.matches.sums.fill(0.0);
        self.check_phrases(f32::NEG_INFINITY, f32::INFINITY, stop);
        self.ask_others(scored, stop);
        self.exclude(stop);
    }

    /// Finds the matches of a block of the leader that can enter, as far as that is known without what is
    /// optional.
    pub(super) fn match_best(
        &mut self,
        block: usize,
        range: &Range<u32>,
        least: Option<f32>,
        context: &Context<'_>,
    ) {
        let (threshold, most) = (context.threshold(), self.known_most(context.threshold()));
        // What the leader scores is known where it was asked for.
        let (sought, first) = match least.is_some() && self.adds[0].is_some() {
            true => (Sought::Scores, 1),
            false => (Sought::Places, 0),
        };
        self.words.matches.sums.fill(0.0);
        self.words.find_matches(block, range, least, sought);
        self.score_words(first, threshold, most.phrases + most.others + most.optional);
        let later = self.add_optional_words(threshold, most, context.stop());
        self.check_phrases(threshold, later, context.stop());
        self.ask_others(true, context.stop());
        self.exclude(context.stop());
    }

    /// Adds what the words from number `first` on score, and keeps the matches that can reach the threshold
    /// with what comes `later`.
    pub(super) fn score_words(&mut self, first: usize, threshold: f32, later: f32) {
        let lists_count = self.words.lists.len();
        let matches = &mut *self.words.matches;
        let mut rest = later + self.adds[first..].iter().flatten().sum::<f32>();
        for (number, list) in self.words.lists.iter_mut().enumerate().skip(first) {
            let Some(most) = self.adds[number] else {
                continue;
            };
            if matches.count == 0 {
                return;
            }
            matches.add(number, list);
            // Exact: all of them lie on the grid.
            rest -= most;
            keep_reaching(matches, threshold - rest, lists_count);
        }
    }

    /// Adds what optional words score, where phrases would be checked without: positions are read only of what can
    /// enter with them. Returns the maximum that comes after the phrases.
    fn add_optional_words(&mut self, threshold: f32, most: Most, stop: StopRef<'_>) -> f32 {
        let mut later = most.others + most.optional;
        if self.phrases.is_empty() {
            return later;
        }
        let lists_count = self.words.lists.len();
        let matches = &mut *self.words.matches;
        for Bounded {
            clause,
            most: added,
        } in &mut self.optional
        {
            if let Probe::List(_) = clause {
                later -= *added;
                clause.ask(&matches.docs[..matches.count], true, stop, &mut self.answer);
                self.answer.add_to(&mut matches.sums);
                keep_reaching(matches, threshold - later - most.phrases, lists_count);
            }
        }
        later
    }

    /// Keeps the matches that hold the phrases, and adds what those score; leaves out what cannot reach the
    /// threshold with what comes `later`.
    fn check_phrases(&mut self, threshold: f32, later: f32, stop: StopRef<'_>) {
        let lists_count = self.words.lists.len();
        let mut rest = later + self.phrases.iter().map(|phrase| phrase.most).sum::<f32>();
        for phrase in &mut self.phrases {
            rest -= phrase.most;
            let least = threshold - rest;
            phrase
                .clause
                .check(&mut self.words, least, stop, &mut self.answer);
            self.answer.keep_found(&mut self.words.matches, lists_count);
        }
    }

    /// Keeps the matches that the rest of what is required holds.
    fn ask_others(&mut self, scored: bool, stop: StopRef<'_>) {
        let lists_count = self.words.lists.len();
        let matches = &mut *self.words.matches;
        for other in &mut self.others {
            let docs = &matches.docs[..matches.count];
            other.clause.ask(docs, scored, stop, &mut self.answer);
            self.answer.keep_found(matches, lists_count);
        }
    }

    /// Drops the matches that are excluded.
    fn exclude(&mut self, stop: StopRef<'_>) {
        let matches = &mut *self.words.matches;
        if let Some(condition) = &mut self.condition
            && matches.count > 0
        {
            let mut kept = [0; BLOCK];
            let count = condition.allowed(&matches.docs[..matches.count], &mut kept, stop);
            matches.keep(&kept[..count], self.words.lists.len());
        }
    }

    /// Adds what is optional to the matches, as far as that was not done before, and offers them.
    pub(super) fn offer<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
        wanted: Wanted,
    ) {
        let mut rest = self.known_most(top.threshold()).optional;
        let has_words = wanted == Wanted::Hits && !self.phrases.is_empty();
        let (matches, batch) = (&*self.words.matches, &mut *self.batch);
        let threshold = top.threshold();
        batch.take_scored(
            &matches.docs[..matches.count],
            &matches.sums[..matches.count],
            threshold - rest,
        );
        for Bounded { clause, most } in &mut self.optional {
            if batch.count == 0 {
                return;
            }
            rest -= *most;
            match clause {
                Probe::List(_) if has_words => continue,
                Probe::List(list) => batch.add(list, rest, threshold),
                probe => {
                    probe.ask(
                        &batch.docs[..batch.count],
                        true,
                        top.stop(),
                        &mut self.answer,
                    );
                    self.answer.add_to(&mut batch.sums);
                }
            }
            batch.retain(threshold - rest);
        }
        if top.stop().is_aborted() {
            batch.count = 0;
            return;
        }
        batch.offer(segment, top);
    }
}

fn keep_reaching(matches: &mut Matches, least: f32, lists_count: usize) {
    let mut kept = [0; BLOCK];
    let count = lanes::at_least(&matches.sums[..matches.count], least, &mut kept);
    matches.keep(&kept[..count], lists_count);
}
