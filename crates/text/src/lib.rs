//! Text analysis and summaries.
//!
//! - [`Analyzer`]: splits text into words and turns each word into its terms.
//! - [`standard`]: the analyzer for any language and script.
//! - [`summary`]: the best windows of a text around the words of a query.

pub mod analyzer;
pub mod standard;
mod stem;
pub mod summary;

pub use analyzer::{Analyzer, TERM_BYTES_MAX, Token, UnknownAnalyzer};
pub use standard::{Detector, Language, Languages, QueryWord};
