//! Arrival processes of queries.

use super::streams::Stream;
use crate::error::{ModelError, checked, not_negative, positive};

/// Distribution of arrivals over time. Rates are in queries per second.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals with exponential gaps.
    Poisson {
        /// Mean rate.
        rate_per_s: f64,
    },
    /// Equal gaps; the first query arrives after one gap.
    Constant {
        /// Constant rate.
        rate_per_s: f64,
    },
    /// Poisson arrivals whose rate changes linearly over the run.
    Ramp {
        /// Rate at the start of the run.
        from_per_s: f64,
        /// Rate at the end of the run.
        to_per_s: f64,
    },
    /// Recorded arrival times in ms, not decreasing. A longer run repeats the trace.
    Trace(Vec<f64>),
}

impl Arrivals {
    /// Returns the arrival clock of a run of `queries` queries.
    ///
    /// # Errors
    /// [`ModelError::Outside`] if a rate is not above 0, or if a trace is empty or decreases.
    pub fn clock(&self, queries: usize) -> Result<ArrivalClock<'_>, ModelError> {
        let mut clock = ArrivalClock {
            kind: Kind::Poisson(0.0),
            now_ms: 0.0,
            number: 0,
        };
        clock.kind = match self {
            Arrivals::Poisson { rate_per_s } => {
                Kind::Poisson(1e3 / positive("the arrival rate (queries/s)", *rate_per_s)?)
            }
            Arrivals::Constant { rate_per_s } => {
                Kind::Constant(1e3 / positive("the arrival rate (queries/s)", *rate_per_s)?)
            }
            Arrivals::Ramp {
                from_per_s,
                to_per_s,
            } => {
                let from = positive("the first arrival rate (queries/s)", *from_per_s)? / 1e3;
                let to = positive("the last arrival rate (queries/s)", *to_per_s)? / 1e3;
                // Duration of `queries` arrivals at the mean of both rates.
                let length_ms = 2.0 * queries.max(1) as f64 / (from + to);
                Kind::Ramp {
                    from,
                    grows: (to - from) / length_ms,
                    expected: 0.0,
                }
            }
            Arrivals::Trace(instants_ms) => {
                check_trace(instants_ms)?;
                Kind::Trace(instants_ms)
            }
        };
        Ok(clock)
    }

    /// Returns the mean rate in queries per second.
    pub fn rate_per_s(&self) -> f64 {
        match self {
            Arrivals::Poisson { rate_per_s } | Arrivals::Constant { rate_per_s } => *rate_per_s,
            Arrivals::Ramp {
                from_per_s,
                to_per_s,
            } => (from_per_s + to_per_s) / 2.0,
            Arrivals::Trace(instants_ms) => {
                1e3 * instants_ms.len() as f64 / instants_ms.last().copied().unwrap_or(1.0)
            }
        }
    }
}

fn check_trace(instants_ms: &[f64]) -> Result<(), ModelError> {
    let (Some(&first), Some(&last)) = (instants_ms.first(), instants_ms.last()) else {
        return Err(ModelError::Conflict(
            "a trace of arrivals needs at least one instant",
        ));
    };
    not_negative("the first instant of the trace (ms)", first)?;
    checked(
        "the last instant of the trace (ms)",
        last,
        last > 0.0,
        "more than 0",
    )?;
    if instants_ms.is_sorted() {
        Ok(())
    } else {
        Err(ModelError::Conflict(
            "the instants of a trace must not go back in time",
        ))
    }
}

/// Clock that returns one arrival time after the other.
#[derive(Debug)]
pub struct ArrivalClock<'a> {
    kind: Kind<'a>,
    now_ms: f64,
    number: u64,
}

#[derive(Debug)]
enum Kind<'a> {
    /// Mean gap in ms.
    Poisson(f64),
    /// Gap in ms.
    Constant(f64),
    /// Rates per ms, and the expected number of queries up to now.
    Ramp {
        from: f64,
        grows: f64,
        expected: f64,
    },
    Trace(&'a [f64]),
}

impl ArrivalClock<'_> {
    /// Returns the next arrival time in ms.
    #[inline]
    pub(crate) fn next_ms(&mut self, stream: &mut Stream) -> f64 {
        self.number += 1;
        match &mut self.kind {
            Kind::Poisson(gap_ms) => self.now_ms += *gap_ms * stream.exponential(),
            // A product does not drift; a sum of gaps would.
            Kind::Constant(gap_ms) => self.now_ms = *gap_ms * self.number as f64,
            Kind::Ramp {
                from,
                grows,
                expected,
            } => {
                *expected += stream.exponential();
                self.now_ms = time_expecting(*expected, *from, *grows).max(self.now_ms);
            }
            Kind::Trace(instants_ms) => {
                let idx = (self.number - 1) as usize;
                let round = (idx / instants_ms.len()) as f64;
                let length_ms = instants_ms[instants_ms.len() - 1];
                self.now_ms = round * length_ms + instants_ms[idx % instants_ms.len()];
            }
        }
        self.now_ms
    }
}

/// Returns the time at which a rate that starts at `from` and grows by `grows` per ms has brought
/// `expected` queries: from·t + grows·t²/2 = expected. A falling rate stops at a hundredth of its
/// start.
fn time_expecting(expected: f64, from: f64, grows: f64) -> f64 {
    if grows < 0.0 {
        let flat = from / 100.0;
        let until = (flat - from) / grows;
        let by_then = (from + flat) / 2.0 * until;
        if expected > by_then {
            return until + (expected - by_then) / flat;
        }
    }
    let root = (from * from + 2.0 * grows * expected).max(0.0).sqrt();
    2.0 * expected / (from + root)
}

#[cfg(test)]
mod tests {
    use super::super::streams::Streams;
    use super::*;

    fn instants(arrivals: &Arrivals, count: usize) -> Vec<f64> {
        let mut stream = Streams::of(7).arrivals;
        let mut clock = arrivals.clock(count).unwrap();
        (0..count).map(|_| clock.next_ms(&mut stream)).collect()
    }

    #[test]
    fn constant_and_traced_arrivals_come_when_they_should() {
        let arrivals = Arrivals::Constant { rate_per_s: 500.0 };
        assert_eq!(instants(&arrivals, 3), [2.0, 4.0, 6.0]);
        let arrivals = Arrivals::Trace(vec![1.0, 5.0, 10.0]);
        assert_eq!(instants(&arrivals, 5), [1.0, 5.0, 10.0, 11.0, 15.0]);
        assert!((arrivals.rate_per_s() - 300.0).abs() < 1e-9);
        for bad in [vec![], vec![2.0, 1.0], vec![0.0], vec![-1.0, 2.0]] {
            assert!(Arrivals::Trace(bad).clock(1).is_err());
        }
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let count = 200_000;
        let instants = instants(&Arrivals::Poisson { rate_per_s: 1000.0 }, count);
        let gaps: Vec<f64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        // Means lie within 4 standard errors; the squared coefficient of variation of an exponential
        // time is 1.
        assert!((mean - 1.0).abs() < 4.0 / n.sqrt(), "{mean}");
        assert!((variance / mean / mean - 1.0).abs() < 0.03, "{variance}");
        let beyond = gaps.iter().filter(|&&gap| gap > 3.0).count() as f64 / n;
        assert!((beyond - (-3f64).exp()).abs() < 0.002, "{beyond}");
    }

    #[test]
    fn a_ramp_goes_from_one_rate_to_the_other() {
        let check = |from_per_s: f64, to_per_s: f64| {
            let count = 100_000;
            let arrivals = Arrivals::Ramp {
                from_per_s,
                to_per_s,
            };
            let instants = instants(&arrivals, count);
            assert!(instants.is_sorted());
            let end_ms = *instants.last().unwrap();
            let in_tenth = |tenth: f64| {
                let lies = |t: f64| t >= tenth * end_ms / 10.0 && t < (tenth + 1.0) * end_ms / 10.0;
                1e4 * instants.iter().filter(|&&t| lies(t)).count() as f64 / end_ms
            };
            let at = |share: f64| from_per_s + (to_per_s - from_per_s) * share;
            assert!(
                (in_tenth(0.0) / at(0.05) - 1.0).abs() < 0.06,
                "{}",
                in_tenth(0.0)
            );
            assert!(
                (in_tenth(9.0) / at(0.95) - 1.0).abs() < 0.06,
                "{}",
                in_tenth(9.0)
            );
        };
        check(100.0, 900.0);
        check(900.0, 300.0);
        check(400.0, 400.0);
    }
}
