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
use super::clauses::{Clause, Join, Sign, simplified};
use super::limits::{Warnings, shortened};
use super::parser::Parser;
use super::terms::{phrase_in_ways, push_loose_words, word_query, words_count};
use crate::query::limits::{BOOST_MAX, BOOST_MIN, NAME_BYTES_MAX};
use crate::query::tree::Query;
use fields::Rules;
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
    synonyms: Vec<Synonym>,
}

/// Words with synonyms.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    words: Vec<String>,
    /// As the rule writes them.
    written: String,
    /// Numbers of their synonyms.
    synonyms: Vec<usize>,
}

/// Word, or run of words, that is searched beside others.
#[derive(Debug, Clone, PartialEq)]
struct Synonym {
    written: String,
    clause: Query,
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
    /// Reads rules with an analyzer; `None` where there are none.
    pub fn new(rules: &Rules, analyzer: Analyzer) -> Option<QueryRules> {
        if rules.is_empty() {
            return None;
        }
        let stop_words = rules.stop_words.iter();
        let stop_words = stop_words.filter_map(|word| only(words_of(word, analyzer)));
        let mut read = QueryRules {
            stop_words: stop_words.collect(),
            runs: HashMap::new(),
            synonyms: Vec::new(),
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
    fn run_at(&self, clauses: &[Clause], is_typing: bool) -> Option<&Run> {
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

    fn is_stop_word(&self, clause: &Clause, is_typing: bool) -> bool {
        // The word may go on.
        let is_begun = pattern_of(&clause.query)
            .is_some_and(|(_, pattern)| matches!(pattern, Pattern::NearStart { .. }));
        let word = || word_of(&clause.query, is_typing);
        !is_begun && word().is_some_and(|word| self.stop_words.contains(&word))
    }
}

impl Parser<'_> {
    /// Changes the clauses of a group as the rules of the index say.
    pub(super) fn obey_rules(&mut self, clauses: &mut Vec<Clause>) {
        let Some(rules) = self.read_with.rules else {
            return;
        };
        if self.excludes() || self.is_filter {
            return;
        }
        let is_typing = self.as_you_type.is_some();
        let words = apart(std::mem::take(clauses));
        let mut rest = &words[..];
        let mut is_plain = Vec::with_capacity(words.len());
        while let [first, after @ ..] = rest {
            match rules.run_at(rest, is_typing) {
                Some(run) => {
                    let (typed, after) = rest.split_at(run.words.len());
                    clauses.push(self.with_synonyms(typed, run, rules));
                    is_plain.push(false);
                    rest = after;
                }
                None => {
                    clauses.push(first.clone());
                    is_plain.push(true);
                    rest = after;
                }
            }
        }
        let stops: Vec<bool> = (0..clauses.len())
            .map(|at| {
                is_plain[at] && is_bare(clauses, at) && rules.is_stop_word(&clauses[at], is_typing)
            })
            .collect();
        let is_word = |(clause, is_stop): (&Clause, &bool)| {
            !is_stop && clause.sign != Some(Sign::Excluded) && !clause.query.only_filters()
        };
        if clauses.iter().zip(&stops).any(is_word) {
            for (clause, _) in clauses.iter().zip(&stops).filter(|(_, is_stop)| **is_stop) {
                if let Some(word) = word_of(&clause.query, is_typing) {
                    self.warnings.tell_rule(format!("stop word: {word}"));
                }
            }
            let mut stops = stops.into_iter();
            clauses.retain(|_| !stops.next().unwrap_or(false));
        }
    }

    /// Returns one clause for words that have synonyms.
    fn with_synonyms(&mut self, typed: &[Clause], run: &Run, rules: &QueryRules) -> Clause {
        let first = &typed[0];
        let weight = match &first.query {
            Query::Boosted { boost, .. } => SYNONYM_WEIGHT * boost,
            _ => SYNONYM_WEIGHT,
        };
        let mut alternatives = match typed {
            [only] => match only.query.clone() {
                Query::BestOf { clauses, .. } => clauses,
                query => vec![query],
            },
            words => {
                let words = words.iter().map(|clause| clause.query.clone()).collect();
                vec![simplified(words, Vec::new(), Vec::new())]
            }
        };
        for &number in &run.synonyms {
            let Synonym { written, clause } = &rules.synonyms[number];
            if self.synonyms_added == SYNONYMS_ADDED_MAX {
                self.warnings.add(format!(
                    "The query has more than {SYNONYMS_ADDED_MAX} synonyms; the rest was not looked for."
                ));
                break;
            }
            let count = words_count(clause);
            if self.words.admit(count, self.warnings) < count {
                break;
            }
            self.synonyms_added += 1;
            let rule = format!("{} -> {written}", run.written);
            let boosted = Query::Boosted {
                boost: weight.clamp(BOOST_MIN, BOOST_MAX),
                clause: Box::new(clause.clone()),
            };
            alternatives.push(match self.read_with.is_explained {
                true => named(&rule, boosted),
                false => boosted,
            });
            self.warnings.tell_rule(format!("synonym: {rule}"));
        }
        Clause {
            query: Query::BestOf {
                clauses: alternatives,
                tie_breaker: 0.0,
            },
            ..first.clone()
        }
    }

    /// Reads a text without any syntax.
    pub(super) fn words_alone(mut self, text: &str) -> (Query, Option<Query>) {
        let mut words = Vec::new();
        match self.as_you_type {
            Some(_) => self.push_typed(Field::Text, text, &mut words),
            None => self
                .analyzer(Field::Text)
                .each_query_word(text, |word| words.push(word_query(Field::Text, word))),
        }
        for word in words {
            let count = words_count(&word);
            if self.words.admit(count, self.warnings) < count {
                break;
            }
            self.top().push_run(word);
        }
        self.finish()
    }
}

/// Returns whether a clause is typed as a plain word that nothing joins to another.
fn is_bare(clauses: &[Clause], at: usize) -> bool {
    let Clause {
        join, sign, is_run, ..
    } = &clauses[at];
    let after = clauses.get(at + 1);
    *is_run
        && sign.is_none()
        && *join == Join::None
        && after.is_none_or(|after| after.join == Join::None)
}

/// Divides runs such as `foo/bar` into clauses of one word each.
fn apart(clauses: Vec<Clause>) -> Vec<Clause> {
    let are_bare: Vec<bool> = (0..clauses.len()).map(|at| is_bare(&clauses, at)).collect();
    let mut words = Vec::with_capacity(clauses.len());
    for (mut clause, is_bare) in clauses.into_iter().zip(are_bare) {
        let query = std::mem::replace(&mut clause.query, Query::Nothing);
        match query {
            Query::Boolean {
                required,
                optional,
                excluded,
            } if is_bare && optional.is_empty() && excluded.is_empty() => {
                words.extend(required.into_iter().map(|query| Clause {
                    query,
                    ..clause.clone()
                }));
            }
            query => words.push(Clause { query, ..clause }),
        }
    }
    words
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
fn word_of(query: &Query, is_typing: bool) -> Option<String> {
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

fn named(rule: &str, clause: Query) -> Query {
    let short = shortened(rule);
    debug_assert!(short.len() <= NAME_BYTES_MAX, "{short}");
    Query::Named {
        name: short,
        clause: Box::new(clause),
    }
}

/// Returns a group of [`Parser::with_synonyms`] of whose typed words, in their parts, `join` makes one clause. `None` for other
/// clauses.
pub(super) fn loosened(query: &Query, join: fn(Vec<Query>) -> Query) -> Option<Query> {
    let Query::BestOf {
        clauses,
        tie_breaker,
    } = query
    else {
        return None;
    };
    let (Some(typed), Some(Query::Boosted { .. } | Query::Named { .. })) =
        (clauses.first(), clauses.last())
    else {
        return None;
    };
    let mut words = Vec::new();
    match typed {
        Query::Boolean { required, .. } if !required.is_empty() => required
            .iter()
            .for_each(|word| push_loose_words(word.clone(), &mut words)),
        word => push_loose_words(word.clone(), &mut words),
    }
    let typed = match words.len() {
        1 => words.pop()?,
        _ => join(words),
    };
    Some(Query::BestOf {
        clauses: std::iter::once(typed)
            .chain(clauses[1..].iter().cloned())
            .collect(),
        tie_breaker: *tie_breaker,
    })
}

/// Returns the number of typed words of a group of [`Parser::with_synonyms`]; 1 for another clause.
pub(super) fn typed_words_count(query: &Query) -> usize {
    match query {
        Query::BestOf { clauses, .. } => match clauses.first() {
            Some(Query::Boolean { required, .. }) if !required.is_empty() => required.len(),
            _ => 1,
        },
        _ => 1,
    }
}

impl Warnings {
    fn tell_rule(&mut self, rule: String) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }
}
