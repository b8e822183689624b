//! Priors of rules: what adds to the scores of documents, by a value, a site, or an age.
//!
//! ```text
//! {"filter": "brand:Acme", "weight": 0.5}                    weight                          of what passes
//! {"site": "docs.example", "weight": 0.5}                    weight                          of the site and its subdomains
//! {"field": "published", "half_days": 30, "weight": 1}       weight · half / (half + age)    of dates; those to come have age 0
//! ```
//!
//! Unlike a [prior of a field](crate::Prior), which belongs to an index, they belong to its rules: they change at any time, and a
//! query can be searched without them.

use crate::prior::PRIOR_WEIGHT_MAX;
use serde::{Deserialize, Serialize};

/// Limits on the half of an age, in days.
const HALF_DAYS: std::ops::RangeInclusive<f64> = 1.0 / 1440.0..=100_000.0;

/// Prior of rules, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RulePrior {
    /// Test of the values of a field, in the language of filters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filter: String,
    /// Name of a site.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub site: String,
    /// Field of dates.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// Age that adds half the weight, in days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_days: Option<f64>,
    /// Upper bound on the addition to a score: above 0, up to 100.
    pub weight: f32,
}

// Numbers that are none are refused (`kind`).
impl Eq for RulePrior {}

/// What a prior of rules goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PriorKind<'a> {
    /// Whether a filter passes.
    Filter(&'a str),
    /// Whether a document is of a site or its subdomains.
    Site(&'a str),
    /// Age of a date.
    Age {
        /// Field of the date.
        field: &'a str,
        /// Age that adds half the weight, in days.
        half_days: f64,
    },
}

impl RulePrior {
    /// Returns what the prior goes by.
    ///
    /// # Errors
    /// An entry that says nothing or too much, or a number outside its range, as a sentence without its end.
    pub fn kind(&self) -> Result<PriorKind<'_>, String> {
        if !(self.weight > 0.0 && self.weight <= PRIOR_WEIGHT_MAX) {
            return Err(format!(
                "weight is {}; give more than 0, up to {PRIOR_WEIGHT_MAX}",
                self.weight
            ));
        }
        let named = [&self.filter, &self.site, &self.field].map(|name| !name.trim().is_empty());
        match (named, self.half_days) {
            ([true, false, false], None) => Ok(PriorKind::Filter(&self.filter)),
            ([false, true, false], None) => Ok(PriorKind::Site(&self.site)),
            ([false, false, true], Some(half_days)) if HALF_DAYS.contains(&half_days) => {
                Ok(PriorKind::Age {
                    field: &self.field,
                    half_days,
                })
            }
            ([false, false, true], Some(half_days)) => Err(format!(
                "half_days is {half_days}; give {:.4} (a minute) to {}",
                HALF_DAYS.start(),
                HALF_DAYS.end()
            )),
            _ => Err(
                "give one of filter = \"brand:Acme\", site = \"docs.example\", or field = \"published\" with \
                 half_days = 30"
                    .to_owned(),
            ),
        }
    }
}
