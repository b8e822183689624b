//! Patterns: their terms, and the best of them where they are few.

use super::Oracle;
use index::Field;
use search::Query;
use search::plan::RANKED_TERMS_MAX;
use std::collections::BTreeSet;
use text::Pattern;

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
