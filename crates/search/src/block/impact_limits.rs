//! Lengths that keep a posting below a score, by frequency.

use crate::context::scratch::kept_by_thread;
use crate::plan::norms::Factors;
use crate::plan::scorer::Scorer;
use codec::limits::LIMITS;

/// Number of scored postings below the threshold after which the limits are recomputed, at about the same cost.
const WASTED_MAX: u32 = 8;

/// Limits on the lengths with which a posting may reach a score, by frequency.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The score that the limits are made for; infinite before the first.
    least: f32,
    /// Number of postings scored below the threshold since the limits were computed.
    pub(crate) wasted: u32,
    /// Number of postings of the last block that reached their score.
    pub(crate) reached: usize,
    pub(crate) below: [u8; LIMITS],
}

kept_by_thread!(Limits);

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            least: f32::INFINITY,
            wasted: 0,
            reached: 0,
            below: [u8::MAX; LIMITS],
        }
    }
}

impl Limits {
    /// Prepares limits that drop no posting that reaches `least`.
    #[inline]
    pub(crate) fn prepare(&mut self, scorer: &Scorer<'_>, factors: &Factors, least: f32) {
        if least < self.least || self.wasted >= WASTED_MAX {
            self.make(scorer, factors, least);
        }
    }

    #[inline(never)]
    fn make(&mut self, scorer: &Scorer<'_>, factors: &Factors, least: f32) {
        let below = &mut self.below;
        let each = |frequency: usize, factor| below[frequency] = factors.reaching(factor);
        let ranking = scorer.ranking;
        ranking.least_factors(scorer.weight, scorer.grid, least, each);
        // The last limit is shared by all higher frequencies, so it admits every length.
        self.below[LIMITS - 1] = u8::MAX;
        self.least = least;
        self.wasted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ranking::Ranking;
    use proptest::prelude::*;
    use testkit::floats;

    proptest! {
        #[test]
        fn limits_leave_out_nothing_that_reaches_the_score(
            ranking in crate::plan::ranking::tests::rankings(),
            rarity in floats(0.0, 20.0),
            others in prop_oneof![Just(0.0f64), floats(0.0, 200.0).prop_map(f64::from)],
            average in floats(0.5, 3000.0),
            at in (1u32..80, any::<u8>()),
            nudge in -3i32..4,
        ) {
            let weight = ranking.weigh(1, 1.0, rarity);
            let factors = Factors::new(ranking, average);
            let grid = Ranking::grid(ranking.most(weight) + others);
            let scorer = Scorer { ranking, weight, grid, factors: Some(&factors), lengths: &[] };
            let score = |frequency: u32, byte: u8| {
                ranking.score(weight, frequency, factors.by_length[usize::from(byte)], grid)
            };
            // A score that some posting has, or one beside it.
            let least = score(at.0, at.1);
            let least = f32::from_bits(least.to_bits().saturating_add_signed(nudge));
            prop_assume!(least > 0.0);
            let mut limits = Limits::default();
            limits.prepare(&scorer, &factors, least);
            let mut let_through = 0;
            for frequency in 1..80 {
                let below = limits.below[(frequency as usize).min(LIMITS - 1)];
                for byte in 0..=255u8 {
                    if score(frequency, byte) >= least {
                        prop_assert!(byte.min(254) < below, "{frequency} {byte} {below}");
                    } else {
                        let_through += usize::from(byte < below && frequency < 63);
                    }
                }
            }
            // The limits prune: few of 16,000 pairs pass without reaching the threshold. Thresholds near the rounding
            // error are exempt, and so is a term that scores nothing.
            let most = ranking.most(weight);
            let tiny = most <= 0.0 || f64::from(least) < most / 50.0 || others > most;
            prop_assert!(tiny || let_through < 1500, "{let_through}");
        }
    }
}
