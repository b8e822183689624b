//! Rules about the hits of a query: priors, and documents that are pinned or hidden.

use super::rules::QueryRules;
use super::sites::site_query;
use super::typed::parse_filter;
use crate::query::tree::Query;
use fields::{FieldType, Pins, PriorKind, PriorOf, QueryPrior, RulePrior, Rules, Schema, days_us};
use index::Field;
use std::collections::HashMap;
use text::{Analyzer, folded_words};

/// Ages are counted from the begin of a day in UTC, so that the pages of a query have the same scores.
const DAY_US: i64 = 86_400_000_000;

/// Rules about hits, read with the analyzer and the fields of an index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rulings {
    priors: Vec<ReadPrior>,
    pins: Vec<Pins>,
    /// Numbers of the pins of a query, by its folded words.
    pins_of: HashMap<String, Vec<usize>>,
    /// What is not obeyed, and why.
    ignored: Vec<String>,
}

/// A prior, with ages from an unknown time.
#[derive(Debug, Clone, PartialEq)]
struct ReadPrior {
    written: String,
    prior: QueryPrior,
}

/// What rules say of the hits of one query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ruled {
    /// What adds to their scores.
    pub priors: Vec<QueryPrior>,
    /// URLs of the documents that stand first.
    pub first: Vec<String>,
    /// URLs of the documents that are hidden.
    pub hidden: Vec<String>,
    /// The rules, as explanations name them.
    pub rules: Vec<String>,
}

impl Rulings {
    pub(super) fn new(rules: &Rules, analyzer: Analyzer, schema: &Schema) -> Rulings {
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

impl QueryRules {
    /// Returns what the rules say of the hits of a query, given its text and the time, in microseconds since 1970.
    pub fn ruled(&self, text: &str, now_us: i64) -> Ruled {
        let Rulings {
            priors,
            pins,
            pins_of,
            ..
        } = &self.rulings;
        let mut ruled = Ruled::default();
        for ReadPrior { written, prior } in priors {
            ruled.rules.push(format!("prior: {written}"));
            ruled
                .priors
                .push(at(prior, now_us.div_euclid(DAY_US) * DAY_US));
        }
        let numbers = match pins_of.is_empty() {
            true => None,
            false => pins_of.get(&folded_words(text)),
        };
        for &number in numbers.into_iter().flatten() {
            let Pins { first, hidden, .. } = &pins[number];
            // The first entry that names a URL decides.
            for (from, to) in [(first, true), (hidden, false)] {
                for url in from {
                    if !ruled.first.contains(url) && !ruled.hidden.contains(url) {
                        let (list, word) = match to {
                            true => (&mut ruled.first, "pinned"),
                            false => (&mut ruled.hidden, "hidden"),
                        };
                        list.push(url.clone());
                        ruled.rules.push(format!("{word}: {url}"));
                    }
                }
            }
        }
        ruled
    }

    /// Returns why rules are not obeyed, a sentence each.
    pub fn ignored(&self) -> &[String] {
        &self.rulings.ignored
    }

    /// Returns whether scores depend on the day of a search.
    pub fn has_ages(&self) -> bool {
        let mut priors = self.rulings.priors.iter();
        priors.any(|read| matches!(read.prior.of, PriorOf::Age { .. }))
    }
}

/// Returns a prior whose ages count from a time.
fn at(prior: &QueryPrior, now_us: i64) -> QueryPrior {
    let of = match &prior.of {
        PriorOf::Age { field, half_us, .. } => PriorOf::Age {
            field: field.clone(),
            now_us,
            half_us: *half_us,
        },
        of => of.clone(),
    };
    QueryPrior {
        weight: prior.weight,
        of,
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
