//! Search for the highest rate that meets a response-time target.
//!
//! Rates grow by half until the target is missed; then the gap is bisected until it is narrow enough. A
//! probe meets the target only if the percentile over *all* its requests does, with unanswered ones
//! counted as slower than any, and if its backlog does not grow. Each probe lasts at least until its
//! percentile has enough samples. A probe that misses by the lateness of this client alone says nothing
//! about the server: it bounds the search, and the result says whose limit was found.
use crate::settings::Load;
use crate::{Arrivals, Label, Live, LoadError, Outcome, Settings, Summary, Times, run_watched};
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
    /// Outcome of the probe.
    pub verdict: ProbeVerdict,
    /// All other figures of the probe.
    pub summary: Summary,
}

/// Outcome of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeVerdict {
    /// The target was met, lateness of the client included.
    Kept,
    /// The server missed the target.
    Missed,
    /// The target was missed, and would have been met by requests sent in time: the client was late, or had no
    /// connection free.
    ClientLimited,
}

impl ProbeVerdict {
    /// Returns the name: `kept`, `missed`, `client-limited`.
    pub fn name(self) -> &'static str {
        match self {
            ProbeVerdict::Kept => "kept",
            ProbeVerdict::Missed => "missed",
            ProbeVerdict::ClientLimited => "client-limited",
        }
    }
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
        let target = units::Times::ANY.read(target)?.duration();
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

    /// Runs probes with Poisson arrivals and passes each to `tried`, with its settings and samples. Returns all probes;
    /// [`highest_kept`] gives the result. No probe meets the target if even a
    /// hundredth of the first rate misses it.
    ///
    /// # Errors
    /// The errors of [`run`](crate::run).
    pub fn run(
        &self,
        settings: &Settings,
        live: &Live,
        mut tried: impl FnMut(&Probe, &Settings, &Outcome),
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
            let (settings, outcome, probe) = self.probe(settings, rate_qps, live)?;
            tried(&probe, &settings, &outcome);
            let bound = match probe.verdict {
                ProbeVerdict::Kept => &mut kept,
                ProbeVerdict::Missed | ProbeVerdict::ClientLimited => &mut missed,
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
    ) -> Result<(Settings, Outcome, Probe), LoadError> {
        let wanted = BEYOND_WANTED / (1.0 - self.percentile / 100.0) / rate_qps;
        let mut settings = settings.clone();
        settings.load = Load::Open {
            arrivals: Arrivals::Poisson { rate_qps },
        };
        settings.duration = settings.duration.max(Duration::from_secs_f64(wanted));
        // An answer ten times slower than the target is a miss in any case, so no request waits longer.
        settings.timeout = settings.timeout.min(self.target * 10);
        settings.drain = settings.timeout;
        let outcome = run_watched(&settings, live)?;
        let summary = Summary::of(&outcome);
        let percentile_us = summary.response_of_all.percentile_us(self.percentile);
        let target_us = self.target.as_secs_f64() * 1e6;
        let probe = Probe {
            rate_qps,
            percentile_us,
            verdict: verdict(&outcome, &summary, (self.percentile, target_us)),
            summary,
        };
        Ok((settings, outcome, probe))
    }
}

/// Returns the outcome of a probe whose percentile is to stay within `target_us`.
fn verdict(
    outcome: &Outcome,
    summary: &Summary,
    (percentile, target_us): (f64, f64),
) -> ProbeVerdict {
    let is_within = |times: &Times| {
        times
            .percentile_us(percentile)
            .is_some_and(|us| us <= target_us)
    };
    let is_growing = |label: &Label| matches!(label, Label::Unstable { .. } | Label::Incomplete);
    if summary.labels.iter().any(is_growing) {
        return ProbeVerdict::Missed;
    }
    if is_within(&summary.response_of_all) {
        return ProbeVerdict::Kept;
    }
    // From sending to the answer, of requests that were sent: what the server did.
    let mut sent = Times::default();
    for sample in outcome.measured().filter(|sample| sample.sent_ns.is_some()) {
        match sample.service_ns().filter(|_| sample.ending.is_answer()) {
            Some(ns) => sent.add_ns(ns),
            None => sent.add_never(),
        }
    }
    match is_within(&sent) {
        true => ProbeVerdict::ClientLimited,
        false => ProbeVerdict::Missed,
    }
}

/// Returns the probe with the highest rate that met the target.
pub fn highest_kept(probes: &[Probe]) -> Option<&Probe> {
    let kept = probes
        .iter()
        .filter(|probe| probe.verdict == ProbeVerdict::Kept);
    kept.max_by(|a, b| a.rate_qps.total_cmp(&b.rate_qps))
}

/// Returns whether the lowest rate that did not meet the target was missed by the client, not by the server.
pub fn is_client_the_limit(probes: &[Probe]) -> bool {
    let others = probes
        .iter()
        .filter(|probe| probe.verdict != ProbeVerdict::Kept);
    let lowest = others.min_by(|a, b| a.rate_qps.total_cmp(&b.rate_qps));
    lowest.is_some_and(|probe| probe.verdict == ProbeVerdict::ClientLimited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ending;
    use crate::summary::tests::{outcome, sample};

    /// Returns the outcome of a probe with a target of 5 ms for the 90th percentile.
    fn judged(lag_us: u64, service_us: u64, ending: Ending) -> ProbeVerdict {
        let mut samples: Vec<_> = (0..1000)
            .map(|ms| sample(ms, if ms % 5 == 0 { lag_us } else { 0 }, service_us))
            .collect();
        for sample in samples.iter_mut().step_by(4) {
            sample.ending = ending;
            if ending == Ending::Dropped {
                (sample.sent_ns, sample.done_ns) = (None, None);
            }
        }
        let outcome = outcome(samples, Duration::from_secs(1));
        verdict(&outcome, &Summary::of(&outcome), (90.0, 5_000.0))
    }

    #[test]
    fn a_miss_is_the_clients_or_the_servers() {
        let answered = Ending::Answered(200);
        assert_eq!(judged(0, 2_000, answered), ProbeVerdict::Kept);
        assert_eq!(judged(1_000, 2_000, answered), ProbeVerdict::Kept);
        assert_eq!(judged(10_000, 2_000, answered), ProbeVerdict::ClientLimited);
        assert_eq!(judged(10_000, 7_000, answered), ProbeVerdict::Missed);
        assert_eq!(
            judged(0, 2_000, Ending::Answered(503)),
            ProbeVerdict::Missed
        );
        assert_eq!(
            judged(0, 2_000, Ending::Dropped),
            ProbeVerdict::ClientLimited
        );
    }

    #[test]
    fn the_lowest_miss_tells_whose_limit_it_is() {
        let probe = |rate_qps, verdict| Probe {
            rate_qps,
            percentile_us: None,
            verdict,
            summary: Summary::of(&outcome(Vec::new(), Duration::from_secs(1))),
        };
        let mut probes = vec![
            probe(50.0, ProbeVerdict::Kept),
            probe(75.0, ProbeVerdict::ClientLimited),
        ];
        assert!(is_client_the_limit(&probes));
        probes.push(probe(60.0, ProbeVerdict::Missed));
        assert!(!is_client_the_limit(&probes));
        assert_eq!(highest_kept(&probes).unwrap().rate_qps, 50.0);
    }

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
