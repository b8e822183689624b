//! Comparison of two sides: ratio, confidence interval and verdict.
//!
//! A verdict is given only if the interval excludes 1. With three or more repetitions per side, each
//! pair of repetitions (with the same schedule and seed) gives a ratio, and Student's t gives their
//! interval (Kalibera & Jones 2013: effect sizes, not p values). With fewer, blocks of time are
//! resampled from both sides together (block bootstrap). That captures the noise within a run but not
//! between runs, and [`Basis`] says so.
use crate::random::Purpose;
use crate::{Interval, Label, Outcome, Sample, Summary, Times, p_of_mean};
use serde::Serialize;
use stats::{Estimate, student_p};

const REPETITIONS_MIN: usize = 3;
const BLOCKS: usize = 20;
const RESAMPLES: usize = 1000;

/// Compared figure of the response times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Mean.
    Mean,
    /// Percentile, 0 to 100.
    Percentile(f64),
}

/// Source of a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Ratios of paired repetitions; valid for further runs.
    Repetitions,
    /// Blocks within runs; excludes differences between runs.
    Blocks,
}

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second side is slower.
    Slower,
    /// The second side is faster.
    Faster,
    /// The interval contains 1, or there is no interval.
    NoDifference,
    /// All runs of a side are invalid: the client, other guests or a stop decided their times.
    Invalid,
}

/// Comparison of the second side with the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// Compared figure.
    pub figure: Figure,
    /// Figure of the first side over all its samples, in microseconds.
    pub first_us: f64,
    /// Figure of the second side over all its samples, in microseconds.
    pub second_us: f64,
    /// Second side over first side.
    pub ratio: f64,
    /// 95 % interval of the ratio; `None` if the samples are too few.
    pub interval: Option<Interval>,
    /// Two-sided p value of the hypothesis that the ratio is 1, for corrections where many are compared ([`holm`]).
    ///
    /// [`holm`]: crate::holm
    pub p_value: Option<f64>,
    /// Source of the interval.
    pub basis: Basis,
    /// Outcome of the comparison.
    pub verdict: Verdict,
    /// Number of pairs of runs that were left out because one of them is invalid.
    pub left_out_count: usize,
}

impl Figure {
    /// Returns the figure of a set of times, in microseconds, if the sample supports it.
    pub fn of(self, times: &Times) -> Option<f64> {
        match self {
            // A mean of those that were answered would make a server that refuses half look fast.
            Figure::Mean => times.mean_us().filter(|_| times.never_count() == 0),
            Figure::Percentile(percentile) => times.percentile_us(percentile),
        }
    }

    /// Returns the name: `mean`, `p99`.
    pub fn name(self) -> String {
        match self {
            Figure::Mean => "mean".into(),
            Figure::Percentile(percentile) => format!("p{percentile}"),
        }
    }
}

/// Returns the response times of all requests of a run; unanswered ones count as slower than any other.
pub(crate) fn response_times<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Times {
    let mut times = Times::default();
    for sample in samples {
        match sample.response_ns().filter(|_| sample.ending.is_answer()) {
            Some(ns) => times.add_ns(ns),
            None => times.add_never(),
        }
    }
    times
}

/// Compares repetitions of two sides; the n-th of each form a pair. A pair with an invalid run, whose times the client,
/// other guests or a stop decided, is left out; without any other the figures are those of all runs and the verdict is
/// [`Verdict::Invalid`]. Returns `None` if the samples do not support the figure, the mean also where requests have no
/// answer.
pub fn compare(first: &[Outcome], second: &[Outcome], figure: Figure) -> Option<Comparison> {
    let valid = |side: &[Outcome]| -> Vec<bool> { side.iter().map(is_valid).collect() };
    let (of_first, of_second) = (valid(first), valid(second));
    let is_kept = |at: usize| of_first.get(at) != Some(&false) && of_second.get(at) != Some(&false);
    let kept = |side: &[Outcome]| -> Vec<Outcome> {
        let places = (0..side.len()).filter(|&at| is_kept(at));
        places.map(|at| side[at].clone()).collect()
    };
    let pairs_count = first.len().max(second.len());
    let left_out_count = (0..pairs_count).filter(|&at| !is_kept(at)).count();
    let found = match left_out_count {
        0 => compare_valid(first, second, figure)?,
        _ => match compare_valid(&kept(first), &kept(second), figure) {
            Some(found) => found,
            None => Comparison {
                interval: None,
                p_value: None,
                verdict: Verdict::Invalid,
                ..compare_valid(first, second, figure)?
            },
        },
    };
    Some(Comparison {
        left_out_count,
        ..found
    })
}

/// Returns whether the times of a run are those of the server.
fn is_valid(run: &Outcome) -> bool {
    let is_invalid =
        |label: &Label| matches!(label, Label::ClientLimited { .. } | Label::Incomplete);
    !run.noise.is_stolen() && !Summary::of(run).labels.iter().any(is_invalid)
}

fn compare_valid(first: &[Outcome], second: &[Outcome], figure: Figure) -> Option<Comparison> {
    let merged = |side: &[Outcome]| {
        let samples = side.iter().flat_map(Outcome::measured);
        figure.of(&response_times(samples))
    };
    let (first_us, second_us) = (merged(first)?, merged(second)?);
    let has_repetitions = first.len().min(second.len()) >= REPETITIONS_MIN;
    let (interval, basis) = match has_repetitions {
        true => (of_pairs(first, second, figure), Basis::Repetitions),
        false => (of_blocks(first, second, figure), Basis::Blocks),
    };
    let (interval, p_value) = interval.unzip();
    let verdict = match interval {
        Some(interval) if interval.low > 1.0 => Verdict::Slower,
        Some(interval) if interval.high < 1.0 => Verdict::Faster,
        _ => Verdict::NoDifference,
    };
    Some(Comparison {
        figure,
        first_us,
        second_us,
        ratio: second_us / first_us,
        interval,
        p_value,
        basis,
        verdict,
        left_out_count: 0,
    })
}

/// Returns the interval of the geometric mean of the pairs' ratios, where a ratio and its inverse count alike, and the p
/// value of a mean of 1.
fn of_pairs(first: &[Outcome], second: &[Outcome], figure: Figure) -> Option<(Interval, f64)> {
    let pairs = first.iter().zip(second);
    let logarithms: Option<Vec<f64>> = pairs
        .map(|(first, second)| {
            let first_us = figure.of(&response_times(first.measured()))?;
            let second_us = figure.of(&response_times(second.measured()))?;
            Some((second_us / first_us).ln())
        })
        .collect();
    let logarithms = logarithms?;
    let interval = Interval::of_mean(&logarithms)?;
    let interval = Interval {
        low: interval.low.exp(),
        high: interval.high.exp(),
    };
    Some((interval, p_of_mean(&logarithms, 0.0)?))
}

fn of_blocks(first: &[Outcome], second: &[Outcome], figure: Figure) -> Option<(Interval, f64)> {
    let count = first.len().min(second.len()) * BLOCKS;
    let (first, second) = (Blocks::of(first, count), Blocks::of(second, count));
    let mut random = Purpose::Resample.stream(1);
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        // Both sides use the same blocks: with a shared schedule, its random variation cancels out.
        let mut times_drawn = vec![0u64; count];
        (0..count).for_each(|_| times_drawn[random.index(count)] += 1);
        // A resample that does not support the figure shows that the samples hardly do.
        ratios.push(second.figure(figure, &times_drawn)? / first.figure(figure, &times_drawn)?);
    }
    ratios.sort_by(f64::total_cmp);
    let interval = Interval {
        low: ratios[RESAMPLES / 40],
        high: ratios[RESAMPLES - 1 - RESAMPLES / 40],
    };
    // The share of resamples that reach 1 from either side, for both sides.
    let low = ratios.partition_point(|&ratio| ratio <= 1.0);
    let high = ratios.len() - ratios.partition_point(|&ratio| ratio < 1.0);
    let p_value = match low.min(high) {
        0 => p_beyond_resamples(&ratios, count - 1),
        reaching => (2.0 * reaching as f64 / RESAMPLES as f64).min(1.0),
    };
    Some((interval, p_value))
}

/// Returns the p value of a ratio of 1 that no resample reaches: by Student's distribution, with the deviation of the
/// resampled logarithms as the standard error. The share of one resample is too coarse for the correction of many
/// comparisons.
fn p_beyond_resamples(ratios: &[f64], freedom: usize) -> f64 {
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let Estimate {
        mean, deviation, ..
    } = Estimate::of(&logarithms);
    let p_value = student_p((mean / deviation).abs(), freedom);
    p_value.min(2.0 / RESAMPLES as f64)
}

/// Response times of one side, each with its block of time, in descending order. Unfinished ones come
/// first.
struct Blocks {
    /// Time in nanoseconds and block, the slowest first.
    times: Vec<(u64, usize)>,
    /// Number of times, number of finished ones, and the sum of these in nanoseconds, by block.
    totals: Vec<(u64, u64, f64)>,
}

impl Blocks {
    fn of(side: &[Outcome], count: usize) -> Blocks {
        let mut blocks = Blocks {
            times: Vec::new(),
            totals: vec![(0, 0, 0.0); count],
        };
        for (run_idx, run) in side.iter().take(count / BLOCKS).enumerate() {
            let from_ns = run.warm_up.as_nanos() as u64;
            let block_ns = (run.measured.as_nanos() as u64 / BLOCKS as u64).max(1);
            for sample in run.measured() {
                let within = (sample.intended_ns.saturating_sub(from_ns) / block_ns) as usize;
                let block = run_idx * BLOCKS + within.min(BLOCKS - 1);
                let ended_ns = sample.response_ns().filter(|_| sample.ending.is_answer());
                blocks.times.push((ended_ns.unwrap_or(u64::MAX), block));
                let total = &mut blocks.totals[block];
                total.0 += 1;
                total.1 += u64::from(ended_ns.is_some());
                total.2 += ended_ns.unwrap_or_default() as f64;
            }
        }
        blocks.times.sort_unstable_by(|a, b| b.cmp(a));
        blocks
    }

    /// Returns the figure over the blocks, each weighted by its number of draws, in nanoseconds.
    fn figure(&self, figure: Figure, times_drawn: &[u64]) -> Option<f64> {
        let drawn = || self.totals.iter().zip(times_drawn);
        let count: u64 = drawn().map(|(total, times)| total.0 * times).sum();
        match figure {
            Figure::Mean => {
                let ended: u64 = drawn().map(|(total, times)| total.1 * times).sum();
                let sum: f64 = drawn().map(|(total, times)| total.2 * *times as f64).sum();
                (ended > 0 && ended == count).then(|| sum / ended as f64)
            }
            Figure::Percentile(percentile) => {
                let beyond = count as f64 * (1.0 - percentile / 100.0);
                let mut passed = 0;
                let at = self.times.iter().find(|(_, block)| {
                    passed += times_drawn[*block];
                    passed as f64 > beyond
                });
                at.map(|(ns, _)| *ns as f64)
                    .filter(|ns| *ns < u64::MAX as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{outcome, sample};
    use std::time::Duration;

    /// Returns runs whose times scatter over a factor of three, with their mean multiplied by `factor`.
    fn side(runs: usize, factor: f64, seed: u64) -> Vec<Outcome> {
        let mut random = Purpose::Resample.stream(seed);
        (0..runs)
            .map(|_| {
                let samples = (0..4000u64).map(|ms| {
                    let us = 1000.0 * factor * (0.5 + random.uniform());
                    sample(ms, 0, us as u64)
                });
                outcome(samples.collect(), Duration::from_secs(4))
            })
            .collect()
    }

    #[test]
    fn a_difference_is_found_and_its_size_lies_in_the_interval() {
        for runs in [1, 5] {
            for figure in [Figure::Mean, Figure::Percentile(99.0)] {
                let found = compare(&side(runs, 1.0, 1), &side(runs, 1.2, 2), figure).unwrap();
                assert_eq!(found.verdict, Verdict::Slower, "{found:?}");
                assert!(found.interval.unwrap().contains(1.2), "{found:?}");
                assert!(found.p_value.unwrap() < 0.05, "{found:?}");
                let back = compare(&side(runs, 1.2, 2), &side(runs, 1.0, 1), figure).unwrap();
                assert_eq!(back.verdict, Verdict::Faster, "{back:?}");
            }
        }
    }

    #[test]
    fn a_large_difference_passes_the_correction_of_many_comparisons() {
        let found = compare(&side(1, 1.0, 1), &side(1, 2.0, 2), Figure::Mean).unwrap();
        assert_eq!(found.basis, Basis::Blocks);
        assert!(found.p_value.unwrap() < 0.05 / 1000.0, "{found:?}");
        let none = compare(&side(1, 1.0, 1), &side(1, 1.0, 2), Figure::Mean).unwrap();
        assert!(none.p_value.unwrap() > 0.002, "{none:?}");
        let same = compare(&side(1, 1.0, 1), &side(1, 1.0, 1), Figure::Mean).unwrap();
        assert_eq!(same.p_value, Some(1.0));
    }

    #[test]
    fn the_same_against_itself_is_seldom_called_a_difference() {
        for runs in [1, 4] {
            let called = (0..40u64).filter(|seed| {
                let (a, b) = (
                    side(runs, 1.0, 2 * seed + 10),
                    side(runs, 1.0, 2 * seed + 11),
                );
                let found = compare(&a, &b, Figure::Mean).unwrap();
                found.verdict != Verdict::NoDifference
            });
            // 5 % of 40 is 2; more than 7 have a probability of about 1 in 1,000.
            let called = called.count();
            assert!(called <= 7, "{called} of 40 with {runs} runs");
        }
    }

    #[test]
    fn invalid_runs_take_no_part() {
        let mut slow = side(4, 1.5, 3);
        for run in &mut slow[..3] {
            run.noise.steal = Some(0.5);
        }
        let mean = |first: &[Outcome], second: &[Outcome]| compare(first, second, Figure::Mean);
        let found = mean(&side(4, 1.0, 1), &slow).unwrap();
        assert_eq!((found.left_out_count, found.basis), (3, Basis::Blocks));
        assert_eq!(found.verdict, Verdict::Slower);
        slow[3].is_complete = false;
        let found = mean(&side(4, 1.0, 1), &slow).unwrap();
        assert_eq!((found.left_out_count, found.verdict), (4, Verdict::Invalid));
        assert!(found.interval.is_none() && found.ratio > 1.2);
    }

    #[test]
    fn a_server_that_refuses_half_is_not_called_faster() {
        let mut refusing = side(4, 0.4, 2);
        for run in &mut refusing {
            for sample in run.samples.iter_mut().step_by(2) {
                (sample.ending, sample.answer) = (crate::Ending::Refused, None);
            }
        }
        let serving = side(4, 1.0, 1);
        assert_eq!(compare(&serving, &refusing, Figure::Mean), None);
        assert_eq!(compare(&serving, &refusing, Figure::Percentile(90.0)), None);
    }

    #[test]
    fn without_support_there_is_no_figure() {
        let few = vec![outcome(
            (0..100).map(|ms| sample(ms, 0, 5)).collect(),
            Duration::from_secs(1),
        )];
        assert_eq!(compare(&few, &few, Figure::Percentile(99.0)), None);
        assert!(compare(&few, &few, Figure::Mean).is_some());
        assert_eq!(compare(&[], &[], Figure::Mean), None);
    }
}
