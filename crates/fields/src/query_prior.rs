//! Priors of one query, as the rules of its index give them: what adds to the scores of its hits.

use crate::test::Test;

/// Microseconds of a day.
const DAY_US: f64 = 86_400e6;

/// Prior of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPrior {
    /// Upper bound on the addition to a score.
    pub weight: f32,
    /// What adds it.
    pub of: PriorOf,
}

/// What a prior of a query goes by.
#[derive(Debug, Clone, PartialEq)]
pub enum PriorOf {
    /// A value that passes a test adds the weight.
    Passes {
        /// Name of the field.
        field: String,
        /// The test.
        test: Test,
    },
    /// Documents of a site or its subdomains have the weight added.
    Site(String),
    /// A date adds `weight · half / (half + age)`, dates to come the weight.
    Age {
        /// Name of the field.
        field: String,
        /// Time from which ages count, in microseconds since 1970.
        now_us: i64,
        /// Age that adds half the weight, in microseconds.
        half_us: f64,
    },
}

impl QueryPrior {
    /// Returns whether the numbers are in their ranges.
    pub fn is_sound(&self) -> bool {
        let is_half = match &self.of {
            PriorOf::Age { half_us, .. } => half_us.is_finite() && *half_us > 0.0,
            PriorOf::Passes { .. } | PriorOf::Site(_) => true,
        };
        self.weight > 0.0 && self.weight <= crate::prior::PRIOR_WEIGHT_MAX && is_half
    }
}

/// Returns a number of days in microseconds.
pub fn days_us(days: f64) -> f64 {
    days * DAY_US
}

/// Returns the addition of a date to a score: `weight · half / (half + age)`, times in microseconds.
pub fn of_age(weight: f32, now_us: i64, half_us: f64, date_us: i64) -> f32 {
    let age_us = (now_us as f64 - date_us as f64).max(0.0);
    (f64::from(weight) * (half_us / (half_us + age_us))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_has_the_weight_added_and_what_is_as_old_as_the_half_has_half() {
        let half_us = days_us(30.0);
        let of = |days: f64| of_age(0.5, 0, half_us, -(days_us(days) as i64));
        assert_eq!(
            [of(-100.0), of(0.0), of(30.0), of(90.0)],
            [0.5, 0.5, 0.25, 0.125]
        );
        let oldest = of_age(1.0, i64::MAX, half_us, i64::MIN);
        assert!((0.0..1e-3).contains(&oldest), "{oldest}");
    }
}
