//! Priors that rules add to the scores of a whole query.

use super::{Oracle, OracleDocument};
use fields::{PriorOf, QueryPrior, Value};
use search::Query;

/// Returns the priors of a query that rules are around.
pub(super) fn rule_priors(query: &Query) -> &[QueryPrior] {
    match query {
        Query::Ruled { by, .. } => &by.priors,
        _ => &[],
    }
}

impl Oracle {
    /// Returns what rules around a query add to the score of a document.
    pub(super) fn rule_prior(&self, query: &Query, document: &OracleDocument, grid: f32) -> f32 {
        added(rule_priors(query), document, grid)
    }
}

fn added(priors: &[QueryPrior], document: &OracleDocument, grid: f32) -> f32 {
    let each = priors.iter().map(|prior| {
        let weight = prior.weight;
        let added = match &prior.of {
            PriorOf::Passes { field, test } => {
                let mut values = document.values.iter();
                let passes = values.any(|(name, value)| name == field && test.passes(value));
                if passes { weight } else { 0.0 }
            }
            PriorOf::Site(site) => {
                let is_within =
                    document.site == *site || document.site.ends_with(&format!(".{site}"));
                if is_within { weight } else { 0.0 }
            }
            PriorOf::Age {
                field,
                now_us,
                half_us,
            } => {
                let dates = document
                    .values
                    .iter()
                    .filter_map(|(name, value)| match value {
                        Value::Date(date_us) if name == field => Some(*date_us),
                        _ => None,
                    });
                dates.max().map_or(0.0, |newest_us| {
                    let age_us = (*now_us as f64 - newest_us as f64).max(0.0);
                    (f64::from(weight) * (half_us / (half_us + age_us))) as f32
                })
            }
        };
        (added + grid) - grid
    });
    each.sum()
}
