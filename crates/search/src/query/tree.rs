//! Query as a tree of typed clauses, before any index is known.

use crate::query::depth::nested;
use fields::{QueryPrior, Test};
use index::Field;
use serde::{Deserialize, Serialize};
use text::Pattern;
use text::summary::Marked;

/// A query. The parser bounds its depth and number of clauses; [`check`](Query::check) tells whether a tree from elsewhere is
/// within these bounds.
///
/// Serialized, a clause is an object of one key, its kind in lower case: `{"term":{"field":"text","term":"ice"}}`,
/// `{"boolean":{"required":[…],"excluded":[…]}}`. Unknown kinds and keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Query {
    /// Query without matches.
    Nothing,
    /// All documents. It adds nothing to the score.
    All,
    /// Documents that hold the term.
    Term {
        /// Field that is searched.
        field: Field,
        /// The analysed term.
        term: String,
        /// Number of occurrences in the query, a factor of the score.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        weight: u32,
    },
    /// Documents that hold a word of the pattern, as written or by its term. Each scores as for the best of its words, or 1
    /// where the pattern has many ([`RANKED_TERMS_MAX`](crate::plan::RANKED_TERMS_MAX)).
    Pattern {
        /// Field that is searched.
        field: Field,
        /// Set of terms, in lower case.
        pattern: Pattern,
    },
    /// Documents whose titles begin with `start`, or within `edits` of it with the same first character, as folded words with
    /// a blank after each whole one ([`folded_words`](text::folded_words)). Of the documents of a segment, those are matches that can be
    /// among the [`TITLES_MAX`](index::TITLES_MAX) best. The score is 2, or 1 with errors, less a 256th for each character of the title. For
    /// suggestions; it is not serialized.
    #[serde(skip)]
    TitleStart {
        /// Beginning of the titles.
        start: String,
        /// Number of edits, 0 to [`EDITS_MAX`](text::EDITS_MAX).
        edits: u8,
    },
    /// Documents with a value of a field that passes a test. It adds nothing to the score.
    Value {
        /// Name of the field.
        field: String,
        /// Test of its values.
        #[serde(with = "super::test_form")]
        test: Test,
    },
    /// Documents of these URLs. It adds nothing to the score.
    Urls(Vec<String>),
    /// Documents that hold the terms one after another. Scored as one term whose frequency is the number of
    /// occurrences and whose inverse document frequency is the sum of the terms'.
    Phrase {
        /// Field that is searched.
        field: Field,
        /// Analysed terms, two or more.
        terms: Vec<String>,
        /// Moves allowed: 0 is the exact phrase.
        #[serde(default, skip_serializing_if = "is_zero")]
        slop: u32,
    },
    /// A combination. It matches when all `required` match, none of `excluded` does, and, without `required` clauses,
    /// at least one of `optional` does. The score is the sum over the matching clauses.
    Boolean {
        /// Clauses that must match.
        #[serde(
            default,
            deserialize_with = "nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        required: Vec<Query>,
        /// Clauses that add to the score where they match.
        #[serde(
            default,
            deserialize_with = "nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        optional: Vec<Query>,
        /// Clauses that must not match.
        #[serde(
            default,
            deserialize_with = "nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        excluded: Vec<Query>,
    },
    /// Documents that match one of the telling words, scored by all words that they match. A word is telling if its
    /// inverse document frequency is at least [`TELLING_SHARE`](crate::plan::TELLING_SHARE) of the greatest among the
    /// words, so that words that stand everywhere find nothing alone. A clause that is not one word is telling. Where it
    /// only filters or excludes, all words are.
    AnyTelling(#[serde(deserialize_with = "nested")] Vec<Query>),
    /// Documents that match all of the telling words, scored by all words that they match. Where it only filters or excludes,
    /// all words are telling.
    AllTelling(#[serde(deserialize_with = "nested")] Vec<Query>),
    /// Documents that match at least `least` of the clauses, scored by all that they match. Clauses that nothing matches
    /// count, so that a misspelt word does not lower the demand on the others.
    AtLeast {
        /// Least number of matching clauses; 0 is 1.
        least: u32,
        /// The clauses.
        #[serde(deserialize_with = "nested")]
        clauses: Vec<Query>,
    },
    /// Documents that match any of the clauses, scored by the best of those that they match: its score, plus `tie_breaker`
    /// times the sum of the others', rounded to the grid of all scores ([`ranking`](crate::ranking)): by 2^-23 of the next power
    /// of two above the greatest possible sum at most. A tie breaker of 1 makes the sum of all. (A disjunction max, `dis_max`.)
    BestOf {
        /// The clauses.
        #[serde(deserialize_with = "nested")]
        clauses: Vec<Query>,
        /// Share of the other clauses' scores that counts, in 0 to 1.
        #[serde(default)]
        tie_breaker: f32,
    },
    /// Documents that match the clause. Each scores `score`, whatever the clause; boosts around it multiply that, and those
    /// within change nothing.
    Constant {
        /// The score, in [`BOOST_MIN`](crate::parse::BOOST_MIN) to [`BOOST_MAX`](crate::parse::BOOST_MAX).
        score: f32,
        /// The clause.
        #[serde(deserialize_with = "nested")]
        clause: Box<Query>,
    },
    /// Documents that match the clause, which adds nothing to the score. Among the required clauses of a combination
    /// it is a filter.
    Filter(#[serde(deserialize_with = "nested")] Box<Query>),
    /// The clause, whose weight is multiplied. Boosts of clauses within each other multiply; their product is kept in
    /// [`BOOST_MIN`](crate::parse::BOOST_MIN) to [`BOOST_MAX`](crate::parse::BOOST_MAX).
    Boosted {
        /// Factor of the weight, in `BOOST_MIN` to `BOOST_MAX`.
        boost: f32,
        /// The clause.
        #[serde(deserialize_with = "nested")]
        clause: Box<Query>,
    },
    /// A whole query, with what rules of the index say of its hits. It changes no match, and is not serialized.
    #[serde(skip)]
    Ruled {
        /// What rules say.
        by: Box<Ruling>,
        /// The query.
        clause: Box<Query>,
    },
    /// The clause, whose name explanations repeat. The words, phrases and prefixes within a named combination have its
    /// name, followed by `/` and their own, if any.
    Named {
        /// The name, [`NAME_BYTES_MAX`](crate::parse::NAME_BYTES_MAX) at most.
        name: String,
        /// The clause.
        #[serde(deserialize_with = "nested")]
        clause: Box<Query>,
    },
}

/// What rules of an index say of the hits of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ruling {
    /// What adds to their scores, beside the priors of the index.
    pub priors: Vec<QueryPrior>,
    /// Documents that stand before all others, which the query excludes.
    pub pinned: Option<Pinned>,
}

/// Documents that stand before all others.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    /// Their URLs, the first one first.
    pub urls: Vec<String>,
    /// Query that finds those of them that pass the filters of a search.
    pub clause: Query,
}

fn one() -> u32 {
    1
}

fn is_one(weight: &u32) -> bool {
    *weight == 1
}

fn is_zero(slop: &u32) -> bool {
    *slop == 0
}

impl Query {
    /// Returns whether all matches are of one site and its subdomains, which the query names.
    pub fn requires_one_site(&self) -> bool {
        match self {
            Query::Term { field, .. } => *field == Field::Site,
            Query::Boolean {
                required, optional, ..
            } => {
                let is_name = required.is_empty() && is_site_with_subdomains(optional);
                is_name || required.iter().any(Query::requires_one_site)
            }
            Query::Constant { clause, .. }
            | Query::Filter(clause)
            | Query::Boosted { clause, .. }
            | Query::Ruled { clause, .. }
            | Query::Named { clause, .. } => clause.requires_one_site(),
            _ => false,
        }
    }

    /// Returns the words of texts that matches may have, each once: terms, words of phrases, patterns. Those of excluded
    /// clauses and of sites are not among them. Unlike [`Plan::summary_terms`](crate::Plan::summary_terms) it needs no index.
    pub fn marked_words(&self) -> Vec<Marked> {
        let mut words = Vec::new();
        self.note_words(&mut words);
        words
    }

    fn note_words(&self, words: &mut Vec<Marked>) {
        let mut note = |field: Field, word: Marked| {
            if field != Field::Site && !words.contains(&word) {
                words.push(word);
            }
        };
        match self {
            Query::Term { field, term, .. } => note(*field, Marked::Term(term.clone())),
            Query::Pattern { field, pattern } => note(*field, Marked::Like(pattern.clone())),
            Query::Phrase { field, terms, .. } => {
                terms
                    .iter()
                    .for_each(|term| note(*field, Marked::Term(term.clone())));
            }
            Query::Boolean {
                required, optional, ..
            } => required
                .iter()
                .chain(optional)
                .for_each(|clause| clause.note_words(words)),
            Query::AnyTelling(clauses)
            | Query::AllTelling(clauses)
            | Query::AtLeast { clauses, .. }
            | Query::BestOf { clauses, .. } => {
                clauses.iter().for_each(|clause| clause.note_words(words));
            }
            Query::Constant { clause, .. }
            | Query::Boosted { clause, .. }
            | Query::Ruled { clause, .. }
            | Query::Named { clause, .. } => clause.note_words(words),
            Query::Nothing
            | Query::All
            | Query::TitleStart { .. }
            | Query::Value { .. }
            | Query::Urls(_)
            | Query::Filter(_) => {}
        }
    }

    /// Returns whether the query is of words and phrases alone: planning it looks these up, and reads no lists of words or
    /// columns of values.
    pub fn is_of_words(&self) -> bool {
        let are_of_words = |clauses: &[Query]| clauses.iter().all(Query::is_of_words);
        match self {
            Query::Nothing | Query::All | Query::Term { .. } | Query::Phrase { .. } => true,
            Query::Pattern { .. }
            | Query::TitleStart { .. }
            | Query::Value { .. }
            | Query::Urls(_) => false,
            Query::Boolean {
                required,
                optional,
                excluded,
            } => [required, optional, excluded]
                .into_iter()
                .all(|clauses| are_of_words(clauses)),
            Query::AnyTelling(clauses)
            | Query::AllTelling(clauses)
            | Query::AtLeast { clauses, .. }
            | Query::BestOf { clauses, .. } => are_of_words(clauses),
            Query::Constant { clause, .. }
            | Query::Filter(clause)
            | Query::Boosted { clause, .. }
            | Query::Ruled { clause, .. }
            | Query::Named { clause, .. } => clause.is_of_words(),
        }
    }

    /// Returns whether the query only says what to leave out: alone it matches nothing.
    pub fn only_excludes(&self) -> bool {
        match self {
            Query::Boolean {
                required,
                optional,
                excluded,
            } => required.is_empty() && optional.is_empty() && !excluded.is_empty(),
            Query::Named { clause, .. } => clause.only_excludes(),
            _ => false,
        }
    }

    /// Returns whether the query only selects documents, and adds nothing to their scores, whatever its place.
    pub(crate) fn only_filters(&self) -> bool {
        match self {
            Query::Term { field, .. } => *field == Field::Site,
            Query::All | Query::Filter(_) | Query::Value { .. } | Query::Urls(_) => true,
            Query::Boolean {
                required, optional, ..
            } => required.iter().chain(optional).all(Query::only_filters),
            Query::AtLeast { clauses, .. } | Query::BestOf { clauses, .. } => {
                clauses.iter().all(Query::only_filters)
            }
            Query::Boosted { clause, .. }
            | Query::Ruled { clause, .. }
            | Query::Named { clause, .. } => clause.only_filters(),
            Query::Nothing
            | Query::Pattern { .. }
            | Query::TitleStart { .. }
            | Query::Phrase { .. }
            | Query::Constant { .. }
            | Query::AnyTelling(_)
            | Query::AllTelling(_) => false,
        }
    }

    /// Returns the term of a query that is one word of the text.
    pub(crate) fn text_word(&self) -> Option<&str> {
        match self {
            Query::Term {
                field: Field::Text,
                term,
                ..
            } => Some(term),
            Query::Boosted { clause, .. } | Query::Named { clause, .. } => clause.text_word(),
            _ => None,
        }
    }

    /// Returns whether the query is one word, boosted or named perhaps, that counts for the score.
    pub(crate) fn is_one_word(&self) -> bool {
        match self {
            Query::Term { field, .. } => *field != Field::Site,
            Query::Boosted { clause, .. } | Query::Named { clause, .. } => clause.is_one_word(),
            _ => false,
        }
    }
}

/// Returns whether alternatives are a site and its subdomains.
fn is_site_with_subdomains(alternatives: &[Query]) -> bool {
    match alternatives {
        [
            Query::Term {
                field: Field::Site,
                term,
                ..
            },
            Query::Pattern {
                field: Field::Site,
                pattern: Pattern::Wildcard(signs),
            },
        ] => signs.strip_prefix("*.") == Some(term),
        _ => false,
    }
}
