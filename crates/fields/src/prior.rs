//! Priors of the ranking: values of documents that add to the score of every hit, whatever the query.
//!
//! ```text
//! "rank": {"type": "f64", "prior": {"weight": 0.8, "pivot": 1.0}}       an entry of a schema
//!
//! prior(v) = weight · v / (v + pivot)        v > 0; 0 for other values, and without one
//! ```
//!
//! The saturation is one of the three forms of Craswell, Robertson, Zaragoza and Taylor, "Relevance weighting for query
//! independent evidence" (SIGIR 2005), and that of Lucene's `FeatureField`. It is bounded by the weight, which is what an
//! exact search needs to know of it.

use serde::{Deserialize, Serialize};

/// Upper limit on the weight of a prior.
pub(crate) const PRIOR_WEIGHT_MAX: f32 = 100.0;
/// Limits on pivots.
const PIVOTS: std::ops::RangeInclusive<f64> = 1e-9..=1e15;

/// Prior of a field: a saturating function of its value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Upper bound on the addition to a score: above 0, up to 100.
    pub weight: f32,
    /// Value that adds half the weight.
    pub pivot: f64,
}

// Weight and pivot are finite (`is_sound`).
impl Eq for Prior {}

impl Prior {
    /// Returns whether weight and pivot are in their ranges.
    pub fn is_sound(&self) -> bool {
        self.weight > 0.0 && self.weight <= PRIOR_WEIGHT_MAX && PIVOTS.contains(&self.pivot)
    }

    /// Returns the addition of a value to a score: 0 to the weight, rising with the value.
    pub fn of(&self, value: f64) -> f32 {
        if value > 0.0 {
            // An infinite value makes this no number, which `min` drops.
            let share = (value / (value + self.pivot)).min(1.0);
            (f64::from(self.weight) * share) as f32
        } else {
            0.0
        }
    }
}

/// Priors of an index, by the name of the field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Priors(Vec<(String, Prior)>);

impl Priors {
    /// Returns whether no field has a prior.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the priors in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Prior)> {
        self.0.iter().map(|(name, prior)| (name.as_str(), *prior))
    }
}

impl FromIterator<(String, Prior)> for Priors {
    fn from_iter<I: IntoIterator<Item = (String, Prior)>>(priors: I) -> Priors {
        Priors(priors.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_rise_with_the_value_up_to_the_weight() {
        let prior = Prior {
            weight: 2.0,
            pivot: 3.0,
        };
        let of = |value: f64| prior.of(value);
        assert_eq!([of(0.0), of(3.0), of(9.0)], [0.0, 1.0, 1.5]);
        assert_eq!([of(-4.0), of(f64::NAN), of(f64::NEG_INFINITY)], [0.0; 3]);
        assert_eq!([of(f64::MAX), of(f64::INFINITY)], [2.0; 2]);
        let values = (0..200).map(|power| 1.5f64.powi(power - 100));
        assert!(values.map(of).is_sorted());
    }

    #[test]
    fn limits_are_checked() {
        let is_sound = |weight, pivot| Prior { weight, pivot }.is_sound();
        assert!(is_sound(0.1, 1e-9) && is_sound(PRIOR_WEIGHT_MAX, 1e15));
        for (weight, pivot) in [
            (0.0, 1.0),
            (-1.0, 1.0),
            (101.0, 1.0),
            (f32::NAN, 1.0),
            (1.0, 0.0),
            (1.0, f64::NAN),
            (1.0, f64::INFINITY),
        ] {
            assert!(!is_sound(weight, pivot), "{weight} {pivot}");
        }
    }
}
