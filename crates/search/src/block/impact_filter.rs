//! Filter of the postings of a block that reach a score, by frequency and length, before any is scored.
//!
//! Exact: the postings found are those that scoring all of them finds (the slow twin, [`by_scores`]). Limits on the
//! bytes drop only postings that cannot reach the score; the others are scored.

use crate::block::impact_limits::Limits;
use crate::block::term_scorer::List;
use crate::context::counters;
use crate::context::scratch::Lent;
use crate::plan::scorer::BLOCK;
use codec::lanes;
use codec::limits::LengthBytes;

/// Number of postings of a block that reach the score above which the next block is scored whole.
const MANY: usize = 48;
/// Maximum number of postings that are scored one by one.
const FEW: usize = 24;
/// Columns for the postings found: indexes in the block, documents and scores.
pub(crate) struct Reached<'r> {
    pub(crate) indexes: &'r mut [u8; BLOCK],
    pub(crate) docs: &'r mut [u32; BLOCK],
    pub(crate) scores: &'r mut [f32; BLOCK],
    pub(crate) room: &'r mut Room,
}

/// Working memory of the filter.
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

/// Finds the postings of the loaded block that score `least` or more; returns their number.
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
    counters::scored(frequencies.len());
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
        // Written always and counted when kept, so that there is no branch to predict.
        (indexes[kept], scores[kept]) = (indexes[at], scores[at]);
        kept += usize::from(scores[at] >= least);
    }
    limits.reached = kept;
    limits.wasted += (count - kept) as u32;
    list.blocks.docs_at(&indexes[..kept], &mut docs[..kept]);
    kept
}

/// Slow twin of [`reaching`], which scores all postings.
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
