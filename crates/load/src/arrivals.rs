//! When does each request of an open loop arrive? Drawn before the run, whole, from a seed.
//!
//! Replies cannot delay what is fixed already. The duration is fixed and the number of arrivals
//! random (as for a real Poisson process over an interval), which is recorded with the run: tools
//! that fix the number instead are slightly biased against these.
use crate::LoadError;
use crate::random::{Purpose, Random};
use std::time::Duration;

/// Arrivals that one schedule holds at most: what fits into memory with its samples.
const ARRIVALS_MAX: f64 = 50e6;

/// A process of arrivals. Rates are in requests a second.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Arrivals {
    /// Independent arrivals, as of many users who do not know each other.
    Poisson {
        /// Mean rate.
        rate_qps: f64,
    },
    /// Equal distances. Halves the wait that Poisson arrivals see near saturation, so it cannot
    /// stand for them.
    Constant {
        /// Rate.
        rate_qps: f64,
    },
    /// Poisson arrivals whose rate grows or falls linearly over the run.
    Ramp {
        /// Rate at the start.
        from_qps: f64,
        /// Rate at the end.
        to_qps: f64,
    },
    /// Poisson arrivals that come and go: `on`, then nothing for `off`, and so on.
    Bursts {
        /// Rate within a burst.
        rate_qps: f64,
        /// Length of a burst.
        on: Duration,
        /// Silence between two bursts.
        off: Duration,
    },
    /// Instants from a recording, since its start, increasing.
    Trace {
        /// The instants.
        instants: Vec<Duration>,
    },
}

impl Arrivals {
    /// Instants in nanoseconds since the start, increasing, all before `duration`.
    ///
    /// # Errors
    /// A rate that is not a positive finite number, a trace that goes back in time, or more
    /// arrivals than fit into memory.
    pub fn draw(&self, duration: Duration, seed: u64) -> Result<Vec<u64>, LoadError> {
        self.validate(duration)?;
        Ok(self.draw_from(duration, Random::new(seed, Purpose::Arrivals)))
    }

    /// The arrivals before the measured ones: the same process, where it has a constant rate; the
    /// rate that a ramp starts with; none before a trace.
    pub(crate) fn draw_warm_up(&self, warm_up: Duration, seed: u64) -> Vec<u64> {
        let process = match self {
            Arrivals::Ramp { from_qps, .. } => Arrivals::Poisson {
                rate_qps: *from_qps,
            },
            Arrivals::Trace { .. } => return Vec::new(),
            other => other.clone(),
        };
        process.draw_from(warm_up, Random::new(seed, Purpose::WarmUp))
    }

    /// Mean rate over `duration`, in requests a second.
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

    /// The same process `factor` times as fast; a trace is played faster.
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
                // The integral of the rate is from·t + slope·t²/2; this is its inverse, in the form
                // that stays exact as the slope goes to 0.
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

/// Poisson arrivals of any rate: unit-rate arrivals through the inverse of the integrated rate
/// (Lewis & Shedler 1979). `instant` gives seconds, or none when all arrivals are over.
fn inverted(seconds: f64, random: &mut Random, instant: impl Fn(f64) -> Option<f64>) -> Vec<u64> {
    let mut arrivals = Vec::new();
    let mut work = random.exponential();
    while let Some(at) = instant(work).filter(|&at| at < seconds) {
        arrivals.push(nanoseconds(at));
        work += random.exponential();
    }
    arrivals
}

/// Seconds within bursts among the first `seconds`.
fn time_on(seconds: f64, on: f64, off: f64) -> f64 {
    let whole = (seconds / (on + off)).floor();
    whole * on + (seconds - whole * (on + off)).min(on)
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests;
