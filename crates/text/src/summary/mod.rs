//! Dynamic summaries: the best windows of a text around the words of a query.
//!
//! matches   byte ranges of the query's words: substring search in the whole text, without tokenizing it
//! pieces    the same for parts of a long text, on several threads
//! windows   the stretches with the highest scores, grown to sentence or word borders
//! render    the windows as HTML: escaped, white space collapsed, words marked
//!
//! Why not tokenize: long texts make the tail of a search server's response time. A vectorised substring search reads a
//! text some ten times faster than a tokenizer, and only its candidates are verified. The result equals that of
//! tokenizing, the slow twin in the tests.
use crate::Analyzer;
use matches::Matcher;
use score::Scoring;
use std::cell::Cell;
use std::ops::Range;

mod borders;
mod input;
mod known;
mod matches;
mod near_letters;
mod needle;
mod pieces;
mod render;
mod score;
mod shown;
mod windows;

use input::Match;
pub use input::{Marked, SummaryOptions, SummaryScratch, SummaryTerm};
pub use pieces::{PieceMatches, pieces_of};
pub use render::escape_html;

/// The terms to find in a text, prepared once for each query and used for every hit.
#[derive(Debug)]
pub struct SummaryQuery {
    matcher: Matcher,
    scoring: Scoring,
    options: SummaryOptions,
    /// Each once.
    terms: Vec<SummaryTerm>,
}

/// Summary of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// HTML: escaped text, matched words inside `<mark>`, windows separated by ` … `. Of a text without a match, its
    /// beginning.
    pub html: String,
    /// Whether the text has a match.
    pub is_matched: bool,
}

/// Upper limit on the scratch memory that a thread keeps for its next summary, in bytes.
const SCRATCH_KEPT_BYTES_MAX: usize = 16 << 20;

thread_local! {
    static SCRATCH: Cell<SummaryScratch> = Cell::default();
}

impl SummaryQuery {
    /// Prepares the search for `terms`, given in the query's order.
    pub fn new(
        analyzer: Analyzer,
        terms: Vec<SummaryTerm>,
        options: SummaryOptions,
    ) -> SummaryQuery {
        // A repeated term counts once, but each of its places counts for the neighbours in the query.
        let mut distinct: Vec<SummaryTerm> = Vec::with_capacity(terms.len());
        let mut order = Vec::with_capacity(terms.len());
        let mut known = std::collections::HashMap::with_capacity(terms.len());
        for wanted in terms.into_iter().filter(|wanted| !wanted.marked.is_empty()) {
            let at = *known.entry(wanted.marked.clone()).or_insert_with(|| {
                distinct.push(wanted);
                distinct.len() - 1
            });
            order.push(at);
        }
        SummaryQuery {
            scoring: Scoring::new(&distinct, &order),
            matcher: Matcher::new(analyzer, &distinct),
            options,
            terms: distinct,
        }
    }

    /// Returns the search for the same terms in a text of another analyzer.
    pub fn analyzed_with(&self, analyzer: Analyzer) -> SummaryQuery {
        SummaryQuery {
            matcher: Matcher::new(analyzer, &self.terms),
            scoring: self.scoring.clone(),
            options: self.options,
            terms: self.terms.clone(),
        }
    }

    /// Returns the HTML of [`Self::summary`].
    pub fn summarize(&self, text: &str) -> String {
        self.summary(text).html
    }

    /// Returns the summary of `text`. Searches the whole text.
    pub fn summary(&self, text: &str) -> Summary {
        self.with_scratch(|scratch| {
            self.matcher.find(text, scratch);
            self.summary_of_matches(text, &scratch.matches)
        })
    }

    /// Returns a short text, such as a title, as HTML: escaped, matched words inside `<mark>`. `None` without a match.
    pub fn highlight(&self, text: &str) -> Option<String> {
        let whole = windows::Window {
            start: 0,
            end: text.len(),
        };
        self.with_scratch(|scratch| {
            self.matcher.find(text, scratch);
            let matches = &scratch.matches;
            (!matches.is_empty()).then(|| render::html(text, &[whole], matches))
        })
    }

    /// Returns the byte ranges of the matched words of `text`, in order; those that overlap are one.
    pub fn matched_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        self.with_scratch(|scratch| {
            self.matcher.find(text, scratch);
            for found in &scratch.matches {
                match ranges.last_mut() {
                    Some(last) if found.start < last.end => last.end = last.end.max(found.end),
                    _ => ranges.push(found.start..found.end),
                }
            }
        });
        ranges
    }

    fn summary_of_matches(&self, text: &str, matches: &[Match]) -> Summary {
        let windows = windows::choose(text, matches, &self.scoring, self.options);
        Summary {
            html: render::html(text, &windows, matches),
            is_matched: !matches.is_empty(),
        }
    }

    /// Calls `with` with the scratch memory of the thread.
    fn with_scratch<T>(&self, with: impl FnOnce(&mut SummaryScratch) -> T) -> T {
        let mut scratch = SCRATCH.take();
        let result = with(&mut scratch);
        if scratch.bytes() <= SCRATCH_KEPT_BYTES_MAX {
            SCRATCH.set(scratch);
        }
        result
    }
}

#[cfg(test)]
mod tests;
