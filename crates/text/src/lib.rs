//! Text analysis and summaries.
//!
//! - [`Analyzer`]: splits text into words and turns each word into a term.
//! - [`summary`]: the best windows of a text around the words of a query.

pub mod analyzer;
mod stem;
pub mod summary;

pub use analyzer::{Analyzer, TERM_BYTES_MAX, Token, UnknownAnalyzer};
