//! Sketch of the distribution of numbers, for percentiles: a DDSketch (Masson, Rim and Lee, "DDSketch: a fast and
//! fully-mergeable quantile sketch with relative-error guarantees", 2019) whose intervals are those of the bits of floats.
//!
//! ```text
//! interval of x = sign, exponent and the first six bits of the fraction of x    64 intervals from a power of two to the next
//! value of [a, b) = (a + b) / 2                                                 off by at most 1/128 of any x in it
//! ```
//!
//! Intervals come from bits, not from a logarithm, whose last digit differs by machine. None is ever joined with another,
//! so a sketch depends on the numbers alone and not on the order in which parts were merged. At most 2,048 intervals hold
//! the numbers from 10^-5 to 10^5 of either sign.

use crate::value::Value;

/// Name of the method, with its error.
pub const SKETCH_METHOD: &str = "DDSketch, relative error at most 0.8 %";

/// Bits of a fraction that its interval leaves out.
const CUT_BITS: u32 = 46;
/// Number of intervals.
const INTERVALS: u32 = 1 << (64 - CUT_BITS);

/// Numbers of the values in each interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuantileSketch {
    /// Intervals and the number of their values, in the order of values.
    counts: Vec<(u32, u64)>,
}

impl QuantileSketch {
    /// Counts values, each with its number, in increasing order.
    pub fn of_sorted(values: impl IntoIterator<Item = (Value, u64)>) -> QuantileSketch {
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for (value, count) in values {
            let Some(interval) = number(&value).map(interval_of) else {
                continue;
            };
            match counts.last_mut() {
                Some(last) if last.0 == interval => last.1 += count,
                _ => counts.push((interval, count)),
            }
        }
        QuantileSketch { counts }
    }

    /// Makes a sketch of intervals in increasing order; `None` where they are not, or are none.
    pub fn of_intervals(counts: Vec<(u32, u64)>) -> Option<QuantileSketch> {
        let is_sorted = counts.is_sorted_by(|a, b| a.0 < b.0);
        let are_known = counts.last().is_none_or(|last| last.0 < INTERVALS);
        (is_sorted && are_known).then_some(QuantileSketch { counts })
    }

    /// Returns the intervals and the number of values of each, in increasing order.
    pub fn intervals(&self) -> &[(u32, u64)] {
        &self.counts
    }

    /// Adds the values of another part.
    pub fn join(&mut self, other: &QuantileSketch) {
        let mut merged = Vec::with_capacity(self.counts.len() + other.counts.len());
        let (mut own, mut others) = (&self.counts[..], &other.counts[..]);
        while let (Some(a), Some(b)) = (own.first(), others.first()) {
            let next = a.0.min(b.0);
            let mut count = 0;
            for side in [&mut own, &mut others] {
                if let Some((first, rest)) = side.split_first()
                    && first.0 == next
                {
                    count += first.1;
                    *side = rest;
                }
            }
            merged.push((next, count));
        }
        merged.extend_from_slice(own);
        merged.extend_from_slice(others);
        self.counts = merged;
    }

    /// Returns the value that `percent` percent of the values do not exceed, the nearest rank, off by at most the error
    /// of the sketch; whole for integers. `least` and `greatest` are those of all values.
    pub fn percentile(&self, percent: f64, least: &Value, greatest: &Value) -> Option<Value> {
        let total: u64 = self.counts.iter().map(|(_, count)| count).sum();
        let rank = (percent / 100.0 * total as f64).ceil().max(1.0) as u64;
        if total == 0 {
            return None;
        }
        if rank >= total {
            return Some(greatest.clone());
        }
        let mut before = 0;
        let interval = self.counts.iter().find(|(_, count)| {
            before += count;
            before >= rank
        });
        let middle = middle_of(interval?.0, matches!(least, Value::Integer(_)));
        let middle = match least {
            Value::Integer(_) => Value::Integer(middle as i64),
            _ => Value::float(middle)?,
        };
        Some(match (middle.order(least), middle.order(greatest)) {
            (std::cmp::Ordering::Less, _) => least.clone(),
            (_, std::cmp::Ordering::Greater) => greatest.clone(),
            _ => middle,
        })
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Keyword(_) | Value::Bool(_) | Value::Date(_) => None,
    }
}

/// Returns the interval of a number; intervals are in the order of numbers.
fn interval_of(number: f64) -> u32 {
    let key = Value::Float(number).key().unwrap_or_default();
    (key >> CUT_BITS) as u32
}

/// Returns the middle of an interval, or of the integers in it; 0 for that of 0.
fn middle_of(interval: u32, is_whole: bool) -> f64 {
    if interval == interval_of(0.0) {
        return 0.0;
    }
    let first = u64::from(interval) << CUT_BITS;
    let (low, high) = (float_of(first), float_of(first | ((1 << CUT_BITS) - 1)));
    let (whole_low, whole_high) = (low.ceil(), high.floor());
    if is_whole && whole_low <= whole_high {
        return (whole_low + (whole_high - whole_low) / 2.0).floor();
    }
    low + (high - low) / 2.0
}

/// Returns the float of a key, as [`Value::key`] makes it of one.
fn float_of(key: u64) -> f64 {
    const SIGN: u64 = 1 << 63;
    f64::from_bits(match key & SIGN {
        0 => !key,
        _ => key ^ SIGN,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(values: &[Value]) -> QuantileSketch {
        let mut sorted = values.to_vec();
        sorted.sort_by(Value::order);
        QuantileSketch::of_sorted(sorted.into_iter().map(|value| (value, 1)))
    }

    fn float(value: &Value) -> f64 {
        number(value).unwrap()
    }

    fn check(values: &[Value]) {
        let sketch = sketch(values);
        let mut sorted = values.to_vec();
        sorted.sort_by(Value::order);
        let (least, greatest) = (&sorted[0], &sorted[sorted.len() - 1]);
        for percent in [0.0, 0.1, 1.0, 25.0, 50.0, 75.0, 99.0, 99.9, 100.0] {
            let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
            let exact = float(&sorted[rank - 1]);
            let found = float(&sketch.percentile(percent, least, greatest).unwrap());
            // Integers of an interval are rounded to one of them.
            let allowed = exact.abs() * (1.0 / 128.0 + 1e-12) + f64::MIN_POSITIVE;
            assert!(
                (found - exact).abs() <= allowed,
                "{percent}: {found} for {exact}"
            );
        }
    }

    proptest! {
        #[test]
        fn percentiles_are_near(
            floats in prop::collection::vec(prop_oneof![-1e6f64..1e6, any::<f64>().prop_filter("finite", |x| x.is_finite())], 1..200),
            integers in prop::collection::vec(prop_oneof![-200i64..200, any::<i64>()], 1..200),
        ) {
            check(&floats.into_iter().map(|number| Value::float(number).unwrap()).collect::<Vec<_>>());
            check(&integers.into_iter().map(Value::Integer).collect::<Vec<_>>());
        }

        #[test]
        fn parts_give_the_same_sketch_in_any_order(
            numbers in prop::collection::vec(any::<i64>(), 0..100),
            parts in prop::collection::vec(0usize..5, 100),
            order in Just([0, 1, 2, 3, 4]).prop_shuffle(),
        ) {
            let values: Vec<Value> = numbers.into_iter().map(Value::Integer).collect();
            let mut joined = QuantileSketch::default();
            for part in order {
                let own: Vec<Value> = values.iter().zip(&parts).filter(|one| *one.1 == part).map(|one| one.0.clone()).collect();
                joined.join(&sketch(&own));
            }
            prop_assert_eq!(&joined, &sketch(&values));
            let again = QuantileSketch::of_intervals(joined.intervals().to_vec());
            prop_assert_eq!(again, Some(joined));
        }
    }

    /// A million numbers of skewed distributions: at most 1 % off.
    #[test]
    fn many_numbers_are_near() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let numbers: Vec<f64> = (0..300_000)
            .map(|_| (1.0 / (1.0 - random())).powi(2))
            .collect();
        check(
            &numbers
                .iter()
                .map(|&number| Value::Float(number))
                .collect::<Vec<_>>(),
        );
        let small: Vec<Value> = (0..=128).map(Value::Integer).collect();
        let sketch = sketch(&small);
        for percent in 1..=99 {
            let rank = (f64::from(percent) / 100.0 * 129.0).ceil() as i64;
            let found = sketch.percentile(percent.into(), &small[0], &small[128]);
            assert_eq!(
                found,
                Some(Value::Integer(rank - 1)),
                "small integers are exact"
            );
        }
    }

    #[test]
    fn what_is_no_sketch_is_refused() {
        assert_eq!(QuantileSketch::of_intervals(vec![(3, 1), (3, 1)]), None);
        assert_eq!(QuantileSketch::of_intervals(vec![(INTERVALS, 1)]), None);
        let empty = QuantileSketch::default();
        assert_eq!(
            empty.percentile(50.0, &Value::Float(0.0), &Value::Float(0.0)),
            None
        );
    }
}
