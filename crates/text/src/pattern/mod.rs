//! Patterns of terms: beginnings, wildcards, regular expressions, and terms within a few edits of another.

mod beginning;
mod closeness;
mod forms;
mod limits;
mod matcher;
mod regex;
#[cfg(test)]
mod tests;
mod verdict;

pub use beginning::{BeginningEdits, BeginningMatcher};
pub use closeness::{Closeness, ClosenessTo};
pub use forms::Pattern;
pub use limits::{EDITS_MAX, PATTERN_CHARACTERS_MAX};
pub use matcher::PatternMatcher;
pub(crate) use regex::folded_regex;
pub use regex::{Regex, RegexError};
pub use verdict::Verdict;
