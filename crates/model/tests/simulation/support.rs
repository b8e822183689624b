//! Shared checks and helpers of the simulation tests.

use model::simulate::assignment::{Assignment, Fifo};
use model::simulate::recursion::{Cores, Sharing};
use model::simulate::{
    Arrivals, Distribution, Estimate, Layout, Machine, Order, Report, Searches, Settings, Split,
    Times, replicate, run,
};

pub(crate) const CONFIDENCE: f64 = 0.999;
pub(crate) const RUNS: usize = 20;

pub(crate) fn poisson(rate_per_s: f64) -> Arrivals {
    Arrivals::Poisson { rate_per_s }
}

pub(crate) fn drawn(mean_ms: f64, distribution: Distribution, split: Split) -> Times {
    Times::Drawn {
        mean_ms,
        distribution,
        split,
    }
}

pub(crate) fn exponential(mean_ms: f64) -> Times {
    drawn(mean_ms, Distribution::Exponential, Split::perfect(1))
}

/// Runs and checks the invariants of every run: all queries are accounted for, and the area under the
/// number in the system equals the time that queries spent in it.
pub(crate) fn ran(settings: &Settings, policy: &mut impl Assignment) -> Report {
    let report = run(settings, policy).unwrap();
    let counted = report.answered() + report.refused + report.expired;
    assert_eq!(report.offered, counted, "every query ends in one way");
    assert_eq!(report.offered, (settings.queries - settings.warm_up) as u64);
    let ratio = report.system_area_ms / report.system_time_ms;
    assert!(
        (ratio - 1.0).abs() < 1e-6,
        "Little's law over the whole run: {ratio}"
    );
    assert!(report.responses_ms.is_sorted());
    assert!(
        report
            .core_busy_ms
            .iter()
            .all(|&busy| busy <= report.duration_ms * (1.0 + 1e-9))
    );
    report
}

/// Replicates with other seeds: mean response, mean wait, share of arrivals that find all busy, the
/// corresponding share of time, L and λW. Checks Little's law and PASTA; returns the first three.
pub(crate) fn replicated(settings: &Settings, policy: &impl Fn() -> Fifo) -> [Estimate; 3] {
    let [response, wait, found, busy, in_system, by_littles_law] =
        replicate(settings.seed, RUNS, |seed| {
            let report = ran(
                &Settings {
                    seed,
                    ..settings.clone()
                },
                &mut policy(),
            );
            let answered_per_ms =
                report.rate_per_s / 1e3 * report.answered() as f64 / report.offered as f64;
            Ok::<_, ()>([
                report.response_ms(),
                report.wait_ms,
                report.arrivals_finding_all_busy,
                report.time_all_busy,
                report.in_system,
                answered_per_ms * (report.response_ms() - settings.fixed_ms),
            ])
        })
        .unwrap();
    let near = |a: Estimate, b: Estimate| {
        let width = a.half_width(CONFIDENCE).hypot(b.half_width(CONFIDENCE));
        (a.mean - b.mean).abs() <= width + 1e-9
    };
    assert!(
        near(in_system, by_littles_law),
        "Little: {in_system:?} {by_littles_law:?}"
    );
    if matches!(settings.arrivals, Arrivals::Poisson { .. }) {
        assert!(near(found, busy), "PASTA: {found:?} {busy:?}");
    }
    [response, wait, found]
}

pub(crate) fn fifo(degree: usize) -> impl Fn() -> Fifo {
    move || Fifo { degree }
}

#[track_caller]
pub(crate) fn holds(estimate: Estimate, exact: f64) {
    assert!(
        estimate.holds(exact, CONFIDENCE),
        "{exact} is not within {:.4} ± {:.4}",
        estimate.mean,
        estimate.half_width(CONFIDENCE)
    );
}

/// Returns the response times in order of arrival, of the engine and of its twin.
pub(crate) fn both(
    cores: usize,
    layout: Layout,
    sharing: Sharing,
    times: Times,
    rate_per_s: f64,
) -> (Vec<f64>, Vec<f64>) {
    let parts = times.parts();
    let searches: Vec<Vec<f64>> = rows_of(&times, 5_000);
    let arrivals: Vec<f64> = instants(rate_per_s, 5_000);
    let mut settings = Settings::new(
        Machine::of_cores(cores),
        Arrivals::Trace(arrivals.clone()),
        Times::Measured {
            searches: Searches::new(searches.clone()).unwrap(),
            order: Order::AsMeasured,
        },
        5_000,
    );
    settings.layout = layout;
    settings.keep_order = true;
    let engine = ran(&settings, &mut Fifo { degree: parts }).in_order_ms;
    let mut twin = Cores::new(cores, sharing);
    let plain = arrivals
        .iter()
        .zip(&searches)
        .map(|(&at, parts)| twin.respond_ms(at, parts));
    (engine, plain.collect())
}

/// Returns the part times that a run would draw, observed on a machine that is never busy.
pub(crate) fn rows_of(times: &Times, queries: usize) -> Vec<Vec<f64>> {
    let mut state = 99u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        -((((state >> 11) as f64) + 1.0) / (1u64 << 53) as f64).ln()
    };
    let Times::Drawn { mean_ms, split, .. } = times else {
        panic!("drawn times only")
    };
    let part_ms = mean_ms / split.speed_up;
    let row = |_| {
        let whole = part_ms * next();
        (0..split.parts)
            .map(|part| {
                if split.independent && part > 0 {
                    part_ms * next()
                } else {
                    whole
                }
            })
            .collect()
    };
    (0..queries).map(row).collect()
}

pub(crate) fn instants(rate_per_s: f64, queries: usize) -> Vec<f64> {
    let mut at = 0.0;
    let gaps = rows_of(&exponential(1e3 / rate_per_s), queries + 7);
    gaps[7..]
        .iter()
        .map(|gap| {
            at += gap[0];
            at
        })
        .collect()
}
