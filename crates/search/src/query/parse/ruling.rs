//! Rules about the hits of a query: priors, and documents that are pinned or hidden.

use crate::query::limits::URLS_MAX;
use fields::{Pins, PriorOf, QueryPrior};
use std::collections::HashMap;
use text::folded_words;

/// Microseconds of a day. Ages are counted from the begin of one in UTC, so that the pages of a query have the same scores.
const DAY_US: i64 = 86_400_000_000;

/// Rules about hits, read with the analyzer and the fields of an index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rulings {
    pub(super) priors: Vec<ReadPrior>,
    pub(super) pins: Vec<Pins>,
    /// Numbers of the pins of a query, by its folded words.
    pub(super) pins_of: HashMap<String, Vec<usize>>,
    /// What is not obeyed, and why.
    pub(super) ignored: Vec<String>,
}

/// A prior, with ages from an unknown time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadPrior {
    pub(super) written: String,
    pub(super) prior: QueryPrior,
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
    /// Returns what the rules say of the hits of a query, given its text and the day, from 1970.
    pub(super) fn ruled(&self, text: &str, day: i64) -> Ruled {
        let Rulings {
            priors,
            pins,
            pins_of,
            ..
        } = self;
        let mut ruled = Ruled::default();
        for ReadPrior { written, prior } in priors {
            ruled.rules.push(format!("prior: {written}"));
            ruled.priors.push(at(prior, day.saturating_mul(DAY_US)));
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
                    // One clause excludes them all.
                    let is_full = ruled.first.len() + ruled.hidden.len() >= URLS_MAX;
                    if !is_full && !ruled.first.contains(url) && !ruled.hidden.contains(url) {
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
    pub(super) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Returns whether scores depend on the day of a search.
    pub(super) fn has_ages(&self) -> bool {
        let mut priors = self.priors.iter();
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
