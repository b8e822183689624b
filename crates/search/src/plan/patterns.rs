//! Scores of patterns: the best of their words, where these are few in the whole index.
//!
//! A pattern that begins with a letter, has at most [`RANKED_TERMS_MAX`] terms and is no `word~` is planned as the best of
//! these terms ([`Query::BestOf`]): a document scores as for the matching word that ranks it highest. All others score
//! [`PATTERN_SCORE`] for any word: the words of many tell little apart, and their lists would cost more than bits of
//! documents. The terms are counted over the whole index, so the choice is the same for any segments and partitions.
//!
//! Lucene's `TopTermsBlendedFreqScoringRewrite` keeps the most frequent terms of each segment's reader together and blends
//! their frequencies; here no term is left out, so what is found does not depend on the choice.

use crate::plan::node::{Node, PATTERN_SCORE, pattern_node};
use crate::plan::planner::Planner;
use crate::query::tree::Query;
use index::{Field, IndexError, Statistics};
use text::Pattern;

/// Terms up to which a pattern scores by the best of them.
pub const RANKED_TERMS_MAX: usize = 50;

impl Planner<'_> {
    /// Plans a pattern that counts for the score.
    pub(super) fn pattern(&mut self, field: Field, pattern: &Pattern) -> Result<Node, IndexError> {
        let Some(terms) = ranked_terms(self.statistics, field, pattern)? else {
            let weight = PATTERN_SCORE * self.boost;
            self.most += f64::from(weight);
            return Ok(pattern_node(field, pattern, weight, self.name.clone()));
        };
        let terms = terms.into_iter();
        let best = Query::BestOf {
            clauses: terms
                .map(|term| Query::Term {
                    field,
                    term,
                    weight: 1,
                })
                .collect(),
            tie_breaker: 0.0,
        };
        self.patterns.push(pattern.clone());
        // Summaries mark the words of the pattern, not all words of their stems.
        let marks_terms = std::mem::replace(&mut self.marks_terms, false);
        let node = self.scored(&best);
        self.marks_terms = marks_terms;
        node
    }
}

/// Returns the terms by which a pattern scores; `None` where all its documents score alike.
fn ranked_terms(
    statistics: &Statistics,
    field: Field,
    pattern: &Pattern,
) -> Result<Option<Vec<String>>, IndexError> {
    match pattern {
        _ if field == Field::Site || pattern.literal().is_empty() => Ok(None),
        Pattern::Near { .. } => Ok(None),
        _ => statistics.terms_of_pattern(field, pattern, RANKED_TERMS_MAX),
    }
}
