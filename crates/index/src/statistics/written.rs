//! Terms of the words that match a pattern as written, of the whole index.

use super::Statistics;
use crate::{Field, IndexError};
use std::collections::BTreeMap;
use text::Pattern;

/// Term of a word that matches a pattern as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTerm {
    /// The term. It does not match the pattern itself.
    pub term: String,
    /// The first of its words that match, in the order of the alphabet.
    pub written: String,
}

impl Statistics {
    /// Returns the terms that have a word which matches `pattern` as written, and do not match themselves, in order.
    ///
    /// They are those of all segments together: a document is found by a word that another has, so the documents that are
    /// found do not depend on the segment that holds them. Words of deleted documents count until a merge leaves them out.
    ///
    /// # Errors
    /// A dictionary that is read is damaged.
    pub fn terms_as_written(
        &self,
        field: Field,
        pattern: &Pattern,
    ) -> Result<Vec<WrittenTerm>, IndexError> {
        let mut terms: BTreeMap<String, String> = BTreeMap::new();
        for segment in &self.segments {
            segment.visit_written(field, pattern, |written, term| match terms.get_mut(term) {
                Some(first) if first.as_str() <= written => {}
                Some(first) => written.clone_into(first),
                None => drop(terms.insert(term.to_owned(), written.to_owned())),
            })?;
        }
        let terms = terms.into_iter();
        Ok(terms
            .map(|(term, written)| WrittenTerm { term, written })
            .collect())
    }
}
