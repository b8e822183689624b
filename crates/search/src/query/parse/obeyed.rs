//! Rules of relevance as a query obeys them: its clauses with synonyms, and without stop words.

use super::clauses::{Clause, Join, Sign, simplified};
use super::limits::{Warnings, shortened};
use super::parser::Parser;
use super::rules::{QueryRules, Run, SYNONYM_WEIGHT, SYNONYMS_ADDED_MAX, Synonym, word_of};
use super::terms::{word_query, words_count};
use crate::query::limits::{BOOST_MAX, BOOST_MIN, NAME_BYTES_MAX};
use crate::query::tree::Query;
use index::Field;

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

fn named(rule: &str, clause: Query) -> Query {
    let short = shortened(rule);
    debug_assert!(short.len() <= NAME_BYTES_MAX, "{short}");
    Query::Named {
        name: short,
        clause: Box::new(clause),
    }
}

impl Warnings {
    fn tell_rule(&mut self, rule: String) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }
}
