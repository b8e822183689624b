//! "Did you mean": a corrected query where one finds nothing.

use crate::coordinator::outcome::Sample;
use crate::coordinator::prepared::PreparedQuery;
use crate::spelling::{Attempt, SAMPLE_HITS, Spelling};
use search::Operator;
use text::Analyzer;
use wire::{DidYouMean, SearchAnswer};

/// Search for the correction of a query that finds nothing. Like a coordinator it says which searches are due, and
/// takes their answers.
pub struct Suggestion<'a> {
    prepared: &'a PreparedQuery,
    analyzer: Analyzer,
    spelling: Spelling<'a>,
    state: State,
}

enum State {
    /// The matches of each word are counted.
    Counting,
    /// Hits of nearly right words are looked at, attempt by attempt.
    Trying(std::vec::IntoIter<Attempt>, Option<Attempt>),
    /// The matches of the corrected query are counted.
    Proving(String),
}

/// Next step of a suggestion.
#[derive(Debug)]
pub enum NextProbe {
    /// Answers of these searches, in order.
    Ask(Vec<PreparedQuery>),
    /// End: the correction, or `None` where there is none.
    Done(Option<DidYouMean>),
}

impl<'a> Suggestion<'a> {
    /// Returns a suggestion for the query of an answer, where it asks for one and can have one.
    pub fn of(prepared: &'a PreparedQuery, answer: &SearchAnswer) -> Option<Suggestion<'a>> {
        if !prepared.options.suggests(answer) {
            return None;
        }
        let analyzer = prepared.analyzer?;
        let spelling = Spelling::of(&prepared.query.text, analyzer)?;
        Some(Suggestion {
            prepared,
            analyzer,
            spelling,
            state: State::Counting,
        })
    }

    /// Returns the first searches.
    pub fn first(&self) -> Vec<PreparedQuery> {
        let words = self.spelling.words().into_iter();
        words.map(|word| self.prepared.probe(word, 0)).collect()
    }

    /// Takes the answers of the searches asked for, and returns what is due now. A search without a whole answer ends the
    /// suggestion.
    pub fn answered(&mut self, answers: Vec<Sample>) -> NextProbe {
        let answers: Option<Vec<SearchAnswer>> = answers.into_iter().collect();
        let Some(answers) = answers else {
            return NextProbe::Done(None);
        };
        match std::mem::replace(&mut self.state, State::Counting) {
            State::Counting => {
                let counts: Vec<u64> = answers.iter().map(|answer| answer.total.value).collect();
                let attempts = self.spelling.attempts(&counts);
                self.try_next(attempts.into_iter())
            }
            State::Trying(rest, attempt) => {
                let hits = answers.iter().flat_map(|answer| &answer.hits);
                let hits = hits.map(|hit| (hit.title.as_str(), hit.summary.as_str()));
                let corrected = attempt.and_then(|attempt| self.spelling.corrected(&attempt, hits));
                match corrected {
                    Some(query) => {
                        let parsed = search::parse(&query, self.analyzer, Operator::And);
                        self.state = State::Proving(query);
                        NextProbe::Ask(vec![self.prepared.probe(parsed.query, 0)])
                    }
                    None => self.try_next(rest),
                }
            }
            State::Proving(query) => {
                let total = answers.first().map(|answer| answer.total);
                let found = total.filter(|total| total.value > 0);
                NextProbe::Done(found.map(|total| DidYouMean { query, total }))
            }
        }
    }

    fn try_next(&mut self, mut attempts: std::vec::IntoIter<Attempt>) -> NextProbe {
        let Some(attempt) = attempts.next() else {
            return NextProbe::Done(None);
        };
        let probe = self.prepared.probe(attempt.query.clone(), SAMPLE_HITS);
        self.state = State::Trying(attempts, Some(attempt));
        NextProbe::Ask(vec![probe])
    }
}
