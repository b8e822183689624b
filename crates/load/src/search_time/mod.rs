//! Queries of a wanted search time, made of given ones for an index of any size.
//!
//! ```text
//! given ─► joined by OR: 2, 4, 8 … of them ─► each timed alone ─► picked: for each time of the wanted
//!                                                                distribution the query of the nearest time
//! ```
//!
//! On a small index a search takes less time than the request around it, and a measurement shows the way to the server
//! in place of its handlers. A wanted mean alone gives exponential times; with a 99th percentile they are lognormal, at
//! most [`LONGEST`] times that percentile. Quantiles are drawn at equal distances, so the times are as near to the
//! distribution as the queries at hand allow.

mod join;
mod timing;

pub use join::{exponential, joined_queries};
pub use timing::search_times_ms;

use crate::random::{Purpose, Random};
use std::fmt;
use std::time::Duration;

/// Number of candidates of each number of joined queries.
const CANDIDATES: usize = 64;
/// Upper limit on the number of joined queries: more would exceed the parser's limit of words.
pub const JOINED_MAX: usize = 160;
/// Longest time over the wanted 99th percentile.
const LONGEST: f64 = 4.0;
/// Candidates whose times differ by this factor from the wanted one are equally good.
const NEAR: f64 = 1.07;
/// 99 % quantile of the standard normal distribution.
const NORMAL_99: f64 = 2.326_348;

/// Wanted search times of queries that are sent one after the other to an idle server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchTime {
    /// Mean.
    pub mean: Duration,
    /// 99th percentile; `None` for exponential times.
    pub p99: Option<Duration>,
}

/// Queries with their search times.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct TimedQueries {
    /// Queries in the order of sending; a query may occur several times.
    pub texts: Vec<String>,
    /// Mean number of given queries in each.
    pub joined: f64,
    /// Mean search time of these queries, timed alone, in ms.
    pub mean_ms: f64,
    /// 99th percentile of their search times, in ms.
    pub p99_ms: f64,
}

/// A query that may be picked.
struct Candidate {
    text: String,
    joined: usize,
    ms: f64,
}

impl SearchTime {
    /// Parses `2ms`, the mean, or `0.5ms,5ms`, mean and 99th percentile.
    ///
    /// # Errors
    /// Text in another form, or a 99th percentile that no lognormal distribution of this mean has.
    pub fn parse(text: &str) -> Result<SearchTime, String> {
        let (mean, p99) = match text.split_once(',') {
            None => (text, None),
            Some((mean, p99)) => (mean, Some(p99)),
        };
        if p99.is_some_and(|p99| p99.contains(',')) {
            return Err("give a mean, or mean and 99th percentile: 0.5ms,5ms".into());
        }
        let read = |text| units::Times::ANY.read(text).map(units::Time::duration);
        let (mean, p99) = (read(mean)?, p99.map(read).transpose()?);
        if mean.is_zero() {
            return Err("no search takes no time; give a mean such as 2ms".into());
        }
        let wanted = SearchTime { mean, p99 };
        match p99 {
            Some(_) if wanted.deviation().is_none() => Err(format!(
                "the 99th percentile is more than the mean and less than {:.0} times it",
                (NORMAL_99 * NORMAL_99 / 2.0).exp()
            )),
            _ => Ok(wanted),
        }
    }

    /// Returns the standard deviation of the logarithm of lognormal times; `None` if there is none with these figures,
    /// or no 99th percentile.
    fn deviation(&self) -> Option<f64> {
        let ratio = self.p99?.as_secs_f64() / self.mean.as_secs_f64();
        let square = NORMAL_99 * NORMAL_99 - 2.0 * ratio.ln();
        (ratio > 1.0 && square > 0.0).then(|| NORMAL_99 - square.sqrt())
    }

    /// Returns the time in ms that a share of searches does not exceed.
    fn quantile_ms(&self, share: f64) -> f64 {
        let mean_ms = self.mean.as_secs_f64() * 1e3;
        match (self.deviation(), self.p99) {
            (Some(deviation), Some(p99)) => {
                let normal = normal_quantile(share);
                let ms = mean_ms * (deviation * normal - deviation * deviation / 2.0).exp();
                ms.min(LONGEST * p99.as_secs_f64() * 1e3)
            }
            _ => -mean_ms * (1.0 - share).ln(),
        }
    }

    /// Returns `count` times in ms: quantiles at equal distances, in a random order that depends on the seed alone.
    pub fn times_ms(&self, count: usize, seed: u64) -> Vec<f64> {
        let share = |at: usize| (at as f64 + 0.5) / count as f64;
        let mut times_ms: Vec<f64> = (0..count).map(|at| self.quantile_ms(share(at))).collect();
        Purpose::Queries.stream(seed).shuffle(&mut times_ms);
        times_ms
    }

    /// Makes `count` queries of given ones. `timed` returns the search time in ms of each text, timed alone, or `None`
    /// for one without an answer. Returns `None` if no query has a time.
    ///
    /// # Errors
    /// Errors of `timed`.
    pub fn make<E>(
        &self,
        given: &[String],
        count: usize,
        seed: u64,
        mut timed: impl FnMut(&[String]) -> Result<Vec<Option<f64>>, E>,
    ) -> Result<Option<TimedQueries>, E> {
        let longest_ms = self.quantile_ms(1.0 - 0.5 / count.max(1) as f64);
        let candidates = candidates(given, longest_ms, seed, &mut timed)?;
        let picked = self.picked(&candidates, count, seed);
        if picked.is_empty() {
            return Ok(None);
        }
        // Candidates were picked by their times, which favours those that chance made fit: the times reported are new.
        let mut distinct: Vec<usize> = picked.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let texts: Vec<String> = (distinct.iter().map(|&at| candidates[at].text.clone())).collect();
        let again = timed(&texts)?;
        let ms_of = |at: usize| {
            let place = distinct.binary_search(&at).ok();
            let again = place.and_then(|place| again.get(place).copied().flatten());
            again.unwrap_or(candidates[at].ms)
        };
        let mut times_ms: Vec<f64> = picked.iter().map(|&at| ms_of(at)).collect();
        times_ms.sort_unstable_by(f64::total_cmp);
        let joined: usize = picked.iter().map(|&at| candidates[at].joined).sum();
        Ok(Some(TimedQueries {
            joined: joined as f64 / picked.len() as f64,
            mean_ms: times_ms.iter().sum::<f64>() / times_ms.len() as f64,
            p99_ms: stats::nearest_rank(&times_ms, 0.99).unwrap_or_default(),
            texts: picked
                .into_iter()
                .map(|at| candidates[at].text.clone())
                .collect(),
        }))
    }

    /// Picks a candidate for each quantile, in random order.
    fn picked(&self, candidates: &[Candidate], count: usize, seed: u64) -> Vec<usize> {
        if candidates.is_empty() {
            return Vec::new();
        }
        let mean_ms = self.mean.as_secs_f64() * 1e3;
        let mut factor = 1.0;
        let mut picked = Vec::new();
        // Times that no candidate has shift the mean: the wanted times are scaled until it is right.
        for _ in 0..6 {
            let mut random = Purpose::Joins.stream(seed);
            picked = (0..count)
                .map(|at| {
                    let ms = self.quantile_ms((at as f64 + 0.5) / count as f64);
                    nearest(candidates, factor * ms, &mut random)
                })
                .collect();
            let sum_ms: f64 = picked.iter().map(|&at| candidates[at].ms).sum();
            factor *= (mean_ms * count as f64 / sum_ms.max(1e-9)).clamp(0.25, 4.0);
        }
        Purpose::Queries.stream(seed).shuffle(&mut picked);
        picked
    }
}

impl fmt::Display for SearchTime {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ms", self.mean.as_secs_f64() * 1e3)?;
        match self.p99 {
            Some(p99) => write!(to, " (p99 {} ms)", p99.as_secs_f64() * 1e3),
            None => Ok(()),
        }
    }
}

/// Times given queries, and joins of them that get longer until most take longer than `longest_ms`. Returns those with a
/// time, the quickest first.
fn candidates<E>(
    given: &[String],
    longest_ms: f64,
    seed: u64,
    timed: &mut impl FnMut(&[String]) -> Result<Vec<Option<f64>>, E>,
) -> Result<Vec<Candidate>, E> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut joined = 1;
    while joined <= JOINED_MAX {
        let mut texts = match joined {
            1 => {
                let every = (given.len() / CANDIDATES).max(1);
                given
                    .iter()
                    .step_by(every)
                    .take(CANDIDATES)
                    .cloned()
                    .collect()
            }
            _ => join::joined_by_number(given, joined, CANDIDATES, seed),
        };
        texts.sort_unstable();
        texts.dedup();
        let times_ms = timed(&texts)?;
        let mut longer = 0;
        for (text, ms) in texts.iter().zip(&times_ms) {
            if let Some(ms) = *ms {
                longer += usize::from(ms > longest_ms);
                candidates.push(Candidate {
                    text: text.clone(),
                    joined,
                    ms: ms.max(1e-3),
                });
            }
        }
        if 2 * longer >= texts.len() {
            break;
        }
        joined *= 2;
    }
    candidates.sort_by(|a, b| a.ms.total_cmp(&b.ms).then_with(|| a.text.cmp(&b.text)));
    Ok(candidates)
}

/// Returns one of the candidates within [`NEAR`] of a time, each with the same probability; else the nearest.
fn nearest(candidates: &[Candidate], ms: f64, random: &mut Random) -> usize {
    let from = candidates.partition_point(|candidate| candidate.ms < ms / NEAR);
    let to = candidates.partition_point(|candidate| candidate.ms <= ms * NEAR);
    // One number each time keeps the choice for a time independent of those before.
    let drawn = random.uniform();
    if from < to {
        return from + ((to - from) as f64 * drawn) as usize;
    }
    let above = from.min(candidates.len() - 1);
    let below = from.saturating_sub(1);
    let is_below_nearer = ms / candidates[below].ms < candidates[above].ms / ms;
    if is_below_nearer { below } else { above }
}

/// Returns the quantile of the standard normal distribution within 5e-4 (Abramowitz & Stegun 26.2.23).
fn normal_quantile(share: f64) -> f64 {
    let t = (-2.0 * share.min(1.0 - share).max(1e-300).ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    (t - above / below).copysign(share - 0.5)
}

#[cfg(test)]
mod tests;
