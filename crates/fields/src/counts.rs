//! Counts of a facet over a part of the matches, and their merge.
//!
//! Merging is exact and does not depend on the order of parts: counts are integers; sums of integers have 128 bits;
//! sums of floats are kept as several floats that add up to them exactly (Shewchuk, "Adaptive precision floating-point
//! arithmetic", 1997, section 2.4) and are rounded once, at the end.

use crate::value::Value;
use std::cmp::Ordering;

/// Counts of one facet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FacetCounts {
    /// Documents of each value, bucket or range, in the order of values, without zeros. A range is its number.
    pub counts: Vec<(Value, u64)>,
    /// Documents that have a value.
    pub documents_count: u64,
    /// Documents that match the query.
    pub matches_count: u64,
    /// Values that `counts` leaves out, of the only part that has any.
    pub further_values_count: u64,
    /// Sum of their counts.
    pub further_count: u64,
    /// Statistics of the values, for facets of statistics.
    pub stats: Stats,
}

/// Statistics of numbers, which may be dates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Number of values.
    pub values_count: u64,
    /// Least value.
    pub least: Option<Value>,
    /// Greatest value.
    pub greatest: Option<Value>,
    /// Sum of integers and dates.
    pub integer_sum: i128,
    /// Floats whose exact sum is that of the float values, by increasing size.
    pub float_parts: Vec<f64>,
}

impl FacetCounts {
    /// Adds the counts of another part.
    pub fn join(&mut self, other: FacetCounts) {
        self.documents_count += other.documents_count;
        self.matches_count += other.matches_count;
        self.further_values_count += other.further_values_count;
        self.further_count += other.further_count;
        self.stats.join(&other.stats);
        if self.counts.is_empty() {
            self.counts = other.counts;
            return;
        }
        let mut merged = Vec::with_capacity(self.counts.len() + other.counts.len());
        let mut own = std::mem::take(&mut self.counts).into_iter().peekable();
        let mut others = other.counts.into_iter().peekable();
        while let (Some(a), Some(b)) = (own.peek(), others.peek()) {
            match a.0.order(&b.0) {
                Ordering::Less => merged.extend(own.next()),
                Ordering::Greater => merged.extend(others.next()),
                Ordering::Equal => {
                    if let (Some((value, a)), Some((_, b))) = (own.next(), others.next()) {
                        merged.push((value, a + b));
                    }
                }
            }
        }
        merged.extend(own);
        merged.extend(others);
        self.counts = merged;
    }

    /// Returns the `n` most frequent values, the lesser value first where counts are equal.
    pub fn most_frequent(&self, n: usize) -> Vec<(Value, u64)> {
        let mut order: Vec<usize> = (0..self.counts.len()).collect();
        let by_count = |&a: &usize, &b: &usize| {
            let counts = self.counts[b].1.cmp(&self.counts[a].1);
            counts.then(a.cmp(&b))
        };
        if n < order.len() {
            order.select_nth_unstable_by(n, by_count);
            order.truncate(n);
        }
        order.sort_unstable_by(by_count);
        order
            .into_iter()
            .map(|at| self.counts[at].clone())
            .collect()
    }
}

impl Stats {
    /// Adds a value that stands `count` times.
    pub fn add(&mut self, value: &Value, count: u64) {
        self.values_count += count;
        match value {
            Value::Integer(number) | Value::Date(number) => {
                self.integer_sum += i128::from(*number) * i128::from(count);
            }
            Value::Float(number) => {
                // A product of two floats is the sum of two floats, exactly, unless it is too small or too large.
                let count = count as f64;
                let product = number * count;
                let rest = number.mul_add(count, -product);
                self.add_float(product);
                self.add_float(rest);
            }
            Value::Keyword(_) | Value::Bool(_) => {}
        }
        self.take_ends(value, value);
    }

    /// Adds the statistics of another part.
    pub fn join(&mut self, other: &Stats) {
        self.values_count += other.values_count;
        self.integer_sum += other.integer_sum;
        for &part in &other.float_parts {
            self.add_float(part);
        }
        if let (Some(least), Some(greatest)) = (&other.least, &other.greatest) {
            self.take_ends(least, greatest);
        }
    }

    fn take_ends(&mut self, least: &Value, greatest: &Value) {
        let is_less = |known: &Value| least.order(known) == Ordering::Less;
        if self.least.as_ref().is_none_or(is_less) {
            self.least = Some(least.clone());
        }
        let is_greater = |known: &Value| greatest.order(known) == Ordering::Greater;
        if self.greatest.as_ref().is_none_or(is_greater) {
            self.greatest = Some(greatest.clone());
        }
    }

    /// Adds a float to the parts, which stay such that none overlaps another.
    fn add_float(&mut self, mut number: f64) {
        let mut kept = 0;
        for at in 0..self.float_parts.len() {
            let mut part = self.float_parts[at];
            if number.abs() < part.abs() {
                std::mem::swap(&mut number, &mut part);
            }
            let sum = number + part;
            let error = part - (sum - number);
            if error != 0.0 {
                self.float_parts[kept] = error;
                kept += 1;
            }
            number = sum;
        }
        self.float_parts.truncate(kept);
        if number != 0.0 {
            self.float_parts.push(number);
        }
    }

    /// Returns the sum of the float values, rounded once; infinite where it is beyond all floats.
    pub fn float_sum(&self) -> f64 {
        let mut parts = self.float_parts.iter().rev();
        let Some(&first) = parts.next() else {
            return 0.0;
        };
        let (mut sum, mut error) = (first, 0.0);
        for &part in parts.by_ref() {
            let before = sum;
            sum = before + part;
            error = part - (sum - before);
            if error != 0.0 {
                break;
            }
        }
        // Half-way cases go the way of the remaining parts.
        if let Some(&next) = parts.next()
            && (error < 0.0 && next < 0.0 || error > 0.0 && next > 0.0)
        {
            let twice = error * 2.0;
            let rounded = sum + twice;
            if twice == rounded - sum {
                sum = rounded;
            }
        }
        sum
    }

    /// Returns the mean of the values; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        if self.values_count == 0 {
            return None;
        }
        let count = self.values_count as f64;
        match self.least {
            Some(Value::Float(_)) => Some(self.float_sum() / count),
            _ => Some(self.integer_sum as f64 / count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(pairs: &[(i64, u64)]) -> FacetCounts {
        FacetCounts {
            counts: pairs
                .iter()
                .map(|&(value, count)| (Value::Integer(value), count))
                .collect(),
            ..FacetCounts::default()
        }
    }

    #[test]
    fn counts_add_up_and_ties_go_by_value() {
        let mut all = counts(&[(1, 2), (3, 1)]);
        all.join(counts(&[(2, 2), (3, 1), (9, 1)]));
        assert_eq!(all, counts(&[(1, 2), (2, 2), (3, 2), (9, 1)]));
        let most = |n| -> Vec<i64> {
            let values = all.most_frequent(n).into_iter();
            values
                .map(|(value, _)| match value {
                    Value::Integer(number) => number,
                    _ => 0,
                })
                .collect()
        };
        assert_eq!(most(2), [1, 2]);
        assert_eq!(most(9), [1, 2, 3, 9]);
    }

    #[test]
    fn sums_of_floats_are_rounded_once() {
        let sum = |numbers: &[f64]| {
            let mut stats = Stats::default();
            numbers
                .iter()
                .for_each(|&number| stats.add(&Value::float(number).unwrap(), 1));
            stats.float_sum()
        };
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[1e308, -1e308, 5e-324]), 5e-324);
        assert_eq!(sum(&[2f64.powi(53), 1.0, 1.0]), 2f64.powi(53) + 2.0);
        assert_eq!(sum(&[]), 0.0);
    }

    proptest! {
        /// Values times powers of two are integers, whose sum is exact.
        #[test]
        fn sums_do_not_depend_on_the_order(
            numbers in prop::collection::vec((-1_000_000_000_000i64..1_000_000_000_000, 0i32..40, 1u64..5), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let value = |&(number, power, _): &(i64, i32, u64)| number as f64 / 2f64.powi(power);
            let exact: i128 = numbers.iter().map(|one| (i128::from(one.0) << (40 - one.1)) * i128::from(one.2)).sum();
            let of = |numbers: &[(i64, i32, u64)]| {
                let mut stats = Stats::default();
                numbers.iter().for_each(|one| stats.add(&Value::float(value(one)).unwrap(), one.2));
                stats
            };
            let expected = exact as f64 / 2f64.powi(40);
            prop_assert_eq!(of(&numbers).float_sum(), expected);
            let (front, back) = numbers.split_at(cut.index(numbers.len() + 1));
            let mut joined = of(back);
            joined.join(&of(front));
            prop_assert_eq!(joined.float_sum(), expected);
            prop_assert_eq!(joined.values_count, numbers.iter().map(|one| one.2).sum::<u64>());
        }
    }
}
