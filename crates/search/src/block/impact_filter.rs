//! Which postings of a block reach a score? Told by frequency and length before any is scored.
//!
//! What is found are exactly those that scoring all of them finds (the slow twin, [`by_scores`]): the bytes
//! leave out only what cannot reach the score, and what they let through is scored.

use crate::cursor::{BLOCK, Scorer};
use crate::factors::Factors;
use crate::list::List;
use crate::profile;
use crate::scratch::{Lent, kept_by_thread};
use codec::lanes;
use codec::limits::{LIMITS, LengthBytes};

/// Where more than so many of a block reached the score, of the next all are scored: most do again.
const MANY: usize = 48;
/// Up to so many are scored one by one.
const FEW: usize = 24;
/// Limits are made anew when so many postings were scored in vain: that costs about as much.
const WASTED_MAX: u32 = 8;

/// For each frequency, the lengths with which a posting may reach a score.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The score that they are made for; infinite before the first.
    least: f32,
    /// Postings scored since, which did not reach what they were to reach.
    wasted: u32,
    /// Of the block before, how many reached what they were to reach.
    reached: usize,
    below: [u8; LIMITS],
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
    /// Limits that leave out nothing that reaches `least`.
    #[inline]
    fn prepare(&mut self, scorer: &Scorer<'_>, factors: &Factors, least: f32) {
        if least < self.least || self.wasted >= WASTED_MAX {
            self.make(scorer, factors, least);
        }
    }

    #[inline(never)]
    fn make(&mut self, scorer: &Scorer<'_>, factors: &Factors, least: f32) {
        let ranking = scorer.ranking;
        let needed = ranking.least_factor(scorer.weight, scorer.grid, least);
        for (below, share) in self.below.iter_mut().zip(ranking.shares()) {
            *below = factors.reaching(needed * share);
        }
        // Of the frequencies that share the last limit every length may do.
        self.below[LIMITS - 1] = u8::MAX;
        self.least = least;
        self.wasted = 0;
    }
}

/// Where the postings found go: their indexes in the block, documents and scores.
pub(crate) struct Reached<'r> {
    pub(crate) indexes: &'r mut [u8; BLOCK],
    pub(crate) docs: &'r mut [u32; BLOCK],
    pub(crate) scores: &'r mut [f32; BLOCK],
    pub(crate) room: &'r mut Room,
}

/// What is known of postings on the way.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Room {
    lengths: LengthBytes,
    frequencies: [u32; BLOCK],
    factors: [f32; BLOCK],
}

impl Default for Room {
    fn default() -> Room {
        Room {
            lengths: [0; BLOCK + 64],
            frequencies: [1; BLOCK],
            factors: [0.0; BLOCK],
        }
    }
}

/// Finds the postings of the loaded block that score `least` or more; how many they are.
pub(crate) fn reaching(list: &mut List<'_>, least: f32, reached: Reached<'_>) -> usize {
    let scorer = list.scorer;
    let limits = list.limits.get_or_insert_with(|| {
        let mut limits = Lent::<Limits>::take();
        *limits = Limits::default();
        limits
    });
    let worthwhile = least > 0.0 && limits.reached <= MANY;
    let Some(factors) = scorer.factors.filter(|_| worthwhile) else {
        let count = by_scores(list, least, reached);
        if let Some(limits) = &mut list.limits {
            limits.reached = count;
        }
        return count;
    };
    limits.prepare(&scorer, factors, least);
    let Reached {
        indexes,
        docs,
        scores,
        room,
    } = reached;
    let Room {
        lengths,
        frequencies: some,
        factors: factors_of,
    } = room;
    list.blocks.pick(scorer.lengths, lengths);
    let frequencies = list.blocks.frequencies();
    profile::scored(frequencies.len());
    let count = codec::limits::shorter(frequencies, lengths, &limits.below, indexes);
    if count == 0 {
        limits.reached = 0;
        return 0;
    }
    let chosen = some.iter_mut().zip(&mut *factors_of).zip(&indexes[..count]);
    for ((frequency, factor), &index) in chosen {
        let index = usize::from(index);
        *frequency = frequencies[index];
        *factor = factors.by_length[usize::from(lengths[index])];
    }
    let (weight, grid) = (scorer.weight, scorer.grid);
    let (some, factors_of) = (&some[..count], &factors_of[..count]);
    if count <= FEW {
        for ((score, &frequency), &factor) in scores.iter_mut().zip(some).zip(factors_of) {
            *score = scorer.ranking.score(weight, frequency, factor, grid);
        }
    } else {
        let scores = &mut scores[..count];
        scorer
            .ranking
            .score_many(weight, some, factors_of, grid, scores);
    }
    let mut kept = 0;
    for at in 0..count {
        // Written always and counted when kept: no branch to guess.
        (indexes[kept], scores[kept]) = (indexes[at], scores[at]);
        kept += usize::from(scores[at] >= least);
    }
    limits.reached = kept;
    limits.wasted += (count - kept) as u32;
    list.blocks.docs_at(&indexes[..kept], &mut docs[..kept]);
    kept
}

/// The twin of [`reaching`]: scores all.
pub(crate) fn by_scores(list: &mut List<'_>, least: f32, reached: Reached<'_>) -> usize {
    let mut all = [0.0; BLOCK];
    let docs = list.score_block(&mut all);
    let count = lanes::at_least(&all[..docs.len()], least, reached.indexes);
    for (at, &index) in reached.indexes[..count].iter().enumerate() {
        reached.docs[at] = docs[usize::from(index)];
        reached.scores[at] = all[usize::from(index)];
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ranking;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn limits_leave_out_nothing_that_reaches_the_score(
            ranking in prop_oneof![
                Just(Ranking::default()),
                (0.0f32..4.0, 0.0f32..=1.0).prop_map(|(k1, b)| Ranking::Bm25 { k1, b }),
                Just(Ranking::TfIdf),
            ],
            weight in 0.0f32..20.0,
            others in prop_oneof![Just(0.0f64), 0.0f64..200.0],
            average in 0.5f32..3000.0,
            at in (1u32..80, any::<u8>()),
            nudge in -3i32..4,
        ) {
            let ranking = ranking.sanitized();
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
            // Of 16,000 pairs few are let through in vain, or the limits were of no use; but for scores that
            // rounding could make.
            let tiny = least < weight / 50.0 || others > weight.into();
            prop_assert!(tiny || let_through < 1500, "{let_through}");
        }
    }
}
