//! Search for the highest rate that meets a response-time target.
//!
//! Rates grow by half until the target is missed; then the gap is bisected until it is narrow enough. A
//! probe meets the target only if the percentile over *all* its requests does, with unanswered ones
//! counted as slower than any, and if its backlog does not grow. Each probe lasts at least until its
//! percentile has enough samples.
use crate::settings::Load;
use crate::{Arrivals, Label, Live, LoadError, Outcome, Settings, Summary, run_watched};
use std::time::Duration;

const GROWTH: f64 = 1.5;
/// Expected number of samples beyond the percentile that sets the duration of a probe.
const BEYOND_WANTED: f64 = 12.0;
const PROBES_MAX: usize = 40;

/// Response-time target and the parameters of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSearch {
    /// Percentile of the target, above 0 and below 100.
    pub percentile: f64,
    /// Upper limit on the percentile.
    pub target: Duration,
    /// Rate of the first probe.
    pub from_qps: f64,
    /// Gap at which the search ends: between the highest rate that meets the target and the lowest that
    /// misses it, as a share of the former.
    pub precision: f64,
}

/// Result at one rate.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Offered rate, in requests per second.
    pub rate_qps: f64,
    /// Percentile over all requests; `None` if too few were answered.
    pub percentile_us: Option<f64>,
    /// Whether the probe met the target.
    pub is_kept: bool,
    /// All other figures of the probe.
    pub summary: Summary,
}

impl RateSearch {
    /// Parses `p99=300ms`, `p99.9=1s`; the first rate is 50 requests a second.
    ///
    /// # Errors
    /// Text in another form.
    pub fn parse(text: &str) -> Result<RateSearch, String> {
        let wrong = || format!("`{text}` is no target; write p99=300ms");
        let (percentile, target) = text.split_once('=').ok_or_else(wrong)?;
        let percentile = percentile.strip_prefix('p').ok_or_else(wrong)?;
        let percentile: f64 = percentile.parse().map_err(|_| wrong())?;
        if !(1.0..=99.99).contains(&percentile) {
            return Err("give a percentile from p1 to p99.99".into());
        }
        let target = crate::parse_duration(target)?;
        if target.is_zero() {
            return Err("no answer comes in no time; write p99=300ms".into());
        }
        Ok(RateSearch {
            percentile,
            target,
            from_qps: 50.0,
            precision: 0.05,
        })
    }

    /// Runs probes with Poisson arrivals and passes each to `tried`. Returns all probes;
    /// [`highest_kept`] gives the result. No probe meets the target if even a
    /// hundredth of the first rate misses it.
    ///
    /// # Errors
    /// The errors of [`run`](crate::run).
    pub fn run(
        &self,
        settings: &Settings,
        live: &Live,
        mut tried: impl FnMut(&Probe),
    ) -> Result<Vec<Probe>, LoadError> {
        let mut probes: Vec<Probe> = Vec::new();
        let (mut kept, mut missed): (Option<f64>, Option<f64>) = (None, None);
        while probes.len() < PROBES_MAX {
            let rate_qps = match (kept, missed) {
                (None, None) => self.from_qps,
                (Some(kept), None) => kept * GROWTH,
                (None, Some(missed)) if missed < self.from_qps / 100.0 => break,
                (None, Some(missed)) => missed / GROWTH / GROWTH,
                (Some(kept), Some(missed)) if missed - kept <= self.precision * kept => break,
                (Some(kept), Some(missed)) => (kept * missed).sqrt(),
            };
            let (outcome, probe) = self.probe(settings, rate_qps, live)?;
            tried(&probe);
            let bound = if probe.is_kept {
                &mut kept
            } else {
                &mut missed
            };
            *bound = Some(rate_qps);
            probes.push(probe);
            if !outcome.is_complete {
                break;
            }
        }
        Ok(probes)
    }

    fn probe(
        &self,
        settings: &Settings,
        rate_qps: f64,
        live: &Live,
    ) -> Result<(Outcome, Probe), LoadError> {
        let wanted = BEYOND_WANTED / (1.0 - self.percentile / 100.0) / rate_qps;
        let mut probe = settings.clone();
        probe.load = Load::Open {
            arrivals: Arrivals::Poisson { rate_qps },
        };
        probe.duration = settings.duration.max(Duration::from_secs_f64(wanted));
        // An answer ten times slower than the target is a miss in any case, so no request waits longer.
        probe.timeout = settings.timeout.min(self.target * 10);
        probe.drain = probe.timeout;
        let outcome = run_watched(&probe, live)?;
        let summary = Summary::of(&outcome);
        let percentile_us = summary.response_of_all.percentile_us(self.percentile);
        let is_growing =
            |label: &Label| matches!(label, Label::Unstable { .. } | Label::Incomplete);
        let target_us = self.target.as_secs_f64() * 1e6;
        let is_kept = percentile_us.is_some_and(|us| us <= target_us)
            && !summary.labels.iter().any(is_growing);
        let probe = Probe {
            rate_qps,
            percentile_us,
            is_kept,
            summary,
        };
        Ok((outcome, probe))
    }
}

/// Returns the probe with the highest rate that met the target.
pub fn highest_kept(probes: &[Probe]) -> Option<&Probe> {
    let kept = probes.iter().filter(|probe| probe.is_kept);
    kept.max_by(|a, b| a.rate_qps.total_cmp(&b.rate_qps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_or_refused() {
        let search = RateSearch::parse("p99.9=1.5s").unwrap();
        assert_eq!(
            (search.percentile, search.target),
            (99.9, Duration::from_millis(1500))
        );
        for wrong in [
            "", "p99", "99=1s", "p=1s", "p100=1s", "p0=1s", "p99=fast", "p99=0s",
        ] {
            assert!(RateSearch::parse(wrong).is_err(), "{wrong}");
        }
    }
}
