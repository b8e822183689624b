//! Rules of relevance in the terms of an analyzer, and what they make of the clauses of a query.
//!
//! ```text
//! tv, telly                 tv stand      best of (tv, telly^.8) stand
//! big apple -> new york     big apple     best of (big AND apple, "new york"^.8)
//! ```
//!
//! A rule is about words without a field, sign `-` or quotation mark, which are no patterns. Of rules for words that overlap, that for
//! the most words holds, from the left; what a rule adds is looked up in no further rule.

use super::as_you_type::pattern_of;
use super::clauses::{Clause, Join, Sign};
use super::ruling::{Ruled, Rulings};
use crate::query::tree::Query;
use index::Field;
use std::collections::{HashMap, HashSet};
use text::Pattern;

/// Weight of a synonym, where the word as typed has 1.
pub const SYNONYM_WEIGHT: f32 = 0.8;
/// Upper limit on the synonyms that are added to one query.
pub const SYNONYMS_ADDED_MAX: usize = 32;

/// Rules of an index, read with its analyzer.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRules {
    pub(super) stop_words: HashSet<String>,
    /// Words and runs of words that have synonyms, by their first word, those of the most words first.
    pub(super) runs: HashMap<String, Vec<Run>>,
    pub(super) synonyms: Vec<Synonym>,
    pub(super) rulings: Rulings,
}

/// Words with synonyms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) words: Vec<String>,
    /// As the rule writes them.
    pub(super) written: String,
    /// Numbers of their synonyms.
    pub(super) synonyms: Vec<usize>,
}

/// Word, or run of words, that is searched beside others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Synonym {
    pub(super) written: String,
    pub(super) clause: Query,
}

/// What a query is read with beside the fields of its index.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadWith<'r> {
    /// Rules of the index; `None` for none.
    pub rules: Option<&'r QueryRules>,
    /// Whether clauses that rules add are named, for explanations.
    pub is_explained: bool,
}

impl QueryRules {
    /// Returns what the rules say of the hits of a query, given its text and the day, from 1970.
    pub fn ruled(&self, text: &str, day: i64) -> Ruled {
        self.rulings.ruled(text, day)
    }

    /// Returns why rules are not obeyed, a sentence each.
    pub fn ignored(&self) -> &[String] {
        self.rulings.ignored()
    }

    /// Returns whether scores depend on the day of a search.
    pub fn has_ages(&self) -> bool {
        self.rulings.has_ages()
    }

    /// Returns the run of the most words that some clauses begin with.
    pub(super) fn run_at(&self, clauses: &[Clause], is_typing: bool) -> Option<&Run> {
        let [first, rest @ ..] = clauses else {
            return None;
        };
        if first.sign == Some(Sign::Excluded) || !first.is_run {
            return None;
        }
        let word = word_of(&first.query, is_typing)?;
        let continues = |run: &Run| {
            let others = run.words.len() - 1;
            let is_apart = rest
                .get(others)
                .is_none_or(|after| after.join == Join::None);
            let is_bare = first.sign.is_none() && first.join == Join::None && is_apart;
            is_bare
                && rest.len() >= others
                && run.words[1..].iter().zip(rest).all(|(word, clause)| {
                    clause.is_run
                        && clause.sign.is_none()
                        && clause.join == Join::None
                        && word_of(&clause.query, is_typing).as_ref() == Some(word)
                })
        };
        let runs = self.runs.get(&word)?.iter();
        let mut fitting = runs.filter(|run| run.words.len() == 1 || continues(run));
        fitting.next()
    }

    pub(super) fn is_stop_word(&self, clause: &Clause, is_typing: bool) -> bool {
        // The word may go on.
        let is_begun = pattern_of(&clause.query)
            .is_some_and(|(_, pattern)| matches!(pattern, Pattern::NearStart { .. }));
        let word = || word_of(&clause.query, is_typing);
        !is_begun && word().is_some_and(|word| self.stop_words.contains(&word))
    }
}

/// Returns what a word has in common with all words that are written otherwise and mean the same to the analyzer: its terms in
/// all forms. `None` for what is no word without a field.
pub(super) fn word_of(query: &Query, is_typing: bool) -> Option<String> {
    match query {
        Query::Term {
            field: Field::Text,
            term,
            ..
        } => Some(term.clone()),
        Query::Phrase {
            field: Field::Text,
            terms,
            slop: 0,
        } => Some(terms.join(" ")),
        Query::Boolean {
            required,
            optional,
            excluded,
        } if required.is_empty() && excluded.is_empty() => {
            let forms: Option<Vec<String>> =
                optional.iter().map(|form| word_of(form, false)).collect();
            forms.map(|forms| forms.join("\n"))
        }
        Query::Boosted { clause, .. } => word_of(clause, is_typing),
        // The word as it stands, beside what it may become.
        Query::BestOf { clauses, .. } if is_typing => match &clauses[..] {
            [
                word,
                Query::Pattern {
                    pattern: Pattern::NearStart { .. } | Pattern::Near { fixed: 1.., .. },
                    ..
                },
            ] => word_of(word, false),
            _ => None,
        },
        _ => None,
    }
}
