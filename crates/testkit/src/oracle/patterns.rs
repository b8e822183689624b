//! Patterns: their terms, and the best of them where they are few.

use super::Oracle;
use index::Field;
use search::Query;
use search::plan::{RANKED_TERMS_MAX, weight_of};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use text::{Closeness, Pattern};

/// Query that a pattern scores as.
pub(super) struct BestOfPattern {
    pub(super) query: Query,
    /// Terms that are all as rare as the commonest of them; none where each is as rare as it is.
    pub(super) alike: Vec<String>,
}

impl Oracle {
    /// Returns whether a word of a term is of a pattern.
    pub(super) fn is_of_pattern(&self, field: Field, pattern: &Pattern, term: &str) -> bool {
        pattern.matches(term) || self.written.leads_to(field, pattern, term)
    }

    /// Returns the query that a pattern of few words scores as.
    pub(super) fn best_of_pattern(&self, field: Field, pattern: &Pattern) -> Option<BestOfPattern> {
        if field == Field::Site {
            return None;
        }
        if matches!(pattern, Pattern::Near { .. } | Pattern::NearStart { .. }) {
            return self.best_of_near(field, pattern);
        }
        if pattern.literal().is_empty() {
            return None;
        }
        let terms = self.terms_of_pattern(field, pattern);
        let clauses = terms.iter().map(|term| term_query(field, term));
        (terms.len() <= RANKED_TERMS_MAX).then(|| BestOfPattern {
            query: best_of(clauses.collect()),
            alike: Vec::new(),
        })
    }

    fn terms_of_pattern(&self, field: Field, pattern: &Pattern) -> BTreeSet<&String> {
        let terms = self.documents.iter();
        let terms = terms.flat_map(|document| document.field(field).iter().flatten());
        let terms = terms.filter(|term| self.is_of_pattern(field, pattern, term));
        terms.collect()
    }

    /// Returns the query of the words near another: the nearest first, of these those of most documents.
    fn best_of_near(&self, field: Field, pattern: &Pattern) -> Option<BestOfPattern> {
        let terms = self.terms_of_pattern(field, pattern).into_iter();
        let mut terms: Vec<(Closeness, Reverse<usize>, &String)> = terms
            .map(|term| {
                let written = self.written.words_of(field, term);
                let words = written.chain([term.as_str()]);
                let closest = words.filter_map(|word| pattern.closeness(word)).min();
                let holding = self.documents.iter().filter(|one| one.holds(field, term));
                let closest = closest.expect("a word of it is of the pattern");
                (closest, Reverse(holding.count()), term)
            })
            .collect();
        terms.sort();
        match pattern {
            Pattern::NearStart { .. } => terms.truncate(RANKED_TERMS_MAX),
            _ if terms.len() > RANKED_TERMS_MAX => return None,
            _ => {}
        }
        let clauses = terms.iter().map(|(closeness, _, term)| Query::Boosted {
            boost: weight_of(*closeness),
            clause: Box::new(term_query(field, term)),
        });
        Some(BestOfPattern {
            query: best_of(clauses.collect()),
            alike: terms.iter().map(|(.., term)| (*term).clone()).collect(),
        })
    }

    /// Returns the commonest of terms, the first of several.
    pub(super) fn commonest<'t>(&self, field: Field, terms: &'t [String]) -> Option<&'t String> {
        let count = |term: &&String| {
            let holding = self.documents.iter().filter(|one| one.holds(field, term));
            holding.count()
        };
        let counted = terms.iter().map(|term| (count(&term), term));
        let counted = counted.filter(|(count, _)| *count > 0);
        let most = counted.rev().max_by_key(|(count, _)| *count);
        most.map(|(_, term)| term)
    }
}

fn term_query(field: Field, term: &str) -> Query {
    Query::Term {
        field,
        term: term.to_owned(),
        weight: 1,
    }
}

fn best_of(clauses: Vec<Query>) -> Query {
    Query::BestOf {
        clauses,
        tie_breaker: 0.0,
    }
}
