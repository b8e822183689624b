//! Dynamic summaries: the best windows of a text around the words of a query.
use crate::Analyzer;

/// What to look for in a text, prepared once per query and used for every hit.
#[derive(Debug)]
pub struct SummaryQuery {}

/// One thing that a query looks for.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryTerm {
    /// The analysed term.
    pub term: String,
    /// Whether `term` is the start of the wanted words (`wor*`).
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

impl SummaryQuery {
    /// Prepares the search for `terms`.
    pub fn new(
        _analyzer: Analyzer,
        _terms: Vec<SummaryTerm>,
        _options: SummaryOptions,
    ) -> SummaryQuery {
        unimplemented!()
    }

    /// The summary of `text`, as HTML: escaped text, matched words inside `<mark>`, windows
    /// parted by ` … `. Looks at the whole text. A text without a match gives its beginning.
    pub fn summarize(&self, _text: &str) -> String {
        unimplemented!()
    }
}

/// Escapes text for HTML, in element content and in quoted attributes alike.
pub fn escape_html(_text: &str, _out: &mut String) {
    unimplemented!()
}
