//! CPU demand of the answers of a run: what a model of other machines takes from it.
//!
//! ```text
//! search   CPU time of the handlers, where the server measured it; else their wall clock
//! rest     front-end, merging, details, summaries, rendering: their wall clock
//!          wall clocks are scaled to the CPU time of the server's process, where that is known: both if
//!          they are longer than it, else the rest, which then has what no phase covers
//! idle     the median of what a request takes beyond both and beyond the queue: network and hand-overs
//! ```
//!
//! Wall clock contains waits for a core, which on a contended machine are most of it and would be planned
//! for again as work. So CPU time comes first wherever a run has it, and [`Demand::assumed`] says where
//! it has none.

use crate::{Answer, Outcome, RunRecord, Sample};
use wire::PhaseTimes;

/// Demand of the answers of a run, in the order of their intended instants.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Demand {
    /// CPU time of the search of each measured answer, over all partitions, in ms.
    pub searches_ms: Vec<f64>,
    /// CPU time of everything else of the same answers, in ms.
    pub rest_ms: Vec<f64>,
    /// Intended instants of the same answers, in ms from the first of them.
    pub arrivals_ms: Vec<f64>,
    /// Median of the time of a request beyond its demand and its wait for a handler, in ms.
    pub idle_ms: f64,
    /// Number of answers whose search has a measured CPU time.
    pub searches_with_cpu: usize,
    /// CPU time of the server's process over its answers, in ms; `None` where the run has none.
    pub cpu_ms_per_answer: Option<f64>,
    /// Whether wall clocks were scaled to that CPU time.
    pub is_scaled: bool,
}

/// An answer with its phases.
struct Phased<'a> {
    sample: &'a Sample,
    phases: &'a PhaseTimes,
}

impl Demand {
    /// Returns the demand of the measured answers of a run; `None` if no answer reports phases.
    pub fn of(record: &RunRecord, outcome: &Outcome) -> Option<Demand> {
        let answers: Vec<Phased<'_>> = outcome.measured().filter_map(phased).collect();
        let first_ns = answers.iter().map(|one| one.sample.intended_ns).min()?;
        let searches = answers.iter().map(|one| search_ms(one.phases));
        let (searches_ms, is_known): (Vec<f64>, Vec<bool>) = searches.unzip();
        let mut demand = Demand {
            arrivals_ms: answers
                .iter()
                .map(|one| (one.sample.intended_ns - first_ns) as f64 / 1e6)
                .collect(),
            searches_ms,
            rest_ms: answers.iter().map(|one| rest_ms(one.phases)).collect(),
            searches_with_cpu: is_known.iter().filter(|&&is_known| is_known).count(),
            cpu_ms_per_answer: cpu_ms_per_answer(record, outcome),
            ..Demand::default()
        };
        demand.scale(&is_known);
        demand.idle_ms = median(answers.iter().enumerate().map(|(idx, one)| {
            let service_ms = one.sample.service_ns().unwrap_or_default() as f64 / 1e6;
            let queued_ms = one.phases.queueing as f64 / 1e3;
            let busy_ms = demand.searches_ms[idx] + demand.rest_ms[idx];
            (service_ms - queued_ms - busy_ms).max(0.0)
        }));
        Some(demand)
    }

    /// Returns the demand of several runs of one server, one after the other.
    pub fn merged(demands: &[Demand]) -> Option<Demand> {
        let mut all = demands.first()?.clone();
        for demand in &demands[1..] {
            all.searches_ms.extend(&demand.searches_ms);
            all.rest_ms.extend(&demand.rest_ms);
            all.searches_with_cpu += demand.searches_with_cpu;
            all.is_scaled &= demand.is_scaled;
        }
        // Runs follow each other; their instants are each run's own.
        all.arrivals_ms.clear();
        all.idle_ms = median(demands.iter().map(|demand| demand.idle_ms));
        let known: Option<Vec<f64>> = demands.iter().map(|one| one.cpu_ms_per_answer).collect();
        all.cpu_ms_per_answer = known.map(|list| mean(&list));
        Some(all)
    }

    /// Scales wall clocks so that search and rest together take the CPU time of the process. `is_known` says
    /// which searches have a CPU time of their own. A process with less than these searches take is one of
    /// several, and its time says nothing of the whole.
    fn scale(&mut self, is_known: &[bool]) {
        let Some(cpu_ms) = self.cpu_ms_per_answer else {
            return;
        };
        let count = self.searches_ms.len() as f64;
        let of_searches = |wanted: bool| {
            let all = self.searches_ms.iter().zip(is_known);
            all.filter(|(_, known)| **known == wanted)
                .map(|(ms, _)| ms / count)
                .sum::<f64>()
        };
        let (known_ms, unknown_ms) = (of_searches(true), of_searches(false));
        let rest_ms = mean(&self.rest_ms);
        let left_ms = cpu_ms - known_ms;
        if left_ms <= 0.0 {
            return;
        }
        self.is_scaled = true;
        if unknown_ms + rest_ms > left_ms {
            let factor = left_ms / (unknown_ms + rest_ms);
            let unknown = self.searches_ms.iter_mut().zip(is_known);
            unknown
                .filter(|(_, known)| !**known)
                .for_each(|(ms, _)| *ms *= factor);
            self.rest_ms.iter_mut().for_each(|ms| *ms *= factor);
        } else {
            // The rest has no phase: connections, HTTP, the kernel.
            let beyond_ms = left_ms - unknown_ms - rest_ms;
            self.rest_ms.iter_mut().for_each(|ms| *ms += beyond_ms);
        }
    }

    /// Returns how search and rest were measured, one sentence each.
    pub fn assumed(&self) -> Vec<String> {
        let (answers, with_cpu) = (self.searches_ms.len(), self.searches_with_cpu);
        let wall = match self.is_scaled {
            true => "their wall clock, no more than the CPU time of the server's process",
            false => "their wall clock, which includes waits for a core",
        };
        let search = match with_cpu {
            0 => format!(
                "the CPU time of searches was not recorded (`trace=1` in the URL of the load records it): they take {wall}"
            ),
            _ if with_cpu == answers => {
                "searches take the CPU time that the server measured".to_owned()
            }
            _ => format!(
                "searches take the CPU time that the server measured for {with_cpu} of {answers}, the others {wall}"
            ),
        };
        let (search_ms, rest_ms) = (mean(&self.searches_ms), mean(&self.rest_ms));
        let rest = match (self.is_scaled, self.cpu_ms_per_answer) {
            (true, Some(cpu_ms)) => format!(
                "front-end, details, summaries and rendering take {rest_ms:.3} ms of a core a query: what the \
                 server's process used ({cpu_ms:.3} ms an answer) beyond its searches ({search_ms:.3} ms)"
            ),
            (_, cpu_ms) => format!(
                "front-end, details, summaries and rendering take {rest_ms:.3} ms of a core a query, by their wall \
                 clock: {}",
                match cpu_ms {
                    None => "the CPU time of the server's process was not recorded",
                    Some(_) =>
                        "the process that was measured used less CPU time than the searches take",
                }
            ),
        };
        vec![search, rest]
    }
}

fn phased(sample: &Sample) -> Option<Phased<'_>> {
    let answered = sample.answer.as_ref().filter(|_| sample.ending.is_answer());
    let phases = answered.and_then(|answer: &Answer| answer.phases.as_ref())?;
    Some(Phased { sample, phases })
}

/// Returns the time of the handlers, and whether it is CPU time.
fn search_ms(phases: &PhaseTimes) -> (f64, bool) {
    match phases.search_cpu {
        Some(us) => (us as f64 / 1e3, true),
        None => {
            // Repeated fan-outs use handlers too.
            let us = phases
                .index_search
                .saturating_add(phases.optimization_searches);
            (us as f64 / 1e3, false)
        }
    }
}

fn rest_ms(phases: &PhaseTimes) -> f64 {
    let PhaseTimes {
        parse,
        merge,
        details,
        summaries,
        render,
        ..
    } = *phases;
    [parse, merge, details, summaries, render]
        .iter()
        .map(|&us| us as f64 / 1e3)
        .sum()
}

/// The process also answered the warm-up, and refused what it refused.
fn cpu_ms_per_answer(record: &RunRecord, outcome: &Outcome) -> Option<f64> {
    let answers = outcome.samples.iter().filter(|one| one.ending.is_answer());
    let cpu_ms = record.server_cpu_s? * 1e3 / answers.count() as f64;
    (cpu_ms.is_finite() && cpu_ms > 0.0).then_some(cpu_ms)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    stats::nearest_rank(&values, 0.5).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{outcome, sample};
    use crate::{Arrivals, QueryStream, Settings, Summary, Target};
    use std::time::Duration;

    /// Returns a run of three answers whose searches take `wall_us` and, where measured, `cpu_us`.
    fn run(wall_us: u64, cpu_us: [Option<u64>; 3], server_cpu_s: Option<f64>) -> Option<Demand> {
        let phases = |idx: usize| PhaseTimes {
            parse: 10,
            queueing: 500,
            index_search: wall_us,
            merge: 20,
            details: 30,
            summaries: 100,
            render: 40,
            search_cpu: cpu_us[idx],
            ..PhaseTimes::default()
        };
        let samples = (0..3).map(|idx| {
            let mut sample = sample(idx as u64 * 10, 0, 50_000);
            sample.answer = Some(Answer {
                phases: Some(phases(idx)),
                ..Answer::read(b"")
            });
            sample
        });
        let outcome = outcome(samples.collect(), Duration::from_secs(1));
        let settings = Settings::open(
            Target::parse("http://127.0.0.1:1").unwrap(),
            QueryStream::as_is(["a"]),
            Arrivals::Poisson { rate_qps: 5.0 },
            Duration::from_secs(1),
        );
        let mut record = RunRecord::of(&settings, &outcome, &Summary::of(&outcome), None);
        record.server_cpu_s = server_cpu_s;
        Demand::of(&record, &outcome)
    }

    #[test]
    fn cpu_time_comes_before_wall_clock() {
        let slow = run(42_000, [Some(1_290); 3], None).unwrap();
        let quick = run(1_290, [Some(1_290); 3], None).unwrap();
        assert_eq!(slow.searches_ms, [1.29; 3]);
        assert_eq!(
            (&slow.searches_ms, &slow.rest_ms),
            (&quick.searches_ms, &quick.rest_ms)
        );
        assert!((slow.rest_ms[0] - 0.2).abs() < 1e-12, "{:?}", slow.rest_ms);
        assert!((slow.idle_ms - (50.0 - 0.5 - 1.29 - 0.2)).abs() < 1e-9);
        assert_eq!(slow.arrivals_ms, [0.0, 10.0, 20.0]);
        assert!(slow.assumed()[1].contains("was not recorded"));
    }

    #[test]
    fn what_has_no_cpu_time_is_said() {
        let some = run(2_000, [Some(1_000), None, None], None).unwrap();
        assert_eq!(some.searches_ms, [1.0, 2.0, 2.0]);
        assert!(some.assumed()[0].contains("1 of 3"), "{:?}", some.assumed());
        let none = run(2_000, [None; 3], None).unwrap();
        assert!(
            none.assumed()[0].contains("trace=1"),
            "{:?}",
            none.assumed()
        );
    }

    #[test]
    fn search_and_rest_take_the_time_of_the_process() {
        // 6 ms for three answers: 2 ms each, of which 1.29 are searches.
        let whole = run(42_000, [Some(1_290); 3], Some(0.006)).unwrap();
        let each_ms = whole.searches_ms[0] + whole.rest_ms[0];
        assert!((each_ms - 2.0).abs() < 1e-12, "{each_ms}");
        assert!(whole.is_scaled);
        // Without CPU times of searches their wall clock shrinks with the rest, in proportion.
        let unknown = run(42_000, [None; 3], Some(0.006)).unwrap();
        let sum_ms = unknown.searches_ms[0] + unknown.rest_ms[0];
        assert!((sum_ms - 2.0).abs() < 1e-12, "{sum_ms}");
        assert!((unknown.searches_ms[0] / unknown.rest_ms[0] - 210.0).abs() < 1e-9);
        // A process that used more than all phases: the searches stay what they were.
        let beyond = run(1_000, [None; 3], Some(0.006)).unwrap();
        assert_eq!(beyond.searches_ms, [1.0; 3]);
        assert!((beyond.rest_ms[0] - 1.0).abs() < 1e-12);
        // The process of a front-end used less than its searches report.
        let front_end = run(42_000, [Some(1_290); 3], Some(0.003)).unwrap();
        assert!(!front_end.is_scaled);
        assert!((front_end.rest_ms[0] - 0.2).abs() < 1e-12);
        assert!(front_end.assumed()[1].contains("less CPU time"));
    }
}
