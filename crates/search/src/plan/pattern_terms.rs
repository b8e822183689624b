//! Terms of a pattern that stands as the best of them, while they are planned.

use crate::plan::ranking::TermCounts;
use index::Field;
use std::collections::HashMap;

/// Terms of a pattern while they are planned.
#[derive(Debug, Default)]
pub(super) struct PatternTerms {
    /// Words as written by which terms are of the pattern, where they are not the terms.
    pub(super) written: HashMap<String, String>,
    /// Terms of which all are as rare as the commonest; empty where each is as rare as it is.
    pub(super) alike: Vec<String>,
    /// Counts of the commonest, by field.
    pub(super) counts: Vec<(Field, TermCounts)>,
}

impl PatternTerms {
    /// Returns the word as written by which a term is of the pattern; `None` where it is the term.
    pub(super) fn written(&self, term: &str) -> Option<&str> {
        self.written.get(term).map(String::as_str)
    }
}
