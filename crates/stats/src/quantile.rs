//! Quantiles of a sample by nearest rank, so that every quantile is a value that was measured.

/// Returns the smallest value that at least `share` of a sorted sample do not exceed; `None` for an empty sample.
pub fn nearest_rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    sorted
        .get(quantile_rank(sorted.len(), share).checked_sub(1)?)
        .copied()
}

/// Returns the rank, from 1, of that quantile among `count` values; 0 for an empty sample.
pub fn quantile_rank(count: usize, share: f64) -> usize {
    // The subtraction keeps 0.99 · 100 at rank 99, although the product may round up to above 99.
    let rank = (share * count as f64 - 1e-9).ceil() as usize;
    rank.max(1).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let sorted: Vec<u32> = (1..=100).collect();
        let expected = [
            (0.0, 1),
            (0.5, 50),
            (0.9, 90),
            (0.99, 99),
            (0.999, 100),
            (1.0, 100),
        ];
        for (share, value) in expected {
            assert_eq!(nearest_rank(&sorted, share), Some(value), "{share}");
        }
        assert_eq!(nearest_rank(&[7.0], 0.5), Some(7.0));
        assert_eq!(nearest_rank::<u32>(&[], 0.5), None);
        assert_eq!(quantile_rank(0, 0.5), 0);
    }
}
