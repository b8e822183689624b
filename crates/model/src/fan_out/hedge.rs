//! Gain and extra load of hedged requests.
//!
//! A hedged request goes to one replica and, after a delay without an answer, also to a second one; the
//! first answer counts (Dean & Barroso 2013). Second requests add load and lengthen the very queues
//! that they try to avoid; only the simulation includes this effect.

use super::FanOut;
use super::simulated::Works;
use super::slices::Slices;
use crate::error::{ModelError, not_negative, servers};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns the share of hedged requests that take longer than `time_ms`, for replicas that answer
/// independently and without the effect of the extra load: S(t) before the delay d, S(t)·S(t − d) after
/// it. `exceeds(t)` is S, the share of plain requests longer than t. The extra load is S(d).
pub fn hedged_exceeds(time_ms: f64, delay_ms: f64, exceeds: impl Fn(f64) -> f64) -> f64 {
    if time_ms < delay_ms {
        exceeds(time_ms)
    } else {
        exceeds(time_ms) * exceeds(time_ms - delay_ms)
    }
}

/// Result of a simulated fan-out with hedged requests.
#[derive(Debug, Clone, PartialEq)]
pub struct HedgedLeaf {
    /// Response time of the slowest server for each query, ascending, in ms.
    pub slowest_ms: Vec<f64>,
    /// Response times of a single server, ascending, in ms.
    pub of_one_ms: Vec<f64>,
    /// Number of second requests over the number of first requests.
    pub extra_requests: f64,
    /// Work of started second requests over the work of first requests.
    pub extra_work: f64,
}

/// Simulates a fan-out in which every slice of the documents is held by two replicas of `fan_out.cores`
/// cores each. First requests alternate between the replicas. The second request follows after
/// `delay_ms`; `None` disables hedging. A queued request is cancelled once its twin has answered; a
/// running one is finished.
///
/// # Errors
/// [`ModelError`] if a setting is out of range.
pub fn simulate_hedged(fan_out: &FanOut, delay_ms: Option<f64>) -> Result<HedgedLeaf, ModelError> {
    let count = servers("the number of servers", fan_out.servers)?;
    servers("the number of cores", fan_out.cores)?;
    if let Some(delay_ms) = delay_ms {
        not_negative("the delay of hedged requests (ms)", delay_ms)?;
    }
    if fan_out.times.parts() != 1 {
        return Err(ModelError::Conflict(
            "hedged requests are simulated for servers with one partition",
        ));
    }
    let (mut streams, arrivals_ms) = fan_out.arrivals_ms()?;
    let mut works = Works::of(fan_out, &mut streams)?;
    let is_alike = matches!(fan_out.slices, Slices::Alike { .. });
    let mut slowest_ms = vec![0.0f64; fan_out.queries];
    let mut of_one_ms = Vec::new();
    let mut sums = Sums::default();
    for leaf in 0..count {
        let mut pair = Pair::new(&arrivals_ms, fan_out.cores, delay_ms);
        // Both replicas of a slice hold the same documents, so alike queries take as long on either.
        let mut of_slice_ms = vec![f64::NAN; if is_alike { fan_out.queries } else { 0 }];
        pair.run(|query| {
            let mut part_ms = [0.0];
            if let Some(&known_ms) = of_slice_ms.get(query).filter(|ms| !ms.is_nan()) {
                return known_ms;
            }
            works.fill(query, &mut streams, &mut part_ms);
            if let Some(kept_ms) = of_slice_ms.get_mut(query) {
                *kept_ms = part_ms[0];
            }
            part_ms[0]
        });
        for (slowest, response) in slowest_ms.iter_mut().zip(&pair.responses_ms) {
            *slowest = slowest.max(*response);
        }
        sums.add(&pair.sums);
        if leaf == 0 {
            of_one_ms = pair.responses_ms.split_off(fan_out.warm_up);
        }
    }
    let mut slowest_ms = slowest_ms.split_off(fan_out.warm_up);
    slowest_ms.sort_unstable_by(f64::total_cmp);
    of_one_ms.sort_unstable_by(f64::total_cmp);
    Ok(HedgedLeaf {
        slowest_ms,
        of_one_ms,
        extra_requests: sums.seconds as f64 / sums.firsts as f64,
        extra_work: sums.second_work_ms / sums.first_work_ms,
    })
}

#[derive(Debug, Default)]
struct Sums {
    firsts: u64,
    seconds: u64,
    first_work_ms: f64,
    second_work_ms: f64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.firsts += other.firsts;
        self.seconds += other.seconds;
        self.first_work_ms += other.first_work_ms;
        self.second_work_ms += other.second_work_ms;
    }
}

/// A request in a queue or on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    query: usize,
    second: bool,
}

/// A finite instant with a total order.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Instant(f64);

impl Eq for Instant {}

impl Ord for Instant {
    fn cmp(&self, other: &Instant) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Instant) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Two replicas of one slice of the documents.
struct Pair<'a> {
    arrivals_ms: &'a [f64],
    delay_ms: Option<f64>,
    idle: [usize; 2],
    queues: [std::collections::VecDeque<Request>; 2],
    /// Completion times of running requests, with their replica.
    ends: BinaryHeap<Reverse<(Instant, usize, Request)>>,
    /// Response time of each query, NaN until it is answered.
    responses_ms: Vec<f64>,
    sums: Sums,
}

impl Pair<'_> {
    fn new(arrivals_ms: &[f64], cores: usize, delay_ms: Option<f64>) -> Pair<'_> {
        Pair {
            arrivals_ms,
            delay_ms,
            idle: [cores; 2],
            queues: Default::default(),
            ends: BinaryHeap::new(),
            responses_ms: vec![f64::NAN; arrivals_ms.len()],
            sums: Sums::default(),
        }
    }

    /// Runs all queries until every core is idle. `draw_ms` returns the search time of a
    /// request for a query, in ms.
    fn run(&mut self, mut draw_ms: impl FnMut(usize) -> f64) {
        // All hedging delays are equal, so second requests leave in the order of the first ones.
        let (mut first, mut second) = (0, 0);
        let count = self.arrivals_ms.len();
        loop {
            let instant = |idx: usize| self.arrivals_ms.get(idx).copied().unwrap_or(f64::INFINITY);
            let first_ms = instant(first);
            let second_ms = self
                .delay_ms
                .map_or(f64::INFINITY, |delay_ms| instant(second) + delay_ms);
            let end_ms = self
                .ends
                .peek()
                .map_or(f64::INFINITY, |Reverse((at, ..))| at.0);
            if end_ms <= first_ms && end_ms <= second_ms {
                let Some(Reverse((Instant(now_ms), replica, request))) = self.ends.pop() else {
                    return;
                };
                let response_ms = now_ms - self.arrivals_ms[request.query];
                let kept = &mut self.responses_ms[request.query];
                *kept = kept.min(response_ms);
                self.idle[replica] += 1;
                self.begin(replica, now_ms, &mut draw_ms);
            } else if first_ms <= second_ms {
                self.sums.firsts += 1;
                let request = Request {
                    query: first,
                    second: false,
                };
                self.queues[first % 2].push_back(request);
                self.begin(first % 2, first_ms, &mut draw_ms);
                first += 1;
            } else {
                if self.responses_ms[second].is_nan() {
                    self.sums.seconds += 1;
                    let request = Request {
                        query: second,
                        second: true,
                    };
                    self.queues[(second + 1) % 2].push_back(request);
                    self.begin((second + 1) % 2, second_ms, &mut draw_ms);
                }
                second += 1;
                debug_assert!(second <= count);
            }
        }
    }

    fn begin(&mut self, replica: usize, now_ms: f64, draw_ms: &mut impl FnMut(usize) -> f64) {
        while self.idle[replica] > 0 {
            let Some(request) = self.queues[replica].pop_front() else {
                return;
            };
            if !self.responses_ms[request.query].is_nan() {
                continue;
            }
            let work_ms = draw_ms(request.query);
            if request.second {
                self.sums.second_work_ms += work_ms;
            } else {
                self.sums.first_work_ms += work_ms;
            }
            self.idle[replica] -= 1;
            self.ends
                .push(Reverse((Instant(now_ms + work_ms), replica, request)));
        }
    }
}
