//! Warnings about conditions that invalidate the figures of a run.
use crate::{Ending, Noise, Outcome, Sample};
use std::fmt;

/// Upper limit on the 99th percentile of the lag, as a share of the median service time.
const LAG_SHARE_MAX: f64 = 0.05;
/// Limits on the backlog growth, in requests and as a share of the arrivals in the same time. A growth above
/// both means that the server is not keeping up.
const BACKLOG_GROWTH_MIN: f64 = 20.0;
const BACKLOG_SHARE_MAX: f64 = 0.02;
/// Number of backlog samples in each third of the run.
const LOOKS: u64 = 50;

/// Warning about the figures of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// The client, not the server, delayed requests.
    ClientLimited {
        /// 99th percentile of the lag, in microseconds.
        lag_us_p99: f64,
        /// Median service time, in microseconds.
        service_us_p50: f64,
        /// Number of requests never sent.
        dropped_count: u64,
    },
    /// Requests that were sent had no answer: refused, failed, timed out.
    Unanswered {
        /// Number of such requests.
        unanswered_count: u64,
        /// Number of all requests.
        requests_count: u64,
        /// The most frequent way in which they ended.
        ending: Ending,
    },
    /// Arrivals exceeded answers: times grow with the length of the run.
    Unstable {
        /// Growth of the backlog from the second third of the run to the last, in requests.
        backlog_growth: f64,
    },
    /// Other programs used the cores.
    Contended {
        /// Measured noise.
        noise: Noise,
    },
    /// The run was stopped.
    Incomplete,
    /// Different answers to the same query.
    AnswersChange {
        /// Number of such queries.
        queries_count: usize,
    },
    /// No request was answered.
    NoAnswers,
}

impl Label {
    /// Names of all labels.
    pub const NAMES: [&'static str; 7] = [
        "client-limited",
        "unanswered",
        "unstable",
        "contended",
        "incomplete",
        "answers-change",
        "no-answers",
    ];
    /// Names of the labels after which the figures are not those of a server that keeps up with its load:
    /// a run with one of them has failed, though it was measured.
    pub const FAILED: [&'static str; 4] =
        ["client-limited", "unanswered", "unstable", "no-answers"];
    /// Names of the labels that make the times of a run unfit for a model of the server.
    pub const UNFIT: [&'static str; 5] = [
        "client-limited",
        "unanswered",
        "unstable",
        "contended",
        "no-answers",
    ];

    /// Returns the one-word name of the label.
    pub fn name(&self) -> &'static str {
        match self {
            Label::ClientLimited { .. } => "client-limited",
            Label::Unanswered { .. } => "unanswered",
            Label::Unstable { .. } => "unstable",
            Label::Contended { .. } => "contended",
            Label::Incomplete => "incomplete",
            Label::AnswersChange { .. } => "answers-change",
            Label::NoAnswers => "no-answers",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::ClientLimited {
                dropped_count: dropped @ 1..,
                ..
            } => write!(
                to,
                "client-limited: {dropped} requests were never sent, because all connections were busy; allow more \
                 --connections, or offer less"
            ),
            Label::ClientLimited {
                lag_us_p99,
                service_us_p50,
                ..
            } => write!(
                to,
                "client-limited: requests were sent up to {lag_us_p99:.0} µs late (p99), more than \
                 5 % of the median service time of {service_us_p50:.0} µs; give the client a core \
                 of its own"
            ),
            Label::Unanswered {
                unanswered_count,
                requests_count,
                ending,
            } => write!(
                to,
                "unanswered: {unanswered_count} of {requests_count} requests had no answer (most: `{}`); the \
                 times are of the others alone, so offer less, or see what the server says",
                ending.name()
            ),
            Label::Unstable { backlog_growth } => write!(
                to,
                "unstable: the backlog grew by {backlog_growth:.0} requests; times grow with the \
                 length of the run, so offer less"
            ),
            Label::Contended { noise } => {
                let percent = |share: Option<f64>| match share {
                    Some(share) => format!("{:.1} %", share * 100.0),
                    None => "an unknown share".to_owned(),
                };
                write!(
                    to,
                    "contended: tasks waited for a core {} of the time, and {} of it was stolen; \
                     run again on a quiet machine",
                    percent(noise.pressure),
                    percent(noise.steal)
                )
            }
            Label::Incomplete => write!(to, "incomplete: the run was stopped before its end"),
            Label::AnswersChange { queries_count } => write!(
                to,
                "answers-change: {queries_count} queries had different answers at different times"
            ),
            Label::NoAnswers => write!(to, "no-answers: no request had an answer"),
        }
    }
}

/// Figures of a run that its warnings depend on.
pub(crate) struct Figures {
    pub(crate) answers_count: u64,
    pub(crate) dropped_count: u64,
    pub(crate) requests_count: u64,
    /// Number of sent requests without an answer, and their most frequent ending.
    pub(crate) unanswered: Option<(u64, Ending)>,
    pub(crate) lag_us_p99: f64,
    pub(crate) service_us_p50: Option<f64>,
    /// Number of queries whose complete answers differed.
    pub(crate) changing_queries_count: usize,
}

pub(crate) fn labels(outcome: &Outcome, figures: &Figures) -> Vec<Label> {
    let mut labels = Vec::new();
    if !outcome.is_complete {
        labels.push(Label::Incomplete);
    }
    if figures.answers_count == 0 {
        labels.push(Label::NoAnswers);
    }
    let &Figures {
        dropped_count,
        lag_us_p99,
        service_us_p50,
        changing_queries_count: queries_count,
        ..
    } = figures;
    let is_late = service_us_p50.is_some_and(|us| lag_us_p99 > LAG_SHARE_MAX * us);
    if dropped_count > 0 || is_late {
        labels.push(Label::ClientLimited {
            lag_us_p99,
            service_us_p50: service_us_p50.unwrap_or_default(),
            dropped_count,
        });
    }
    if let Some((unanswered_count, ending)) = figures.unanswered {
        labels.push(Label::Unanswered {
            unanswered_count,
            requests_count: figures.requests_count,
            ending,
        });
    }
    if let Some(backlog_growth) = backlog_growth(outcome) {
        labels.push(Label::Unstable { backlog_growth });
    }
    if outcome.noise.is_contended() {
        let noise = outcome.noise;
        labels.push(Label::Contended { noise });
    }
    if queries_count > 0 {
        labels.push(Label::AnswersChange { queries_count });
    }
    labels
}

/// Returns the growth of the mean backlog (requests due and not finished) from the second third to the
/// last third, if it exceeds chance. The first third is ignored: without a warm-up the backlog grows
/// there to its steady level.
fn backlog_growth(outcome: &Outcome) -> Option<f64> {
    let samples: Vec<&Sample> = outcome.measured().collect();
    let from_ns = outcome.warm_up.as_nanos() as u64;
    let third_ns = outcome.measured.as_nanos() as u64 / 3;
    let mut intended: Vec<u64> = samples.iter().map(|sample| sample.intended_ns).collect();
    // Unfinished requests stay in the backlog; unsent ones never entered it.
    let mut ended: Vec<u64> = samples
        .iter()
        .map(|sample| match sample.sent_ns {
            Some(_) => sample.done_ns.unwrap_or(u64::MAX),
            None => sample.intended_ns,
        })
        .collect();
    intended.sort_unstable();
    ended.sort_unstable();
    let before = |instants: &[u64], at_ns: u64| instants.partition_point(|&i| i < at_ns) as f64;
    let mean_backlog = |from_ns: u64| {
        let looks = (0..LOOKS).map(|look| from_ns + (third_ns * (2 * look + 1)) / (2 * LOOKS));
        let backlogs = looks.map(|at_ns| before(&intended, at_ns) - before(&ended, at_ns));
        backlogs.sum::<f64>() / LOOKS as f64
    };
    let growth = mean_backlog(from_ns + 2 * third_ns) - mean_backlog(from_ns + third_ns);
    let meanwhile = samples.len() as f64 / 3.0;
    (growth > BACKLOG_GROWTH_MIN && growth > BACKLOG_SHARE_MAX * meanwhile).then_some(growth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;
    use crate::summary::tests::{outcome, sample};
    use std::time::Duration;

    fn names(outcome: &Outcome) -> Vec<&'static str> {
        Summary::of(outcome)
            .labels
            .iter()
            .map(Label::name)
            .collect()
    }

    #[test]
    fn a_late_client_is_told() {
        let run = |lag_us| {
            let samples = (0..3000).map(|ms| sample(ms, lag_us, 2000)).collect();
            names(&outcome(samples, Duration::from_secs(3)))
        };
        assert_eq!(run(90), [""; 0]);
        assert_eq!(run(110), ["client-limited"]);
        // 150 requests, of which a stopped client sent 45 up to a second late.
        let few =
            (0..150).map(|at| sample(20 * at, if at % 50 < 15 { 1_000_000 } else { 0 }, 2000));
        let few = outcome(few.collect(), Duration::from_secs(3));
        assert_eq!(names(&few), ["client-limited"]);
        let mut dropped: Vec<Sample> = (0..3000).map(|ms| sample(ms, 0, 2000)).collect();
        (dropped[7].ending, dropped[7].sent_ns, dropped[7].done_ns) = (Ending::Dropped, None, None);
        assert_eq!(
            names(&outcome(dropped, Duration::from_secs(3))),
            ["client-limited"]
        );
    }

    #[test]
    fn a_growing_backlog_is_told_from_a_long_one() {
        // 1,000 requests a second arrive and every answer takes 300 ms, so 300 are always in flight.
        let steady = (0..3000).map(|ms| sample(ms, 0, 300_000)).collect();
        assert_eq!(names(&outcome(steady, Duration::from_secs(3))), [""; 0]);
        // Service times grow with the intended instant: 5 % more requests arrive than are answered.
        let growing = (0..3000).map(|ms| sample(ms, 0, 1000 + ms * 50)).collect();
        assert_eq!(
            names(&outcome(growing, Duration::from_secs(3))),
            ["unstable"]
        );
    }

    #[test]
    fn requests_without_an_answer_are_told() {
        let run = |ending: Ending| {
            let mut samples: Vec<Sample> = (0..3000).map(|ms| sample(ms, 0, 2000)).collect();
            for sample in samples.iter_mut().step_by(3) {
                sample.ending = ending;
            }
            outcome(samples, Duration::from_secs(3))
        };
        for ending in [
            Ending::Answered(429),
            Ending::Answered(503),
            Ending::Answered(404),
            Ending::TimedOut,
            Ending::Closed,
            Ending::Refused,
        ] {
            let run = run(ending);
            assert_eq!(names(&run), ["unanswered"], "{ending:?}");
            let said = Summary::of(&run).labels[0].to_string();
            let counted = format!(
                "1000 of 3000 requests had no answer (most: `{}`)",
                ending.name()
            );
            assert!(said.contains(&counted), "{said}");
        }
        assert_eq!(names(&run(Ending::Answered(200))), [""; 0]);
    }

    #[test]
    fn every_name_is_listed() {
        for name in Label::FAILED.iter().chain(&Label::UNFIT) {
            assert!(Label::NAMES.contains(name), "{name}");
        }
    }

    #[test]
    fn other_warnings() {
        let mut run = outcome(Vec::new(), Duration::from_secs(3));
        run.is_complete = false;
        run.noise.steal = Some(0.01);
        assert_eq!(names(&run), ["incomplete", "no-answers", "contended"]);
        for label in Summary::of(&run).labels {
            assert!(label.to_string().starts_with(label.name()));
        }
    }
}
