//! Counts of a facet over a part of the matches, and their merge.
//!
//! Merging is exact and does not depend on the order of parts: counts are integers, and of sums see [`Stats`].

use crate::distinct::DistinctValues;
use crate::sketch::QuantileSketch;
use crate::stats::Stats;
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
    /// Statistics of the values, for facets of statistics and of percentiles.
    pub stats: Stats,
    /// Distribution of the values, for facets of percentiles.
    pub sketch: QuantileSketch,
    /// Distinct values, for facets of their number.
    pub distinct: DistinctValues,
}

impl FacetCounts {
    /// Adds the counts of another part.
    pub fn join(&mut self, other: FacetCounts) {
        self.documents_count += other.documents_count;
        self.matches_count += other.matches_count;
        self.further_values_count += other.further_values_count;
        self.further_count += other.further_count;
        self.stats.join(&other.stats);
        self.sketch.join(&other.sketch);
        self.distinct.join(other.distinct);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
