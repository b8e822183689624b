//! Scores of patterns: the best of their words, where these are few in the whole index.
//!
//! ```text
//! policies*   best of: polici                                      few words: each as rare as it is
//! policies~   best of: polici  polic^0.0625                        as rare as the commonest of them, nearest first
//! polic*~1    best of: polic   polici^0.25  police^0.25 …          the same, of the nearest 50
//! ```
//!
//! A pattern that begins with a letter and has at most [`RANKED_TERMS_MAX`] terms is planned as the best of
//! these terms ([`Query::BestOf`]): a document scores as for the matching word that ranks it highest. All others score
//! [`PATTERN_SCORE`] for any word: the words of many tell little apart, and their lists would cost more than bits of
//! documents. The terms are counted over the whole index, so the choice is the same for any segments and partitions.
//!
//! Words near another would be rare because they are misspelt, so all are as rare as the commonest of them, and the less
//! close weigh less ([`weight_of`]). Beginnings with errors ([`Pattern::NearStart`]) are never more than the nearest
//! [`RANKED_TERMS_MAX`] terms.
//!
//! Lucene's `TopTermsBlendedFreqScoringRewrite` keeps the most frequent terms of each segment's reader together and blends
//! their frequencies; here the choice and the frequencies are those of the whole index.

use crate::plan::node::{Node, PATTERN_SCORE, TitleStartNode, pattern_node};
use crate::plan::pattern_terms::PatternTerms;
use crate::plan::planner::Planner;
use crate::plan::ranking::TermCounts;
use crate::query::tree::Query;
use index::{Field, IndexError, NearTerm, PatternTerm, Statistics};
use text::{Closeness, Pattern};

/// Terms up to which a pattern scores by the best of them.
pub const RANKED_TERMS_MAX: usize = 50;

/// Returns the weight of a word near the one of a pattern: 1 for the word, 1/4 where it begins with it, 1/16 and 1/64 for one
/// and two edits.
pub fn weight_of(closeness: Closeness) -> f32 {
    match closeness {
        Closeness::Equal => 1.0,
        Closeness::Begins => 0.25,
        Closeness::Edits(0 | 1) => 0.0625,
        Closeness::Edits(_) => 0.015625,
    }
}

impl Planner<'_> {
    /// Plans a pattern that counts for the score.
    pub(super) fn pattern(&mut self, field: Field, pattern: &Pattern) -> Result<Node, IndexError> {
        let near = match pattern {
            Pattern::Near { .. } | Pattern::NearStart { .. } if field != Field::Site => {
                nearest_terms(self.statistics, field, pattern)?
            }
            _ => None,
        };
        if let Some(nearest) = near {
            return self.best_of_near(field, pattern, nearest);
        }
        let Some(terms) = ranked_terms(self.statistics, field, pattern)? else {
            let weight = PATTERN_SCORE * self.boost;
            self.most += f64::from(weight);
            return Ok(pattern_node(field, pattern, weight, self.name.clone()));
        };
        let mut of = PatternTerms::default();
        let mut clauses = Vec::with_capacity(terms.len());
        for PatternTerm { term, written } in terms {
            clauses.push(term_query(field, term.clone()));
            of.written.extend(written.map(|written| (term, written)));
        }
        self.best_of_terms(pattern, clauses, of)
    }

    /// Plans titles that begin with a text.
    pub(super) fn title_start(&mut self, start: &str, edits: u8) -> Node {
        let node = TitleStartNode {
            start: start.to_owned(),
            edits,
            weight: self.boost,
        };
        self.most += f64::from(node.most());
        Node::TitleStart(node)
    }

    /// Returns the word as written for which a term of a pattern stands.
    pub(super) fn written_as(&self, term: &str) -> Option<Box<str>> {
        let written = self.of_pattern.as_ref()?.written(term)?;
        Some(written.into())
    }

    fn best_of_near(
        &mut self,
        field: Field,
        pattern: &Pattern,
        nearest: Vec<NearTerm>,
    ) -> Result<Node, IndexError> {
        let mut of = PatternTerms::default();
        let mut clauses = Vec::with_capacity(nearest.len());
        for near in nearest {
            if near.written != near.term {
                of.written.insert(near.term.clone(), near.written);
            }
            of.alike.push(near.term.clone());
            let clause = term_query(field, near.term);
            clauses.push(match weight_of(near.closeness) {
                1.0 => clause,
                boost => Query::Boosted {
                    boost,
                    clause: Box::new(clause),
                },
            });
        }
        self.best_of_terms(pattern, clauses, of)
    }

    fn best_of_terms(
        &mut self,
        pattern: &Pattern,
        clauses: Vec<Query>,
        of: PatternTerms,
    ) -> Result<Node, IndexError> {
        let best = Query::BestOf {
            clauses,
            tie_breaker: 0.0,
        };
        self.patterns.push(pattern.clone());
        let around = self.of_pattern.replace(Box::new(of));
        // Summaries mark the words of the pattern, not all words of their stems.
        let marks_terms = std::mem::replace(&mut self.marks_terms, false);
        let node = self.scored(&best);
        self.marks_terms = marks_terms;
        self.of_pattern = around;
        node
    }

    /// Returns the counts by which a term of the pattern being planned is rare; `None` for its own.
    pub(super) fn counts_of_pattern(
        &mut self,
        field: Field,
    ) -> Result<Option<TermCounts>, IndexError> {
        let Some(of) = &self.of_pattern else {
            return Ok(None);
        };
        if let Some((_, counts)) = of.counts.iter().find(|(known, _)| *known == field) {
            return Ok(Some(*counts));
        }
        let mut commonest: Option<TermCounts> = None;
        for term in &of.alike {
            if let Some(found) = self.statistics.term(field, term)? {
                let counts = self.counts(field, &found)?;
                let most = commonest.map_or(0, |most| most.document_frequency);
                if commonest.is_none() || counts.document_frequency > most {
                    commonest = Some(counts);
                }
            }
        }
        if let (Some(counts), Some(of)) = (commonest, &mut self.of_pattern) {
            of.counts.push((field, counts));
        }
        Ok(commonest)
    }
}

fn term_query(field: Field, term: String) -> Query {
    Query::Term {
        field,
        term,
        weight: 1,
    }
}

/// Returns the terms near a word by which a pattern scores; `None` where all its documents score alike.
fn nearest_terms(
    statistics: &Statistics,
    field: Field,
    pattern: &Pattern,
) -> Result<Option<Vec<NearTerm>>, IndexError> {
    let nearest = |most| statistics.nearest_terms(field, pattern, most);
    match pattern {
        Pattern::NearStart { .. } => nearest(RANKED_TERMS_MAX).map(Some),
        // No term is left out.
        _ => Ok(Some(nearest(RANKED_TERMS_MAX + 1)?).filter(|of| of.len() <= RANKED_TERMS_MAX)),
    }
}

/// Returns the terms by which a pattern scores; `None` where all its documents score alike.
fn ranked_terms(
    statistics: &Statistics,
    field: Field,
    pattern: &Pattern,
) -> Result<Option<Vec<PatternTerm>>, IndexError> {
    match pattern {
        _ if field == Field::Site || pattern.literal().is_empty() => Ok(None),
        Pattern::Near { .. } | Pattern::NearStart { .. } => Ok(None),
        _ => statistics.terms_of_pattern(field, pattern, RANKED_TERMS_MAX),
    }
}
