//! Words as written, each with the terms under which it is found; patterns as the best of their words.

use super::Oracle;
use index::Field;
use search::Query;
use search::plan::RANKED_TERMS_MAX;
use std::collections::BTreeSet;
use text::{Analyzer, Pattern};

/// Words that are not their term: field, word and term.
#[derive(Debug, Default)]
pub(super) struct WrittenWords(BTreeSet<(Field, String, String)>);

impl WrittenWords {
    pub(super) fn add(&mut self, field: Field, text: &str, analyzer: Analyzer) {
        let each = |form: text::WrittenForm<'_>| {
            let word = form.written.to_ascii_lowercase();
            self.0.insert((field, word, form.term.to_owned()));
        };
        analyzer.each_token_and_form(text, &mut String::new(), |_| {}, each);
    }

    pub(super) fn join(&mut self, other: &WrittenWords) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Returns whether a word of a term matches a pattern as written.
    pub(super) fn leads_to(&self, field: Field, pattern: &Pattern, term: &str) -> bool {
        let field = match field {
            Field::Title => Field::Text,
            field => field,
        };
        let is_near = matches!(pattern, Pattern::Near { .. });
        let leads = |(of, word, to): &(Field, String, String)| {
            *of == field && to == term && pattern.matches(word)
        };
        !is_near && self.0.iter().any(leads)
    }
}

impl Oracle {
    /// Returns whether a word of a term is of a pattern.
    pub(super) fn is_of_pattern(&self, field: Field, pattern: &Pattern, term: &str) -> bool {
        pattern.matches(term) || self.written.leads_to(field, pattern, term)
    }

    /// Returns the query that a pattern of few words scores as.
    pub(super) fn best_of_pattern(&self, field: Field, pattern: &Pattern) -> Option<Query> {
        let is_near = matches!(pattern, Pattern::Near { .. });
        if is_near || field == Field::Site || pattern.literal().is_empty() {
            return None;
        }
        let terms = self.documents.iter();
        let terms = terms.flat_map(|document| document.field(field).iter().flatten());
        let terms: BTreeSet<&String> = terms
            .filter(|term| self.is_of_pattern(field, pattern, term))
            .collect();
        let clause = |term: &&String| Query::Term {
            field,
            term: (*term).clone(),
            weight: 1,
        };
        (terms.len() <= RANKED_TERMS_MAX).then(|| Query::BestOf {
            clauses: terms.iter().map(clause).collect(),
            tie_breaker: 0.0,
        })
    }
}
