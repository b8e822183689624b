//! Correction of a query that finds nothing, or that has a word which is rare beside a far more frequent one.
//!
//! ```text
//! answer ─► words near those typed ─► counts of the best corrected queries ─┬─► found nothing: the hits of the best one instead
//!           any index server          under the filters of the query        └─► otherwise offered: "did you mean"
//! ```

use crate::calls::{NearWordsRequest, PartError, TypedWord};
use crate::coordinator::coverage::lost_correction;
use crate::coordinator::outcome::{Outcome, Sample};
use crate::coordinator::prepared::PreparedQuery;
use crate::options::SearchOptions;
use crate::search_error::SearchError;
use crate::spelling::{Candidate, FAR_MORE, RARE_DOCUMENTS, Spelling, score};
use search::Operator;
use std::time::Instant;
use text::Analyzer;
use wire::answer::Span;
use wire::{DidYouMean, PhaseTimes, SearchAnswer, Total};

/// Search for the correction of a query. Like a coordinator it says what is due, and takes the replies.
pub struct Correction<'a> {
    prepared: &'a PreparedQuery,
    analyzer: Analyzer,
    spelling: Spelling<'a>,
    begun: Instant,
    /// Whether the query found no document at all.
    is_empty: bool,
    /// Documents that have all of the words typed.
    total: u64,
    /// Failure of something that it asked for.
    lost: Option<PartError>,
    state: State,
}

enum State {
    /// The words of the index near those typed are looked for.
    Looking,
    /// The matches of each candidate are counted.
    Counting(Vec<Candidate>),
    /// No document has all words of a candidate; the best one is to find some by its operator.
    Relaxing(Candidate),
}

/// Next step of a correction.
#[derive(Debug)]
pub enum NextProbe {
    /// Answers of these searches, in order.
    Ask(Vec<PreparedQuery>),
    /// End: the correction, or `None` where there is none.
    Done(Option<Corrected>),
}

/// Correction of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Corrected {
    /// The query whose hits are shown in place of none.
    Instead(String),
    /// The query that is offered beside the hits.
    Offered(DidYouMean),
}

impl<'a> Correction<'a> {
    /// Returns a correction of the query of an outcome, where it asks for one and may have one.
    pub fn of(prepared: &'a PreparedQuery, outcome: &Outcome) -> Option<Correction<'a>> {
        if !prepared
            .options
            .may_correct(&outcome.answer, outcome.is_empty)
        {
            return None;
        }
        let analyzer = prepared.analyzer?;
        let spelling = Spelling::of(&prepared.query.text, analyzer)?;
        Some(Correction {
            prepared,
            analyzer,
            spelling,
            begun: Instant::now(),
            is_empty: outcome.is_empty,
            total: outcome.answer.total.value,
            lost: None,
            state: State::Looking,
        })
    }

    /// Returns the request for the words near those typed, to any index server.
    pub fn near_words(&self, deadline: Instant) -> NearWordsRequest {
        NearWordsRequest {
            words: self.spelling.words(),
            apart: self.total == 0 && !self.prepared.options.is_filtered(),
            deadline,
        }
    }

    /// Takes what the index knows of the words, and returns what is due now.
    pub fn known(&mut self, typed: Result<Vec<TypedWord>, PartError>) -> NextProbe {
        let typed = match typed {
            Ok(typed) => typed,
            // A server of before knows no such words, and would never correct the query.
            Err(PartError::Protocol { .. }) => Vec::new(),
            Err(error) => {
                self.lost = Some(error);
                Vec::new()
            }
        };
        let candidates = self.spelling.candidates(&typed);
        if candidates.is_empty() {
            return NextProbe::Done(None);
        }
        let probes = candidates.iter();
        let probes = probes
            .map(|one| self.probe(&one.text, Operator::And, 0))
            .collect();
        self.state = State::Counting(candidates);
        NextProbe::Ask(probes)
    }

    /// Takes the answers of the searches asked for, and returns what is due now. A search without a whole answer ends the
    /// correction.
    pub fn answered(&mut self, answers: Vec<Sample>) -> NextProbe {
        let answers: Option<Vec<SearchAnswer>> = answers.into_iter().collect();
        let Some(answers) = answers else {
            self.lost = Some(PartError::Expired);
            return NextProbe::Done(None);
        };
        match std::mem::replace(&mut self.state, State::Looking) {
            State::Looking => NextProbe::Done(None),
            State::Counting(candidates) => self.counted(candidates, &answers),
            State::Relaxing(candidate) => {
                let finds_some = answers.iter().any(|found| !found.numbers.is_empty());
                let none = Total {
                    value: 0,
                    exact: true,
                };
                NextProbe::Done(finds_some.then(|| self.corrected(candidate, none)))
            }
        }
    }

    /// Chooses the best candidate by the documents that have all of its words.
    fn counted(&mut self, candidates: Vec<Candidate>, answers: &[SearchAnswer]) -> NextProbe {
        let counted = candidates.iter().zip(answers);
        let found = counted.filter(|(_, answer)| answer.total.value > 0);
        let rated =
            found.map(|(one, answer)| (score(answer.total.value, one.cost), one, answer.total));
        // Of equally good ones, the first.
        let best = rated.reduce(|best, other| if other.0 > best.0 { other } else { best });
        if let Some((_, best, total)) = best {
            let least = self.total.saturating_mul(FAR_MORE);
            let is_worth_it = total.value >= least || !self.requires_all();
            return NextProbe::Done(is_worth_it.then(|| self.corrected(best.clone(), total)));
        }
        let operator = self.prepared.options.operator;
        match candidates.into_iter().next() {
            Some(best) if best.is_known && operator != Operator::And => {
                let probe = self.probe(&best.text, operator, 1);
                self.state = State::Relaxing(best);
                NextProbe::Ask(vec![probe])
            }
            _ => NextProbe::Done(None),
        }
    }

    fn corrected(&self, candidate: Candidate, total: Total) -> Corrected {
        let options = &self.prepared.options;
        match self.is_empty && options.correct && candidate.is_unknown {
            true => Corrected::Instead(candidate.text),
            false => Corrected::Offered(DidYouMean {
                query: candidate.text,
                total,
            }),
        }
    }

    /// Returns whether the total of the query is that of the documents with all words.
    fn requires_all(&self) -> bool {
        matches!(
            self.prepared.options.operator,
            Operator::And | Operator::Auto
        )
    }

    fn probe(&self, words: &str, operator: Operator, k: usize) -> PreparedQuery {
        self.prepared.probe(words, self.analyzer, operator, k)
    }

    /// Ends the correction of an outcome: its answer has the time that this took, as a phase and a step. Where hits of a corrected
    /// query might stand in place of none, had everything come that was asked for, the answer says so.
    ///
    /// # Errors
    /// Such an answer, where the client refuses partial ones.
    pub fn end(self, outcome: &mut Outcome) -> Result<(), SearchError> {
        let options = &self.prepared.options;
        let answer = &mut outcome.answer;
        if let Some(error) = self.lost
            && self.is_empty
            && options.correct
        {
            answer.timed_out |= matches!(error, PartError::Expired);
            answer.degraded.push(lost_correction(&error));
            if !options.partial {
                return Err(error.into_search_error("the correction of the query"));
            }
            outcome.complete = None;
        }
        let phases = &mut answer.phases_us;
        phases.spelling = self.begun.elapsed().as_micros() as u64;
        phases.total = self.prepared.arrived.elapsed().as_micros() as u64;
        if let Some(steps) = &mut answer.trace {
            steps.push(Span {
                name: "spelling".into(),
                part: String::new(),
                start_us: self.prepared.timeline.since_us(self.begun),
                duration_us: answer.phases_us.spelling,
                filters: Vec::new(),
            });
        }
        Ok(())
    }
}

/// Returns the answer of a corrected query as that of the one typed, whose own answer is `typed`: with the time of both.
pub fn shown_instead(
    typed: SearchAnswer,
    corrected: SearchAnswer,
    arrived: Instant,
) -> SearchAnswer {
    let phases_us = PhaseTimes {
        total: arrived.elapsed().as_micros() as u64,
        ..typed.phases_us.plus(&corrected.phases_us)
    };
    let trace = match (typed.trace, corrected.trace) {
        (Some(first), Some(then)) => Some(first.into_iter().chain(then).collect()),
        _ => None,
    };
    SearchAnswer {
        query: typed.query,
        corrected: Some(corrected.query),
        phases_us,
        trace,
        schedule: typed
            .schedule
            .into_iter()
            .chain(corrected.schedule)
            .collect(),
        ..corrected
    }
}

impl SearchOptions {
    /// Returns whether a corrected query may stand beside an answer or in its place: it is whole, and no document or few have
    /// all words. `is_empty` says that no document has any that would do.
    pub fn may_correct(&self, answer: &SearchAnswer, is_empty: bool) -> bool {
        let is_whole = answer.coverage >= 1.0 && !answer.timed_out;
        let may_replace = self.correct && is_empty && !self.as_you_type;
        let is_suspect = match self.operator {
            Operator::And | Operator::Auto => {
                answer.total.exact && answer.total.value <= RARE_DOCUMENTS
            }
            // Any word finds documents, and a misspelled one is not seen in their number.
            Operator::Or | Operator::Most(_) => true,
        };
        let may_offer = self.suggest && self.start == 0 && is_suspect;
        is_whole && (may_replace || may_offer)
    }
}
