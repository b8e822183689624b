//! Dynamic summaries: the best windows of a text around the words of a query.
//!
//! matches   where the query's words occur: substring search in the whole text, never tokenizing it
//! windows   which stretches show the most telling words; then grown to sentence or word borders
//! render    those stretches as HTML: escaped, white space collapsed, words marked
//!
//! Why not tokenize: long texts make the tail of a search server's response time. A vectorised
//! substring search reads a text some ten times faster than a tokenizer, and only its candidates are
//! verified. Equal to tokenizing, which the tests use as the slow twin.
use crate::Analyzer;
use matches::{Match, Matcher};
use score::Scoring;
use std::cell::Cell;

mod borders;
mod matches;
mod needle;
mod render;
mod score;
mod windows;

pub use render::escape_html;

/// What to look for in a text, prepared once per query and used for every hit.
#[derive(Debug)]
pub struct SummaryQuery {
    matcher: Matcher,
    scoring: Scoring,
    options: SummaryOptions,
}

/// One thing that a query looks for.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryTerm {
    /// The analysed term.
    pub term: String,
    /// Whether `term` is the start of the wanted words (`wor*`).
    /// As in the dictionary, it is the word's term that must start so, not the word as written.
    pub prefix: bool,
    /// How telling the term is (inverse document frequency); rarer words make better windows.
    pub weight: f32,
}

/// Sizes of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryOptions {
    /// Windows at most.
    pub windows_max: usize,
    /// Bytes of text of all windows together, about.
    pub text_bytes: usize,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        SummaryOptions {
            windows_max: 2,
            text_bytes: 300,
        }
    }
}

/// Memory that summaries reuse. One thread needs one.
#[derive(Debug, Default)]
pub struct SummaryScratch {
    lowered: Vec<u8>,
    matches: Vec<Match>,
    word: String,
}

/// A thread does not keep scratch larger than this for its next summary.
const SCRATCH_KEPT_BYTES_MAX: usize = 16 << 20;

thread_local! {
    static SCRATCH: Cell<SummaryScratch> = Cell::default();
}

impl SummaryScratch {
    fn bytes(&self) -> usize {
        self.lowered.capacity() + self.matches.capacity() * size_of::<Match>()
    }
}

impl SummaryQuery {
    /// Prepares the search for `terms`, given in the query's order.
    pub fn new(
        analyzer: Analyzer,
        terms: Vec<SummaryTerm>,
        options: SummaryOptions,
    ) -> SummaryQuery {
        // The same term twice counts once, but both places count for "follows in the query".
        let mut distinct: Vec<SummaryTerm> = Vec::with_capacity(terms.len());
        let mut order = Vec::with_capacity(terms.len());
        let mut known = std::collections::HashMap::with_capacity(terms.len());
        for wanted in terms.into_iter().filter(|wanted| !wanted.term.is_empty()) {
            let key = (wanted.term.clone(), wanted.prefix);
            let at = *known.entry(key).or_insert_with(|| {
                distinct.push(wanted);
                distinct.len() - 1
            });
            order.push(at);
        }
        SummaryQuery {
            scoring: Scoring::new(&distinct, &order),
            matcher: Matcher::new(analyzer, &distinct),
            options,
        }
    }

    /// The summary of `text`, as HTML: escaped text, matched words inside `<mark>`, windows
    /// parted by ` … `. Looks at the whole text. A text without a match gives its beginning.
    pub fn summarize(&self, text: &str) -> String {
        let mut scratch = SCRATCH.take();
        let summary = self.summarize_with(text, &mut scratch);
        if scratch.bytes() <= SCRATCH_KEPT_BYTES_MAX {
            SCRATCH.set(scratch);
        }
        summary
    }

    /// [`Self::summarize`] with scratch memory of the caller's.
    pub fn summarize_with(&self, text: &str, scratch: &mut SummaryScratch) -> String {
        self.matcher.find(text, scratch);
        let windows = windows::choose(text, &scratch.matches, &self.scoring, self.options);
        render::html(text, &windows, &scratch.matches)
    }
}

#[cfg(test)]
mod tests;
