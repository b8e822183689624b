//! Reading of rules of relevance with the analyzer and the fields of an index.

use super::rules::{QueryRules, Run, SYNONYMS_ADDED_MAX, Synonym, word_of};
use super::ruling::{ReadPrior, Rulings};
use super::sites::site_query;
use super::terms::{phrase_in_ways, word_query};
use super::typed::parse_filter;
use crate::query::tree::Query;
use fields::{FieldType, PriorKind, PriorOf, QueryPrior, RulePrior, Rules, Schema, days_us};
use index::Field;
use std::collections::HashMap;
use text::{Analyzer, folded_words};

/// Upper limit on the ways of writing a synonym of several words.
const SYNONYM_WAYS_MAX: usize = 4;

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
            rulings: Rulings::read(rules, analyzer, schema),
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

impl Rulings {
    fn read(rules: &Rules, analyzer: Analyzer, schema: &Schema) -> Rulings {
        let (mut priors, mut ignored) = (Vec::new(), Vec::new());
        for (number, rule) in (1..).zip(&rules.priors) {
            match read_prior(rule, analyzer, schema) {
                Ok(prior) => priors.push(prior),
                Err(reason) => ignored.push(format!(
                    "The rules' prior number {number} was ignored: {reason}."
                )),
            }
        }
        let mut pins_of: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, pins) in rules.pins.iter().enumerate() {
            for query in &pins.queries {
                let numbers = pins_of.entry(folded_words(query)).or_default();
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
        }
        Rulings {
            priors,
            pins: rules.pins.clone(),
            pins_of,
            ignored,
        }
    }
}

/// Reads a prior with the fields of an index.
fn read_prior(rule: &RulePrior, analyzer: Analyzer, schema: &Schema) -> Result<ReadPrior, String> {
    let (written, of) = match rule.kind()? {
        PriorKind::Filter(filter) => {
            let of = match parse_filter(filter, analyzer, schema)? {
                Query::Filter(clause) => match *clause {
                    Query::Value { field, test } => Some(PriorOf::Passes { field, test }),
                    _ => None,
                },
                _ => None,
            };
            let of = of.ok_or_else(|| {
                format!(
                    "{filter:?} is no single test of a field's values, as brand:Acme or price:<100"
                )
            })?;
            (filter.to_owned(), of)
        }
        PriorKind::Site(site) => match site_query(site, false) {
            Some(Query::Term {
                field: Field::Site,
                term,
                ..
            }) => (format!("site:{term}"), PriorOf::Site(term)),
            _ => return Err(format!("{site:?} is no name of a site")),
        },
        PriorKind::Age { field, half_days } => match schema.get(field) {
            Some(FieldType::Date) => {
                let of = PriorOf::Age {
                    field: field.to_owned(),
                    now_us: 0,
                    half_us: days_us(half_days),
                };
                (format!("age of {field}, half at {half_days} days"), of)
            }
            Some(other) => {
                return Err(format!(
                    "the field {field:?} has no dates: its type is {other}"
                ));
            }
            None => return Err(format!("there is no field {field:?}")),
        },
    };
    Ok(ReadPrior {
        written: format!("{written}, weight {}", rule.weight),
        prior: QueryPrior {
            weight: rule.weight,
            of,
        },
    })
}
