//! Agreement of measured waits with queueing theory.
use crate::server::{self, Counter, Reply};
use crate::truth::{alone, attempts, queries, target};
use load::{Arrivals, Settings, Times};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A queue and its theoretical mean response time.
struct Queue {
    workers: usize,
    /// Offered load as a share of the workers' time.
    load: f64,
    service_ms: f64,
    /// Service time of a request, in units of the mean service time.
    service: fn(u64) -> f64,
    duration: Duration,
    seed: u64,
    /// Theoretical mean response time, in units of the mean service time.
    formula: f64,
    /// Half-width of the interval of the mean over this number of correlated samples.
    half_width: f64,
}

/// Mean response times, in units of the mean service time.
struct Means {
    /// Mean measured by the load generator.
    measured: f64,
    /// Mean by the recursion for this schedule and the requested service times.
    ideal: f64,
    /// Mean by the recursion for the actual occupation times of workers, which a busy machine
    /// lengthens.
    occupied: f64,
}

impl Queue {
    fn means(&self) -> Means {
        let counter = Counter::new(self.workers);
        let visits = Arc::new(Mutex::new(Vec::new()));
        let kept = visits.clone();
        let (service, service_ms, workers) = (self.service, self.service_ms, self.workers);
        let address = server::start(move |_| {
            let arrived = Instant::now();
            counter.serve(|number| {
                let begun = Instant::now();
                wait(
                    workers,
                    Duration::from_secs_f64(service(number) * service_ms / 1e3),
                );
                let visit = (number, arrived, begun, Instant::now());
                kept.lock().unwrap().push(visit);
            });
            Reply::ok("{}")
        });
        let rate_qps = self.load * workers as f64 * 1e3 / service_ms;
        let arrivals = Arrivals::Poisson { rate_qps };
        let mut settings = Settings::open(target(address), queries(), arrivals, self.duration);
        settings.warm_up = Duration::from_millis(500);
        settings.seed = self.seed;
        let outcome = load::run(&settings).unwrap();
        let is_answer = |sample: &load::Sample| sample.ending.is_answer();
        assert!(outcome.samples.iter().all(is_answer));
        let response = Times::of_ns(outcome.measured().filter_map(|sample| sample.response_ns()));

        let mut visits = visits.lock().unwrap();
        visits.sort_by_key(|(number, ..)| *number);
        let mut before: Option<Instant> = None;
        let occupied = visits.iter().map(|&(_, arrived, begun, departed)| {
            // A single worker is also occupied while the next queued request wakes up; with several, another may
            // be free.
            let begun = match (workers, before) {
                (1, Some(before)) => before.max(arrived),
                _ => begun,
            };
            before = Some(departed);
            (departed - begun).as_secs_f64() * 1e3 / service_ms
        });
        Means {
            measured: response.mean_us().unwrap() / service_ms / 1e3,
            occupied: self.recursion(&outcome, occupied),
            ideal: self.recursion(&outcome, (0..).map(service)),
        }
    }

    /// Returns the mean response time of the measured requests under service in order of arrival by the
    /// first free worker (Kiefer and Wolfowitz; with one worker Lindley's recursion).
    fn recursion(&self, outcome: &load::Outcome, services: impl Iterator<Item = f64>) -> f64 {
        // Whole nanoseconds of a unit, because a heap needs a total order.
        let mut free_at: BinaryHeap<Reverse<u64>> = (0..self.workers).map(|_| Reverse(0)).collect();
        let mut sum = 0.0;
        for (sample, service) in outcome.samples.iter().zip(services) {
            let arrival = sample.intended_ns;
            let service_ns = (service * self.service_ms * 1e6) as u64;
            let Reverse(free) = free_at.pop().unwrap();
            let done = free.max(arrival) + service_ns;
            free_at.push(Reverse(done));
            sum += if sample.warm_up {
                0.0
            } else {
                (done - arrival) as f64
            };
        }
        sum / outcome.measured().count() as f64 / self.service_ms / 1e6
    }

    fn check(&self) {
        let _alone = alone();
        attempts(|| {
            let Means {
                measured,
                ideal,
                occupied,
            } = self.means();
            let formula = self.formula;
            assert!(
                (ideal - formula).abs() < self.half_width,
                "{ideal} for this schedule, {formula} in the mean"
            );
            // No wait may be hidden, however busy the machine is.
            assert!(
                measured > ideal * 0.98,
                "{measured} measured, {ideal} at least"
            );
            assert!(
                measured > occupied * 0.98,
                "{measured} measured, {occupied} at the workers"
            );
            // Threads wait for a core on the way to the server and back; nothing else may add time.
            let is_near = measured < occupied * 1.05 + 4.0 / self.service_ms;
            is_near
                .then_some(())
                .ok_or(format!("{measured} measured, {occupied} at the workers"))
        });
    }
}

/// Waits for a service time. A single worker spins at the end, because the overshoot of a sleep would
/// change its known distribution. Several workers cannot all spin on two cores: they sleep, and
/// `occupied` includes the overshoot.
fn wait(workers: usize, duration: Duration) {
    let busy = match workers {
        1 => Duration::from_millis(1),
        _ => Duration::ZERO,
    };
    let end = Instant::now() + duration;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        match left > busy {
            true => std::thread::sleep(left - busy),
            false => std::hint::spin_loop(),
        }
    }
}

/// Returns the service time of a request by SplitMix64, the same in the server and in the recursion.
fn exponential(number: u64) -> f64 {
    let mut bits = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let uniform = ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
    -(1.0 - uniform).ln()
}

const ONE_WORKER: Queue = Queue {
    workers: 1,
    load: 0.5,
    service_ms: 8.0,
    service: |_| 1.0,
    duration: Duration::from_secs(6),
    seed: 11,
    formula: 1.5,
    half_width: 0.3,
};

/// Checks M/D/1 at ρ = 0.5: W = 1.5 S (Pollaczek and Khinchine).
#[test]
fn constant_service_waits_as_the_formula_says() {
    ONE_WORKER.check();
}

/// Checks M/M/1 at ρ = 0.5: W = 2 S. The half-width is that of 375 correlated samples.
#[test]
fn exponential_service_waits_as_the_formula_says() {
    let exponential = Queue {
        service: exponential,
        formula: 2.0,
        half_width: 0.7,
        ..ONE_WORKER
    };
    exponential.check();
}

const EIGHT_WORKERS: Queue = Queue {
    workers: 8,
    load: 0.5,
    service_ms: 24.0,
    service: exponential,
    duration: Duration::from_secs(8),
    seed: 5,
    formula: 1.014_760_998_7,
    half_width: 0.06,
};

/// Checks M/M/8 at ρ = 0.5, where few requests wait: W = 1.0148 S by Erlang's formula C. The half-width
/// is that of 1,300 exponential services.
#[test]
fn eight_workers_at_half_load_wait_as_erlang_says() {
    EIGHT_WORKERS.check();
}

/// Checks M/M/8 at ρ = 0.75: W = 1.1785 S. Waits are correlated, so the half-width of 2,000 samples is
/// wider.
#[test]
fn eight_workers_at_three_quarters_wait_as_erlang_says() {
    let busier = Queue {
        load: 0.75,
        formula: 1.178_490_542_9,
        half_width: 0.13,
        ..EIGHT_WORKERS
    };
    busier.check();
}
