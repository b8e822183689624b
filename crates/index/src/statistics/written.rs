//! Terms of the words that match a pattern as written, of the whole index.

use super::Statistics;
use crate::{Field, IndexError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use text::Pattern;

/// Term under which live documents have words of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternTerm {
    /// The term.
    pub term: String,
    /// The first of its words that match as written; `None` where the term itself matches.
    pub written: Option<String>,
}

/// Term of a word that matches a pattern as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTerm {
    /// The term. It does not match the pattern itself, or is less close to it.
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

    /// Returns the terms under which live documents of the whole index have words of `pattern`, in order; `None` where they
    /// are more than `most`.
    ///
    /// # Errors
    /// A dictionary that is read is damaged.
    pub fn terms_of_pattern(
        &self,
        field: Field,
        pattern: &Pattern,
        most: usize,
    ) -> Result<Option<Vec<PatternTerm>>, IndexError> {
        let mut terms = Terms {
            known: BTreeMap::new(),
            live: 0,
        };
        for segment in &self.segments {
            let mut failed = None;
            segment.visit_terms(field, pattern, |found| {
                let Some((term, _)) = found else {
                    return ControlFlow::Continue(());
                };
                failed = terms.note(self, field, term, None).err();
                match failed.is_some() || terms.live > most {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            failed.map_or(Ok(()), Err)?;
            if terms.live > most {
                return Ok(None);
            }
        }
        for WrittenTerm { term, written } in self.terms_as_written(field, pattern)? {
            terms.note(self, field, &term, Some(written))?;
        }
        let live = terms.known.into_iter().filter(|(_, (is_live, _))| *is_live);
        let live: Vec<PatternTerm> = live
            .map(|(term, (_, written))| PatternTerm { term, written })
            .collect();
        Ok((live.len() <= most).then_some(live))
    }
}

/// Terms, each with whether a live document has it, and its word as written.
struct Terms {
    known: BTreeMap<String, (bool, Option<String>)>,
    live: usize,
}

impl Terms {
    fn note(
        &mut self,
        statistics: &Statistics,
        field: Field,
        term: &str,
        written: Option<String>,
    ) -> Result<(), IndexError> {
        if !self.known.contains_key(term) {
            let is_live = statistics.document_frequency(field, term)? > 0;
            self.known.insert(term.to_owned(), (is_live, written));
            self.live += usize::from(is_live);
        }
        Ok(())
    }
}
