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
use super::ruling::Rulings;
use super::terms::{phrase_in_ways, word_query};
use crate::query::tree::Query;
use fields::{Rules, Schema};
use index::Field;
use std::collections::{HashMap, HashSet};
use text::{Analyzer, Pattern};

/// Weight of a synonym, where the word as typed has 1.
pub const SYNONYM_WEIGHT: f32 = 0.8;
/// Upper limit on the synonyms that are added to one query.
pub const SYNONYMS_ADDED_MAX: usize = 32;
/// Upper limit on the ways of writing a synonym of several words.
const SYNONYM_WAYS_MAX: usize = 4;

/// Rules of an index, read with its analyzer.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRules {
    stop_words: HashSet<String>,
    /// Words and runs of words that have synonyms, by their first word, those of the most words first.
    runs: HashMap<String, Vec<Run>>,
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
    /// Reads rules with the analyzer and the fields of an index; `None` where there are none.
    pub fn new(rules: &Rules, analyzer: Analyzer, schema: &Schema) -> Option<QueryRules> {
        if rules.is_empty() {
            return None;
        }
        let stop_words = rules.stop_words.iter();
        let stop_words = stop_words.filter_map(|word| only(words_of(word, analyzer)));
        let mut read = QueryRules {
            stop_words: stop_words.collect(),
            runs: HashMap::new(),
            synonyms: Vec::new(),
            rulings: Rulings::new(rules, analyzer, schema),
        };
        let mut runs: HashMap<Vec<String>, Run> = HashMap::new();
        let mut numbers: HashMap<Vec<String>, usize> = HashMap::new();
        for line in &rules.synonyms {
            let to = match line.to.is_empty() {
                true => &line.from,
                false => &line.to,
            };
            let mut found = Vec::with_capacity(to.len());
            for written in to {
                let words = words_of(written, analyzer);
                let number = match numbers.get(&words) {
                    Some(&number) => Some(number),
                    None => synonym_clause(written, analyzer).map(|clause| {
                        read.synonyms.push(Synonym {
                            written: written.clone(),
                            clause,
                        });
                        read.synonyms.len() - 1
                    }),
                };
                if let Some(number) = number {
                    numbers.insert(words.clone(), number);
                    found.push((words, number));
                }
            }
            for written in &line.from {
                let words = words_of(written, analyzer);
                if words.is_empty() {
                    continue;
                }
                let run = runs.entry(words.clone()).or_insert_with(|| Run {
                    words,
                    written: written.clone(),
                    synonyms: Vec::new(),
                });
                for (words, number) in &found {
                    // One more than are added, so that the query is warned of.
                    let is_full = run.synonyms.len() > SYNONYMS_ADDED_MAX;
                    if *words != run.words && !is_full && !run.synonyms.contains(number) {
                        run.synonyms.push(*number);
                    }
                }
            }
        }
        for (words, run) in runs {
            if !run.synonyms.is_empty() {
                read.runs.entry(words[0].clone()).or_default().push(run);
            }
        }
        for runs in read.runs.values_mut() {
            runs.sort_by_key(|run| std::cmp::Reverse(run.words.len()));
        }
        Some(read)
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

fn only(words: Vec<String>) -> Option<String> {
    let mut words = words.into_iter();
    words.next().filter(|_| words.next().is_none())
}

/// Returns the words of a rule, as [`word_of`] returns those of a query.
fn words_of(written: &str, analyzer: Analyzer) -> Vec<String> {
    let mut words = Vec::new();
    analyzer.each_query_word(written, |word| {
        words.extend(word_of(&word_query(Field::Text, word), false));
    });
    words
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

/// Returns the clause of a synonym: a word in its forms, or a phrase.
fn synonym_clause(written: &str, analyzer: Analyzer) -> Option<Query> {
    let mut words = Vec::new();
    analyzer.each_query_word(written, |word| words.push(word));
    match words.len() {
        0 => None,
        1 => words.pop().map(|word| word_query(Field::Text, word)),
        _ => {
            let mut ways = analyzer.phrase_ways(written);
            ways.truncate(SYNONYM_WAYS_MAX);
            phrase_in_ways(Field::Text, ways, 0)
        }
    }
}
