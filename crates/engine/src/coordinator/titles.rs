//! Suggested titles: those that begin with what is typed, then those whose words match.
//!
//! ```text
//! typed ─► titles that begin so ─► titles with all words ─► both again, with errors ─► k different titles
//!                                  the last a beginning
//!          └──────── each further search only where the titles before are fewer than k ────────┘
//! ```
//!
//! Like a coordinator it says which search is due, and takes its answer. Each search is for the best [`WINDOW`] documents, so
//! of many documents with one title others may be left out behind them.

use crate::coordinator::prepared::PreparedQuery;
use crate::error::BadRequest;
use crate::options::SearchOptions;
use crate::returned::{HitContents, Returned};
use index::Field;
use search::parse::{typing_errors, words_as_you_type, words_begun};
use search::{Operator, Query};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use text::summary::{SummaryOptions, SummaryQuery, SummaryTerm, escape_html};
use text::{Analyzer, folded_words};
use wire::{SearchAnswer, SuggestAnswer, SuggestedTitle};

/// Titles of an answer at most.
pub const TITLES_K_MAX: usize = 50;
/// Characters of a text that are looked at; what follows is ignored.
const TYPED_CHARACTERS_MAX: usize = 256;
/// Documents that a search for titles looks at, beside those wanted.
const WINDOW: usize = 40;
/// Typing errors in the beginning of a title: those in words of the whole title are more.
const START_ERRORS_MAX: u8 = 1;

/// Search for titles.
pub struct Titles {
    id: u64,
    k: usize,
    timeout: Option<Duration>,
    arrived: Instant,
    marks: SummaryQuery,
    /// Searches that are still to be made, the last one first.
    due: Vec<Query>,
    answer: SuggestAnswer,
    known: HashSet<String>,
}

impl Titles {
    /// Reads what is typed.
    ///
    /// # Errors
    /// More titles than [`TITLES_K_MAX`].
    pub fn new(
        id: u64,
        typed: &str,
        k: usize,
        timeout: Option<Duration>,
        analyzer: Analyzer,
        arrived: Instant,
    ) -> Result<Titles, BadRequest> {
        if k > TITLES_K_MAX {
            return Err(BadRequest {
                parameter: "k",
                reason: format!("{k} titles are too many; ask for {TITLES_K_MAX} at most"),
            });
        }
        let end = typed.char_indices().nth(TYPED_CHARACTERS_MAX);
        let typed = &typed[..end.map_or(typed.len(), |(end, _)| end)];
        let words = words_as_you_type(Field::Title, typed, analyzer, Operator::And);
        let tolerant = words.some_words.as_ref().unwrap_or(&words.query);
        let marked = tolerant.marked_words().into_iter();
        let marked = marked.map(|marked| SummaryTerm {
            marked,
            weight: 1.0,
        });
        let marks = SummaryQuery::new(analyzer, marked.collect(), SummaryOptions::default());
        let mut due = vec![words.some_words.unwrap_or(words.query)];
        let [verbatim, with_error] = title_starts(typed);
        due.extend(with_error);
        due.push(words_begun(Field::Title, typed, analyzer));
        due.extend(verbatim);
        due.retain(|query| *query != Query::Nothing);
        Ok(Titles {
            id,
            k,
            timeout,
            arrived,
            marks,
            due,
            answer: SuggestAnswer {
                query: typed.to_owned(),
                ..SuggestAnswer::default()
            },
            known: HashSet::new(),
        })
    }

    /// Returns the next search; `None` where the titles are complete.
    pub fn next_search(&mut self) -> Option<PreparedQuery> {
        if self.answer.titles.len() >= self.k {
            return None;
        }
        let tree = self.due.pop()?;
        let options = SearchOptions {
            k: self.k + WINDOW,
            timeout: self.timeout,
            returned: Returned {
                counted: false,
                hits: HitContents::DETAILS,
            },
            ..SearchOptions::default()
        };
        Some(PreparedQuery::of_tree(self.id, tree, options, self.arrived))
    }

    /// Takes the answer of the search.
    pub fn answered(&mut self, answer: SearchAnswer) {
        for missing in answer.degraded {
            if !self.answer.degraded.contains(&missing) {
                self.answer.degraded.push(missing);
            }
        }
        for hit in answer.hits {
            if self.answer.titles.len() >= self.k {
                break;
            }
            let is_new = !hit.title.is_empty() && self.known.insert(hit.title.clone());
            if is_new {
                let marked = self.marks.highlight(&hit.title);
                self.answer.titles.push(SuggestedTitle {
                    title_html: marked.unwrap_or_else(|| escaped(&hit.title)),
                    title: hit.title,
                    url: hit.url,
                });
            }
        }
    }

    /// Returns the titles.
    pub fn finish(mut self) -> SuggestAnswer {
        self.answer.total_us = self.arrived.elapsed().as_micros() as u64;
        self.answer
    }
}

fn escaped(text: &str) -> String {
    let mut html = String::new();
    escape_html(text, &mut html);
    html
}

/// Returns the queries for titles that begin with a text, and for those that do so but for an error; `None` for a text without
/// a word, and for one that is too short for errors.
fn title_starts(typed: &str) -> [Option<Query>; 2] {
    let mut start = folded_words(typed);
    if start.is_empty() {
        return [None, None];
    }
    let errors = typing_errors(&start).min(START_ERRORS_MAX);
    if !typed.ends_with(char::is_alphanumeric) {
        start.push(' ');
    }
    let of = |edits| Query::TitleStart {
        start: start.clone(),
        edits,
    };
    [Some(of(0)), (errors > 0).then(|| of(errors))]
}
