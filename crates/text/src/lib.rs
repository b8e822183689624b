//! Text analysis and summaries.
//!
//! - [`Analyzer`]: splits text into words and turns each word into its terms.
//! - [`standard`]: the analyzer for any language and script.
//! - [`summary`]: the best windows of a text around the words of a query.

pub mod analyzer;
mod language;
mod pattern;
pub mod standard;
mod stem;
pub mod summary;
mod token;

pub use analyzer::{Analyzer, TERM_BYTES_MAX, Token, UnknownAnalyzer, WrittenForm, folded_words};
pub use language::{Language, Languages};
pub use pattern::{
    BeginningEdits, BeginningMatcher, Closeness, ClosenessTo, EDITS_MAX, PATTERN_CHARACTERS_MAX,
    Pattern, PatternMatcher, Regex, RegexError, Verdict,
};
#[cfg(feature = "detect")]
pub use standard::Detector;
pub use standard::{QueryWord, Way, Ways};
