//! The one search path: from a query to its answer, by calls to the parts of an index.
//!
//! ```text
//! search of all parts ─► merge, limit sites ─┬─► details ─► counts of sites ─┐
//!        ▲                    │              ├─► summaries ──────────────────┼─► answer
//!        └── k grows ◄────────┘              └─► facets ─────────────────────┘
//!   too few are certain, and more may match
//! ```
//!
//! A [`Coordinator`] knows neither threads nor networks. It says which calls are due, takes their replies in any order, and
//! makes the answer of them; what a part did not give is named in it. A driver makes the calls: [`Engine`](crate::Engine)
//! on the calling thread, a front-end by messages to servers, with deadlines, replicas, cache and log. So both give one
//! answer.

mod call;
mod correction;
mod coverage;
mod hits;
mod layout;
mod outcome;
mod prepared;
mod proof;
mod ranking;
mod ruling;
mod scope;
mod shown;
mod timeline;
mod titles;

pub use call::{Call, Limits, Replied, Reply};
pub use correction::{Corrected, Correction, NextProbe, shown_instead};
pub use coverage::Complete;
pub use layout::Layout;
pub use outcome::{Outcome, Sample};
pub use prepared::{FIRST_SHARE, FacetCall, IndexFacts, PreparedQuery, QuerySource};
pub use timeline::Timeline;
pub use titles::{TITLES_K_MAX, Titles};

use crate::coordinator::ranking::{Found, Next, Ranking, Settled};
use crate::coordinator::scope::{Record, Scope};
use crate::coordinator::shown::Showing;
use crate::cursor::Epoch;
use crate::returned::HitContents;
use crate::search_error::SearchError;
use std::sync::Arc;
use std::time::Instant;
use wire::{Hit, SearchAnswer, Total};

/// One attempt at a query, in one generation of the index.
pub struct Coordinator<'a> {
    scope: Scope<'a>,
    record: Record,
    state: State,
}

enum State {
    /// Documents with all words are searched for.
    Searching(Ranking),
    /// Documents with some of the words are searched for, beside those with all.
    Relaxing {
        first: Settled,
        further: Ranking,
        begun: Instant,
    },
    /// The ranking is final; details, summaries and facets are not there yet.
    Showing(Box<Showing>),
    /// No call is due or under way.
    Ended,
}

impl<'a> Coordinator<'a> {
    /// Returns a coordinator before its first call.
    pub fn new(
        prepared: &'a PreparedQuery,
        layout: &'a (dyn Layout + Sync),
        limits: Limits,
    ) -> Coordinator<'a> {
        let scope = Scope {
            prepared,
            layout,
            limits,
        };
        let (query, counted) = (&prepared.query, prepared.options.returned.counted);
        let ranking = Ranking::new(scope, query, counted, prepared.generation());
        let mut record = Record::default();
        record.phases.parse = prepared.parse_us;
        Coordinator {
            scope,
            record,
            state: State::Searching(ranking),
        }
    }

    /// Returns the first call.
    pub fn first_call(&self) -> Option<Call> {
        match &self.state {
            State::Searching(ranking) => Some(Call::SearchAll {
                query: Arc::clone(&ranking.query),
                request: ranking.request.clone(),
            }),
            _ => None,
        }
    }

    /// Returns the query.
    pub fn prepared(&self) -> &'a PreparedQuery {
        self.scope.prepared
    }

    /// Takes the replies to a call, and returns the calls that are due now. Where none is due and none is under way, the
    /// search has [ended](Coordinator::finish).
    ///
    /// # Errors
    /// A refusal, and the failure of all parts.
    pub fn reply(&mut self, reply: Reply, now: Instant) -> Result<Vec<Call>, SearchError> {
        let state = std::mem::replace(&mut self.state, State::Ended);
        match (state, reply) {
            (
                State::Searching(mut ranking),
                Reply::SearchedAll {
                    partitions,
                    failures,
                    generation,
                },
            ) => {
                ranking.request.generation = generation;
                ranking.take_first(partitions, failures, self.scope, &mut self.record)?;
                self.settle_first(ranking, now)
            }
            (State::Searching(mut ranking), Reply::Searched(replies)) => {
                ranking.take_again(replies, self.scope, &mut self.record)?;
                self.settle_first(ranking, now)
            }
            (
                State::Relaxing {
                    first,
                    mut further,
                    begun,
                },
                Reply::Searched(replies),
            ) => {
                further.take_again(replies, self.scope, &mut self.record)?;
                self.settle_further(first, further, begun, now)
            }
            (State::Showing(mut showing), reply) => {
                let calls = showing.reply(reply, self.scope, &mut self.record.phases)?;
                self.state = State::Showing(showing);
                Ok(calls)
            }
            _ => Err(SearchError::Unavailable {
                part: "the coordinator".into(),
                reason: "a reply came to no call; please report this".into(),
            }),
        }
    }

    /// Merges the replies for all words; then searches again, or for some words, or goes on to the fetch phase.
    fn settle_first(
        &mut self,
        mut ranking: Ranking,
        now: Instant,
    ) -> Result<Vec<Call>, SearchError> {
        let prepared = self.scope.prepared;
        let mut first = match ranking.settle(self.scope, now, &mut self.record) {
            Next::Call(call) => {
                self.state = State::Searching(ranking);
                return Ok(vec![call]);
            }
            Next::Settled(settled) => settled,
        };
        if let Some(query) = &prepared.some_words
            && prepared.options.k > 0
            && !first.is_first_class(prepared)
        {
            if now < self.scope.limits.cut_off {
                let generation = ranking.request.generation;
                let mut further = Ranking::new(self.scope, query, false, generation);
                let call = further.beside(&first);
                self.state = State::Relaxing {
                    first,
                    further,
                    begun: Instant::now(),
                };
                return Ok(vec![call]);
            }
            first.give_up(self.scope, &mut self.record);
        }
        let found = Found::new(prepared, &ranking, first);
        Ok(self.show(found))
    }

    fn settle_further(
        &mut self,
        first: Settled,
        mut further: Ranking,
        begun: Instant,
        now: Instant,
    ) -> Result<Vec<Call>, SearchError> {
        if !further.follow(&first, self.scope.prepared) {
            let found = Found::of_first_class(self.scope.prepared, &further, first);
            return Ok(self.show(found));
        }
        match further.settle(self.scope, now, &mut self.record) {
            Next::Call(call) => {
                self.state = State::Relaxing {
                    first,
                    further,
                    begun,
                };
                Ok(vec![call])
            }
            Next::Settled(all) => {
                let timeline = &self.scope.prepared.timeline;
                timeline.note("search for some words", String::new, begun);
                let found = Found::joined(self.scope.prepared, &further, first, all);
                Ok(self.show(found))
            }
        }
    }

    fn show(&mut self, found: Found) -> Vec<Call> {
        let (mut showing, calls) = Showing::new(found, self.scope);
        showing.end_where_done(&mut self.record.phases);
        self.state = State::Showing(Box::new(showing));
        calls
    }

    /// Returns whether a part had closed the generation of the query, so that a newer one may give a whole answer.
    pub fn generation_is_gone(&self) -> bool {
        let of_shown = match &self.state {
            State::Showing(showing) => showing.generation_is_gone(),
            _ => false,
        };
        of_shown || self.record.coverage.generation_is_gone()
    }

    /// Returns the answer, once all calls have their replies.
    ///
    /// # Errors
    /// An answer that is larger than allowed, or lacks a part where the client refuses that.
    pub fn finish(mut self) -> Result<Outcome, SearchError> {
        let State::Showing(showing) = self.state else {
            return Err(SearchError::Unavailable {
                part: "the coordinator".into(),
                reason: "the search ended before its answer; please report this".into(),
            });
        };
        let prepared = self.scope.prepared;
        let options = &prepared.options;
        let (found, mut shown, losses) = showing.finish(options);
        for (lacks, chunks, error) in losses {
            self.record.coverage.lacks(lacks, &chunks, &error);
        }
        let complete = self
            .record
            .coverage
            .complete(found.proof.as_ref(), shown.proof.take());
        if !options.partial
            && let Some(refusal) = self.record.coverage.refusal()
        {
            return Err(refusal);
        }
        let mut warnings = prepared.warnings.clone();
        let share = self.record.coverage.share();
        let total = Total {
            value: found.matches_count,
            exact: found.count_is_exact && share == 1.0,
        };
        let generation = found.generation;
        // With a k of 0 no document with some of the words is looked for.
        let is_known = options.k > 0 || prepared.some_words.is_none();
        let is_empty = is_known && total.exact && total.value == 0 && found.listed == 0;
        let (after, moved) = cursors(prepared, &found);
        let (more_hits, some_words_from) = (found.more_hits, found.some_words_from);
        let hides_some = found.hides_some;
        let facets = std::mem::take(&mut shown.facets);
        let (hits, numbers) = match prepared.options.returned.hits {
            HitContents::Numbers => (Vec::new(), hits::numbers(&found)),
            _ => (
                hits::hits(found, shown, prepared, &mut warnings),
                Vec::new(),
            ),
        };
        check_size(&hits, options.explain, self.scope.limits.bytes_max)?;
        let mut phases = self.record.phases;
        phases.total = prepared.arrived.elapsed().as_micros() as u64;
        if let Some(times) = prepared.timeline.handlers_us() {
            phases.search_cpu = Some(times.cpu);
            phases.run_queue = Some(times.run_queue);
        }
        let (trace, schedule) = match prepared.timeline.take_steps() {
            Some(steps) => (Some(steps.spans), steps.schedules),
            None => (None, Vec::new()),
        };
        let answer = SearchAnswer {
            query: prepared.query.text.clone(),
            total,
            hits,
            numbers,
            some_words_from,
            facets,
            corrected: None,
            did_you_mean: None,
            more_hits,
            hides_some,
            after,
            moved,
            phases_us: phases,
            warnings,
            rules: prepared.rules.clone(),
            coverage: share,
            timed_out: self.record.coverage.timed_out(),
            degraded: self.record.coverage.into_degraded(),
            trace,
            schedule,
        };
        Ok(Outcome {
            answer,
            complete,
            is_empty,
            generation,
        })
    }
}

/// Returns the cursor of the last hit found, and whether the page is not exactly the one after the page before.
fn cursors(prepared: &PreparedQuery, found: &Found) -> (Option<String>, bool) {
    let Some(cursors) = &prepared.cursors else {
        return (None, false);
    };
    let epoch = Epoch {
        index_id: prepared.index_id(),
        generation: found.generation,
    };
    let after = found.page.last().map(|last| {
        let values = found.sort_values.last().cloned().unwrap_or_default();
        cursors.next(&last.hit, values, found.page.len(), epoch)
    });
    (after, cursors.is_moved(epoch, &prepared.start))
}

/// Refuses hits whose texts alone exceed the limit on an answer, before they are serialized. Their fields are cut where
/// they are written, once it is known which of them are asked for.
fn check_size(hits: &[Hit], explain: bool, bytes_max: usize) -> Result<(), SearchError> {
    let texts = |hit: &Hit| {
        let texts = [&hit.url, &hit.title, &hit.title_html, &hit.summary];
        texts.iter().map(|text| text.len()).sum::<usize>()
    };
    match hits.iter().map(texts).sum::<usize>() > bytes_max {
        true => Err(SearchError::too_large(explain, bytes_max)),
        false => Ok(()),
    }
}
