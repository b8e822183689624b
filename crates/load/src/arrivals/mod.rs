//! Arrival schedule of an open loop, drawn from a seed before the run.
//!
//! Replies cannot delay a fixed schedule. The duration is fixed and the number of arrivals random (as
//! for a real Poisson process over an interval); the number is recorded with the run. Tools that fix
//! the number instead are slightly biased compared with this one.
use crate::LoadError;
use crate::random::{Purpose, Random};
use std::time::Duration;

/// Upper limit on arrivals per schedule, so that it and its samples fit into memory.
const ARRIVALS_MAX: f64 = 50e6;

/// Arrival process. Rates are in requests per second.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Arrivals {
    /// Independent arrivals, as from many independent users.
    Poisson {
        /// Mean rate.
        rate_qps: f64,
    },
    /// Equal gaps. These halve the wait of Poisson arrivals near saturation, so they are no substitute
    /// for them.
    Constant {
        /// Constant rate.
        rate_qps: f64,
    },
    /// Poisson arrivals with a rate that changes linearly over the run.
    Ramp {
        /// Rate at the start.
        from_qps: f64,
        /// Rate at the end.
        to_qps: f64,
    },
    /// Poisson arrivals in bursts: alternately `on` with arrivals and `off` without.
    Bursts {
        /// Rate within a burst.
        rate_qps: f64,
        /// Length of a burst.
        on: Duration,
        /// Pause between two bursts.
        off: Duration,
    },
    /// Recorded arrival times since the start of the recording, increasing.
    Trace {
        /// Recorded times.
        instants: Vec<Duration>,
    },
}

impl Arrivals {
    /// Returns the arrival times in nanoseconds since the start, increasing, all before `duration`.
    ///
    /// # Errors
    /// A rate that is not a positive finite number, a trace that decreases, or more arrivals than fit
    /// into memory.
    pub fn draw(&self, duration: Duration, seed: u64) -> Result<Vec<u64>, LoadError> {
        self.validate(duration)?;
        Ok(self.draw_from(duration, Purpose::Arrivals.stream(seed)))
    }

    /// Returns the arrivals of the warm-up: the same process for a constant rate, the starting rate of
    /// a ramp, none before a trace.
    pub(crate) fn draw_warm_up(&self, warm_up: Duration, seed: u64) -> Vec<u64> {
        let process = match self {
            Arrivals::Ramp { from_qps, .. } => Arrivals::Poisson {
                rate_qps: *from_qps,
            },
            Arrivals::Trace { .. } => return Vec::new(),
            other => other.clone(),
        };
        process.draw_from(warm_up, Purpose::WarmUp.stream(seed))
    }

    /// Returns the mean rate over `duration`, in requests per second.
    pub fn mean_rate_qps(&self, duration: Duration) -> f64 {
        let seconds = duration.as_secs_f64();
        match self {
            Arrivals::Poisson { rate_qps } | Arrivals::Constant { rate_qps } => *rate_qps,
            Arrivals::Ramp { from_qps, to_qps } => (from_qps + to_qps) / 2.0,
            Arrivals::Bursts { rate_qps, on, off } => {
                rate_qps * time_on(seconds, on.as_secs_f64(), off.as_secs_f64()) / seconds
            }
            Arrivals::Trace { instants } => {
                instants.iter().filter(|at| **at < duration).count() as f64 / seconds
            }
        }
    }

    /// Returns the highest rate within `duration`, in requests per second: of a burst, of either end of a ramp, or of any
    /// second of a trace.
    pub fn peak_rate_qps(&self, duration: Duration) -> f64 {
        match self {
            Arrivals::Poisson { rate_qps }
            | Arrivals::Constant { rate_qps }
            | Arrivals::Bursts { rate_qps, .. } => *rate_qps,
            Arrivals::Ramp { from_qps, to_qps } => from_qps.max(*to_qps),
            Arrivals::Trace { instants } => {
                let offered = instants.partition_point(|at| *at < duration);
                let second = Duration::from_secs(1);
                let mut first = 0;
                let in_second = |(number, at): (usize, &Duration)| {
                    while *at - instants[first] >= second {
                        first += 1;
                    }
                    number + 1 - first
                };
                let offered = instants[..offered].iter().enumerate();
                offered.map(in_second).max().unwrap_or_default() as f64
            }
        }
    }

    /// Returns the same process with rates multiplied by `factor`; a trace is played faster.
    #[must_use]
    pub fn faster(&self, factor: f64) -> Arrivals {
        let mut faster = self.clone();
        match &mut faster {
            Arrivals::Poisson { rate_qps }
            | Arrivals::Constant { rate_qps }
            | Arrivals::Bursts { rate_qps, .. } => *rate_qps *= factor,
            Arrivals::Ramp { from_qps, to_qps } => {
                *from_qps *= factor;
                *to_qps *= factor;
            }
            Arrivals::Trace { instants } => {
                instants.iter_mut().for_each(|at| *at = at.div_f64(factor));
            }
        }
        faster
    }

    pub(crate) fn validate(&self, duration: Duration) -> Result<(), LoadError> {
        let positive = |setting, rate: f64| match rate.is_finite() && rate > 0.0 {
            true => Ok(()),
            false => Err(LoadError::setting(
                setting,
                format!("{rate} requests a second cannot be offered; give a number above 0"),
            )),
        };
        match self {
            Arrivals::Poisson { rate_qps } | Arrivals::Constant { rate_qps } => {
                positive("rate", *rate_qps)?;
            }
            Arrivals::Ramp { from_qps, to_qps } => {
                positive("from", *from_qps)?;
                positive("to", *to_qps)?;
            }
            Arrivals::Bursts { rate_qps, on, .. } => {
                positive("rate", *rate_qps)?;
                if on.is_zero() {
                    return Err(LoadError::setting(
                        "on",
                        "a burst takes longer than nothing",
                    ));
                }
            }
            Arrivals::Trace { instants } => {
                if let Some(at) = instants.windows(2).position(|pair| pair[0] > pair[1]) {
                    let line = at + 2;
                    return Err(LoadError::setting(
                        "trace",
                        format!("instant {line} is before the one above it; sort the trace"),
                    ));
                }
            }
        }
        let expected = self.mean_rate_qps(duration) * duration.as_secs_f64();
        if expected > ARRIVALS_MAX {
            return Err(LoadError::setting(
                "duration",
                format!(
                    "about {expected:.0} arrivals; at most {ARRIVALS_MAX:.0} fit into one run, \
                     shorten it"
                ),
            ));
        }
        Ok(())
    }

    fn draw_from(&self, duration: Duration, mut random: Random) -> Vec<u64> {
        let seconds = duration.as_secs_f64();
        match self {
            Arrivals::Poisson { rate_qps } => {
                inverted(seconds, &mut random, |work| Some(work / rate_qps))
            }
            Arrivals::Constant { rate_qps } => {
                let count = (seconds * rate_qps).ceil() as u64;
                (0..count)
                    .map(|n| nanoseconds(n as f64 / rate_qps))
                    .take_while(|&at_ns| u128::from(at_ns) < duration.as_nanos())
                    .collect()
            }
            Arrivals::Ramp { from_qps, to_qps } => {
                // The integral of the rate is from·t + slope·t²/2. This is its inverse, in the form that stays exact
                // as the slope nears 0.
                let slope = (to_qps - from_qps) / seconds;
                inverted(seconds, &mut random, |work| {
                    let square = from_qps * from_qps + 2.0 * slope * work;
                    (square >= 0.0).then(|| 2.0 * work / (from_qps + square.sqrt()))
                })
            }
            Arrivals::Bursts { rate_qps, on, off } => {
                let (on, off) = (on.as_secs_f64(), off.as_secs_f64());
                inverted(seconds, &mut random, |work| {
                    let time_on = work / rate_qps;
                    Some(time_on + (time_on / on).floor() * off)
                })
            }
            Arrivals::Trace { instants } => instants
                .iter()
                .filter(|at| **at < duration)
                .map(|at| at.as_nanos() as u64)
                .collect(),
        }
    }
}

/// Returns Poisson arrivals of any rate: unit-rate arrivals through the inverse of the integrated rate
/// (Lewis & Shedler 1979). `instant` returns seconds, or `None` after the last arrival.
fn inverted(seconds: f64, random: &mut Random, instant: impl Fn(f64) -> Option<f64>) -> Vec<u64> {
    let mut arrivals = Vec::new();
    let mut work = random.exponential_by_inversion();
    while let Some(at) = instant(work).filter(|&at| at < seconds) {
        arrivals.push(nanoseconds(at));
        work += random.exponential_by_inversion();
    }
    arrivals
}

/// Returns the seconds within bursts among the first `seconds`.
fn time_on(seconds: f64, on: f64, off: f64) -> f64 {
    let whole = (seconds / (on + off)).floor();
    whole * on + (seconds - whole * (on + off)).min(on)
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests;
