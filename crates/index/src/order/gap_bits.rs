//! Lower bound of the bits that a gap of a posting list needs.

use std::sync::LazyLock;

/// Gaps whose logarithm is looked up.
const TABLE: usize = 1 << 12;

static LOG2: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..TABLE).map(|gap| (gap as f64).log2().max(0.0)).collect());

/// The mean of log2(gap) over all postings, in bits: the *log-gap cost*, which the order of documents decides and
/// no codec does.
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

    /// Bits per gap; 0 where there is none.
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
