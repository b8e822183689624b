//! Buckets of a part of the matches, with their counts.

use crate::value::Value;
use std::cmp::Ordering;

/// Documents of each bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Buckets {
    /// Buckets and their documents, in the order of their names, without zeros. A value is its own name, an interval has its
    /// start, a range its number.
    pub counts: Vec<(Value, u64)>,
    /// Buckets that `counts` leaves out, of the only part that has any.
    pub further_values_count: u64,
    /// Sum of their counts.
    pub further_count: u64,
}

impl Buckets {
    /// Returns the places of the `n` most frequent buckets, the lesser value first where counts are equal.
    pub fn most_frequent(&self, n: usize) -> Vec<usize> {
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
    }

    /// Keeps the `n` most frequent buckets, in the order of their names; the others are counted. Returns the places that
    /// they had.
    pub fn keep_most_frequent(&mut self, n: usize) -> Vec<usize> {
        let mut kept = self.most_frequent(n);
        kept.sort_unstable();
        let total: u64 = self.counts.iter().map(|(_, count)| count).sum();
        let counts: Vec<_> = kept.iter().map(|&at| self.counts[at].clone()).collect();
        self.further_values_count += (self.counts.len() - counts.len()) as u64;
        self.further_count += total - counts.iter().map(|(_, count)| count).sum::<u64>();
        self.counts = counts;
        kept
    }

    /// Returns the place of a bucket.
    pub fn find(&self, name: &Value) -> Option<usize> {
        let found = self.counts.binary_search_by(|(known, _)| known.order(name));
        found.ok()
    }
}

/// Merges two lists in the order of their names; what both have is joined.
pub(super) fn merged<T>(
    own: Vec<(Value, T)>,
    others: Vec<(Value, T)>,
    join: impl Fn(T, T) -> T,
) -> Vec<(Value, T)> {
    let mut merged = Vec::with_capacity(own.len() + others.len());
    let mut own = own.into_iter().peekable();
    let mut others = others.into_iter().peekable();
    while let (Some(a), Some(b)) = (own.peek(), others.peek()) {
        match a.0.order(&b.0) {
            Ordering::Less => merged.extend(own.next()),
            Ordering::Greater => merged.extend(others.next()),
            Ordering::Equal => {
                if let (Some((name, a)), Some((_, b))) = (own.next(), others.next()) {
                    merged.push((name, join(a, b)));
                }
            }
        }
    }
    merged.extend(own);
    merged.extend(others);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(i64, u64)]) -> Vec<(Value, u64)> {
        let pairs = pairs.iter();
        pairs
            .map(|&(value, count)| (Value::Integer(value), count))
            .collect()
    }

    #[test]
    fn counts_add_up_and_ties_go_by_value() {
        let all = merged(
            counts(&[(1, 2), (3, 1)]),
            counts(&[(2, 2), (3, 1), (9, 1)]),
            |a, b| a + b,
        );
        assert_eq!(all, counts(&[(1, 2), (2, 2), (3, 2), (9, 1)]));
        let mut buckets = Buckets {
            counts: counts(&[(1, 2), (2, 2), (3, 5), (9, 1)]),
            ..Buckets::default()
        };
        assert_eq!(buckets.most_frequent(2), [2, 0]);
        assert_eq!(buckets.most_frequent(9), [2, 0, 1, 3]);
        assert_eq!(buckets.keep_most_frequent(2), [0, 2]);
        assert_eq!(buckets.counts, counts(&[(1, 2), (3, 5)]));
        assert_eq!(
            (buckets.further_values_count, buckets.further_count),
            (2, 3)
        );
    }
}
