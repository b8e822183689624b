//! Summary figures of a run with their warnings.
use crate::labels::{Figures, Label, labels};
use crate::{Ending, Outcome, Sample, Times};
use std::collections::{BTreeMap, HashMap};

/// Lag in ns above which a request counts as late.
const LATE_NS: u64 = 1_000_000;

/// Summary of a run, without its warm-up.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Offered load, in requests per second.
    pub offered_qps: f64,
    /// Answers (2xx) per second.
    pub achieved_qps: f64,
    /// Number of requests by outcome.
    pub endings: BTreeMap<Ending, u64>,
    /// Number of requests sent more than 1 ms late.
    pub late_count: u64,
    /// Response times of answers, from the intended instant.
    pub response: Times,
    /// Response times of all requests; unanswered ones count as slower than any other.
    pub response_of_all: Times,
    /// Service times of answers, from sending.
    pub service: Times,
    /// Lag of all sent requests, from the intended instant to sending.
    pub lag: Times,
    /// Times reported by the server, if answers contain them.
    pub server: Times,
    /// Phase times reported by the server in phase order, if answers contain them.
    pub phases: Vec<(&'static str, Times)>,
    /// Consistency of the answers.
    pub answers: AnswerCheck,
    /// Warnings about these figures.
    pub labels: Vec<Label>,
}

/// Consistency of the answers, as far as answers alone can show it.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct AnswerCheck {
    /// Number of answers with all documents searched.
    pub whole_count: u64,
    /// Number of answers that report a partial search: `timed_out` or a coverage below 1.
    pub partial_count: u64,
    /// Number of complete answers without a hit.
    pub empty_count: u64,
    /// Queries whose complete answers differed.
    pub changing_queries: Vec<u32>,
    /// Checksum of the first complete answer of every query, in the order of queries: two runs of the
    /// same queries over the same index have equal checksums. `None` if no answer was complete.
    pub checksum: Option<u64>,
}

impl Summary {
    /// Summarises a run.
    pub fn of(outcome: &Outcome) -> Summary {
        let samples: Vec<&Sample> = outcome.measured().collect();
        let seconds = outcome.measured.as_secs_f64().max(1e-9);
        let answered = || samples.iter().filter(|sample| sample.ending.is_answer());
        let mut endings = BTreeMap::new();
        let mut response_of_all = Times::default();
        for sample in &samples {
            *endings.entry(sample.ending).or_default() += 1;
            match sample.response_ns().filter(|_| sample.ending.is_answer()) {
                Some(ns) => response_of_all.add_ns(ns),
                None => response_of_all.add_never(),
            }
        }
        let lags_ns = || samples.iter().filter_map(|sample| sample.lag_ns());
        let mut summary = Summary {
            offered_qps: samples.len() as f64 / seconds,
            achieved_qps: answered().count() as f64 / seconds,
            endings,
            late_count: lags_ns().filter(|&ns| ns > LATE_NS).count() as u64,
            response: Times::of_ns(answered().filter_map(|sample| sample.response_ns())),
            response_of_all,
            service: Times::of_ns(answered().filter_map(|sample| sample.service_ns())),
            lag: Times::of_ns(lags_ns()),
            server: Times::of_ns(answered().filter_map(|sample| {
                let server_us = sample.answer.as_ref()?.server_us?;
                Some(server_us.saturating_mul(1000))
            })),
            phases: phases(&samples),
            answers: AnswerCheck::of(&samples),
            labels: Vec::new(),
        };
        let figures = Figures {
            answers_count: summary.response.count(),
            dropped_count: summary.count(|ending| ending == Ending::Dropped),
            requests_count: summary.response_of_all.count(),
            unanswered: summary.unanswered(outcome.is_complete),
            lag_us_p99: summary.lag.rank_us(99.0).unwrap_or_default(),
            service_us_p50: summary.service.rank_us(50.0),
            changing_queries_count: summary.answers.changing_queries.len(),
        };
        summary.labels = labels(outcome, &figures);
        summary
    }

    /// Returns whether the lateness of the client decides a percentile of the response time: dropped requests, or a lag
    /// of which the same percentile is more than a tenth of it. A tail of milliseconds is the server's though the client
    /// was late by 5 % of the median, which is what [`Label::ClientLimited`] tells.
    pub fn is_client_limited_at(&self, percentile: f64) -> bool {
        const SHARE_MAX: f64 = 0.1;
        let lag_us = self.lag.rank_us(percentile).unwrap_or_default();
        let response_us = self.response.rank_us(percentile);
        self.count(|ending| ending == Ending::Dropped) > 0
            || response_us.is_some_and(|us| lag_us > SHARE_MAX * us)
    }

    /// Returns the number of requests that were sent and had no answer, and their most frequent ending;
    /// `None` if there are none. Requests that a stopped run left behind do not count.
    fn unanswered(&self, is_complete: bool) -> Option<(u64, Ending)> {
        let is_one = |ending: Ending| {
            let is_sent = ending != Ending::Dropped;
            !ending.is_answer() && is_sent && (is_complete || ending != Ending::Unfinished)
        };
        let of_each = self.endings.iter().filter(|(ending, _)| is_one(**ending));
        let (most, _) = of_each.max_by_key(|(_, count)| **count)?;
        Some((self.count(is_one), *most))
    }

    /// Returns the number of requests whose ending satisfies `of`.
    pub fn count(&self, of: impl Fn(Ending) -> bool) -> u64 {
        let chosen = self.endings.iter().filter(|(ending, _)| of(**ending));
        chosen.map(|(_, count)| count).sum()
    }
}

/// Returns the phases' times, and those of handlers where the server measured some.
fn phases(samples: &[&Sample]) -> Vec<(&'static str, Times)> {
    let mut phases: Vec<(&'static str, Times)> = Vec::new();
    let (mut search_cpu, mut run_queue) = (Times::default(), Times::default());
    for sample in samples {
        let Some(of_sample) = sample.answer.as_ref().and_then(|answer| answer.phases) else {
            continue;
        };
        for (idx, (name, us)) in of_sample.named().into_iter().enumerate() {
            if phases.len() == idx {
                phases.push((name, Times::default()));
            }
            phases[idx].1.add_ns(us.saturating_mul(1000));
        }
        for (times, us) in [
            (&mut search_cpu, of_sample.search_cpu),
            (&mut run_queue, of_sample.run_queue),
        ] {
            us.into_iter()
                .for_each(|us| times.add_ns(us.saturating_mul(1000)));
        }
    }
    let of_handlers = [("search_cpu", search_cpu), ("run_queue", run_queue)];
    phases.extend(
        of_handlers
            .into_iter()
            .filter(|(_, times)| times.count() > 0),
    );
    phases
}

impl AnswerCheck {
    fn of(samples: &[&Sample]) -> AnswerCheck {
        let mut check = AnswerCheck::default();
        let mut first: HashMap<u32, u64> = HashMap::new();
        let mut changing = std::collections::BTreeSet::new();
        for sample in samples {
            let Some(answer) = &sample.answer else {
                continue;
            };
            if !answer.is_whole() {
                check.partial_count += 1;
                continue;
            }
            check.whole_count += 1;
            check.empty_count += u64::from(answer.matches_count == Some(0));
            if *first.entry(sample.query_idx).or_insert(answer.checksum) != answer.checksum {
                changing.insert(sample.query_idx);
            }
        }
        check.changing_queries = changing.into_iter().collect();
        let mut all: Vec<(u32, u64)> = first.into_iter().collect();
        all.sort_unstable();
        if !all.is_empty() {
            let mut hash = xxhash_rust::xxh3::Xxh3::new();
            for (query_idx, checksum) in all {
                hash.update(&query_idx.to_le_bytes());
                hash.update(&checksum.to_le_bytes());
            }
            check.checksum = Some(hash.digest());
        }
        check
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Answer, Noise};
    use std::time::{Duration, SystemTime};

    /// Returns a sample of a successful request, sent `lag_us` late and answered after `service_us`.
    pub(crate) fn sample(at_ms: u64, lag_us: u64, service_us: u64) -> Sample {
        let sent_ns = at_ms * 1_000_000 + lag_us * 1000;
        Sample {
            arrival_idx: at_ms as u32,
            query_idx: 0,
            warm_up: false,
            intended_ns: at_ms * 1_000_000,
            sent_ns: Some(sent_ns),
            done_ns: Some(sent_ns + service_us * 1000),
            ending: Ending::Answered(200),
            new_connection: false,
            retry_after_s: None,
            body_bytes: 2,
            answer: Some(Answer::read(b"{}")),
        }
    }

    pub(crate) fn outcome(samples: Vec<Sample>, measured: Duration) -> Outcome {
        Outcome {
            samples,
            started_at: SystemTime::UNIX_EPOCH,
            warm_up: Duration::ZERO,
            measured,
            is_complete: true,
            noise: Noise::default(),
        }
    }

    #[test]
    fn times_are_kept_apart_and_the_unanswered_count() {
        let mut samples: Vec<Sample> = (0..1000).map(|ms| sample(ms, 100, 900)).collect();
        for sample in &mut samples[990..] {
            sample.ending = Ending::TimedOut;
            sample.answer = None;
        }
        samples[0].warm_up = true;
        samples[1].sent_ns = Some(3_500_000);
        let summary = Summary::of(&outcome(samples, Duration::from_secs(1)));
        assert_eq!((summary.offered_qps, summary.achieved_qps), (999.0, 989.0));
        assert_eq!(summary.late_count, 1);
        assert_eq!(summary.count(|ending| ending == Ending::TimedOut), 10);
        assert_eq!(summary.response.percentile_us(90.0), Some(1000.0));
        assert_eq!(summary.response_of_all.percentile_us(90.0), Some(1000.0));
        assert_eq!(summary.response_of_all.max_us(), None);
        assert_eq!(summary.service.percentile_us(50.0), Some(900.0));
        assert_eq!(summary.lag.percentile_us(50.0), Some(100.0));
    }

    #[test]
    fn the_client_decides_a_percentile_or_does_not() {
        // One request in fifty takes 20 ms; the client is late by 0.5 ms at most.
        let of = |lag_us: u64| {
            let times = (0..3000u64).map(|ms| match ms % 50 {
                0 => sample(ms, lag_us, 20_000),
                _ => sample(ms, lag_us, 1_000),
            });
            Summary::of(&outcome(times.collect(), Duration::from_secs(3)))
        };
        assert!(!of(50).is_client_limited_at(50.0));
        let late = of(500);
        assert!(late.is_client_limited_at(50.0) && !late.is_client_limited_at(99.0));
        let mut samples: Vec<Sample> = (0..100).map(|ms| sample(ms, 0, 1_000)).collect();
        samples[5].ending = Ending::Dropped;
        let dropped = Summary::of(&outcome(samples, Duration::from_secs(1)));
        assert!(dropped.is_client_limited_at(99.0));
    }

    #[test]
    fn answers_that_change_are_seen() {
        let answer = |sample: &mut Sample, query_idx, body: &str| {
            sample.query_idx = query_idx;
            sample.answer = Some(Answer::read(body.as_bytes()));
        };
        let mut samples: Vec<Sample> = (0..4).map(|ms| sample(ms, 0, 1)).collect();
        answer(&mut samples[0], 5, "a");
        answer(&mut samples[1], 6, "b");
        answer(&mut samples[2], 5, "a");
        answer(&mut samples[3], 6, "c");
        let check = |samples: &[Sample]| AnswerCheck::of(&samples.iter().collect::<Vec<_>>());
        let changed = check(&samples);
        assert_eq!(
            (changed.whole_count, &changed.changing_queries[..]),
            (4, &[6][..])
        );
        // Partial answers may differ.
        samples[3].answer.as_mut().unwrap().timed_out = true;
        let partial = check(&samples);
        assert_eq!(
            (partial.partial_count, partial.changing_queries.len()),
            (1, 0)
        );
        assert_eq!(partial.checksum, changed.checksum);
        assert_eq!(check(&[]).checksum, None);
    }
}
