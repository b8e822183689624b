//! Table of the factors that document lengths contribute to scores.

use crate::plan::ranking::Ranking;
use std::cell::RefCell;
use std::sync::Arc;

/// Number of tables that a thread keeps: four fields for two indexes.
const REMEMBERED_MAX: usize = 8;

/// Tables by ranking and average length.
type Remembered = Vec<((Ranking, f32), Arc<Factors>)>;

thread_local! {
    static REMEMBERED: RefCell<Remembered> = const { RefCell::new(Vec::new()) };
}

/// Factors of the lengths in one field of one index.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    /// Factors by length byte; they never rise.
    pub(crate) by_length: [f32; 256],
    /// Number of length bytes whose factor reaches the beginning of each step (see [`step`]).
    reaching: [u8; STEPS],
}

/// Number of steps, each a sixteenth of a doubling, from 2^-24 on.
const STEPS: usize = 16 * 40;
const STEP_SHIFT: u32 = 23 - 4;
const STEP_FIRST: u32 = (127 - 24) << 4;

/// Returns the step of a number; the first or last step if it lies outside.
#[inline]
fn step(number: f32) -> usize {
    let step = (number.to_bits() >> STEP_SHIFT).saturating_sub(STEP_FIRST);
    (step as usize).min(STEPS - 1)
}

impl Factors {
    /// Returns the factors of a field. Queries on one index need the same ones, so each thread keeps the last tables.
    pub(crate) fn of_field(ranking: Ranking, average_length: f64) -> Arc<Factors> {
        let average = if average_length > 0.0 {
            average_length as f32
        } else {
            1.0
        };
        REMEMBERED.with_borrow_mut(|remembered| {
            let asked = (ranking, average);
            if let Some((_, factors)) = remembered.iter().find(|(known, _)| *known == asked) {
                return Arc::clone(factors);
            }
            let factors = Arc::new(Factors::new(ranking, average));
            if remembered.len() == REMEMBERED_MAX {
                remembered.remove(0);
            }
            remembered.push((asked, Arc::clone(&factors)));
            factors
        })
    }

    pub(crate) fn new(ranking: Ranking, average_length: f32) -> Factors {
        let by_length = std::array::from_fn(|byte| {
            ranking.factor(index::length::dequantize(byte as u8), average_length)
        });
        let mut factors = Factors {
            by_length,
            reaching: [u8::MAX; STEPS],
        };
        // Numbers below the first step are looked up in it, so it begins with nothing.
        for (number, reaching) in factors.reaching.iter_mut().enumerate().skip(1) {
            let begin = f32::from_bits((number as u32 + STEP_FIRST) << STEP_SHIFT);
            *reaching = by_length
                .partition_point(|&factor| factor >= begin)
                .min(255) as u8;
        }
        factors
    }

    /// Upper bound on the number of length bytes, from 0 on, whose factor is `least` or more; 255 stands for all.
    #[inline]
    pub(crate) fn reaching(&self, least: f32) -> u8 {
        self.reaching[step(least)]
    }
}
