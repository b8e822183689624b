//! Log-gap cost: lower bound on the bits for the gaps of posting lists.

use std::sync::LazyLock;

/// Gaps whose logarithm is in a table.
const TABLE: usize = 1 << 12;

static LOG2: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..TABLE).map(|gap| (gap as f64).log2().max(0.0)).collect());

/// Mean of log2(gap) over all postings, in bits: the *log-gap cost*, which depends on the order of documents and not on
/// the codec.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct GapBits {
    bits: f64,
    gaps_count: u64,
}

impl GapBits {
    #[inline]
    pub(crate) fn add(&mut self, gap: u32) {
        self.gaps_count += 1;
        self.bits += match LOG2.get(gap as usize) {
            Some(bits) => *bits,
            None => f64::from(gap).log2(),
        };
    }

    pub(crate) fn join(&mut self, other: GapBits) {
        self.bits += other.bits;
        self.gaps_count += other.gaps_count;
    }

    /// Returns the bits per gap; 0 without gaps.
    pub(crate) fn mean(&self) -> f64 {
        if self.gaps_count == 0 {
            return 0.0;
        }
        self.bits / self.gaps_count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_logarithms() {
        let mut bits = GapBits::default();
        assert_eq!(bits.mean(), 0.0);
        [1, 2, 4, 1 << 20].into_iter().for_each(|gap| bits.add(gap));
        let mut more = GapBits::default();
        more.add(1 << 12);
        bits.join(more);
        assert_eq!(bits.mean(), (1.0 + 2.0 + 20.0 + 12.0) / 5.0);
    }
}
