//! Agreement of simulated waits with exact results.

use crate::support::{CONFIDENCE, RUNS, drawn, exponential, fifo, holds, poisson, ran, replicated};
use model::formulas::fork_join::fork_join;
use model::formulas::{Dmc, Mmc, constant_service, erlang_b};
use model::simulate::assignment::Fifo;
use model::simulate::{
    Arrivals, Distribution, Layout, Machine, NextCore, Settings, Split, replicate,
};

#[test]
fn equal_queues_of_mmc() {
    for (service_ms, cores) in [(50.0, 8), (75.0, 16), (25.0, 4), (37.5, 8)] {
        for rate in [80.0, 120.0] {
            let settings = Settings::new(
                Machine::of_cores(cores),
                poisson(rate),
                exponential(service_ms),
                40_000,
            );
            let [response, wait, found] = replicated(&settings, &fifo(1));
            let exact = Mmc::new(rate, 1e3 / service_ms, cores).unwrap();
            holds(response, exact.response_ms());
            holds(wait, exact.wait_ms());
            holds(found, exact.p_wait());
        }
    }
}

#[test]
fn percentiles_of_mmc() {
    let settings = Settings::new(
        Machine::of_cores(8),
        poisson(120.0),
        exponential(50.0),
        40_000,
    );
    let exact = Mmc::new(120.0, 20.0, 8).unwrap();
    let shares = [0.5, 0.9, 0.99];
    let estimates = replicate(50, RUNS, |seed| {
        let report = ran(
            &Settings {
                seed,
                ..settings.clone()
            },
            &mut Fifo { degree: 1 },
        );
        Ok::<_, ()>(shares.map(|share| report.quantile_ms(share)))
    });
    for (estimate, share) in estimates.unwrap().into_iter().zip(shares) {
        holds(estimate, exact.response_quantile_ms(share));
    }
}

#[test]
fn other_times_and_arrivals() {
    let wait = |arrivals: Arrivals, service_ms: f64, distribution, cores: usize| {
        let times = drawn(service_ms, distribution, Split::perfect(1));
        replicated(
            &Settings::new(Machine::of_cores(cores), arrivals, times, 40_000),
            &fifo(1),
        )[1]
    };
    let constant = wait(poisson(6400.0), 1.0, Distribution::Constant, 8);
    holds(
        constant,
        constant_service::wait_ms(6400.0, 1000.0, 8).unwrap(),
    );
    let clockwork = wait(
        Arrivals::Constant { rate_per_s: 120.0 },
        50.0,
        Distribution::Exponential,
        8,
    );
    holds(clockwork, Dmc::new(120.0, 20.0, 8).unwrap().wait_ms);
    // Exact, by their Markov chains.
    holds(
        wait(poisson(120.0), 50.0, Distribution::Erlang { stages: 2 }, 8),
        6.9235,
    );
    holds(
        wait(
            poisson(120.0),
            50.0,
            Distribution::Hyperexponential { cv2: 4.0 },
            8,
        ),
        18.5029,
    );
    // Pollaczek–Khinchine.
    for cv2 in [0.5, 1.0, 2.0, 4.0] {
        holds(
            wait(poisson(500.0), 1.0, Distribution::Lognormal { cv2 }, 1),
            0.5 * (1.0 + cv2),
        );
    }
}

/// Compares means with 95 % intervals and 99th percentiles with those of another simulator, over 10
/// runs of 200,000 queries. The differences must lie within the variation of both (99.9 %).
#[test]
fn partitions_as_another_simulator_saw_them() {
    let check = |rate: f64,
                 split: fn(usize) -> Split,
                 layout: fn(usize) -> Layout,
                 rows: [(f64, f64, f64); 4]| {
        for (parts, (mean, half_width, p99)) in [1, 2, 4, 8].into_iter().zip(rows) {
            let times = drawn(50.0, Distribution::Exponential, split(parts));
            // Near saturation a queue takes long to forget its empty start.
            let queries = if rate > 140.0 { 60_000 } else { 30_000 };
            let mut settings = Settings::new(Machine::of_cores(8), poisson(rate), times, queries);
            settings.layout = layout(parts);
            settings.warm_up = queries / 5;
            let [response, ..] = replicated(&settings, &fifo(parts));
            // Its interval at 99.9 %: 4.78 over 2.26 deviations. Half a last digit may be rounding.
            let width = response.half_width(CONFIDENCE).hypot(half_width * 2.11) + 0.05;
            assert!(
                (response.mean - mean).abs() <= width,
                "{rate} {parts}: {response:?}, theirs {mean}"
            );
            let [tail] = replicate(settings.seed, RUNS, |seed| {
                let settings = Settings {
                    seed,
                    ..settings.clone()
                };
                let report = ran(&settings, &mut Fifo { degree: parts });
                Ok::<_, ()>([report.quantile_ms(0.99)])
            })
            .unwrap();
            // The other simulator gives no interval for this: it is taken as wide as ours.
            let width = 1.5 * tail.half_width(CONFIDENCE) + 0.5;
            assert!(
                (tail.mean - p99).abs() <= width,
                "{rate} {parts}: {tail:?}, theirs p99 {p99}"
            );
        }
    };
    let shared = |_| Layout::Shared;
    let pinned = |groups| Layout::Pinned { groups };
    check(
        80.0,
        Split::perfect,
        shared,
        [
            (50.7, 0.2, 231.0),
            (27.2, 0.1, 119.0),
            (16.7, 0.1, 71.0),
            (12.5, 0.1, 57.0),
        ],
    );
    check(
        80.0,
        Split::independent,
        shared,
        [
            (50.8, 0.2, 231.0),
            (38.7, 0.1, 134.0),
            (28.1, 0.1, 78.0),
            (20.1, 0.1, 49.0),
        ],
    );
    check(
        80.0,
        Split::independent,
        pinned,
        [
            (50.8, 0.2, 231.0),
            (40.1, 0.2, 136.0),
            (32.6, 0.1, 90.0),
            (30.4, 0.2, 83.0),
        ],
    );
    check(
        120.0,
        Split::perfect,
        shared,
        [
            (59.0, 0.5, 244.0),
            (37.8, 0.5, 148.0),
            (28.7, 0.5, 119.0),
            (25.1, 0.5, 113.0),
        ],
    );
    check(
        120.0,
        Split::independent,
        shared,
        [
            (59.3, 0.6, 246.0),
            (46.1, 0.3, 150.0),
            (35.2, 0.2, 100.0),
            (27.1, 0.1, 78.0),
        ],
    );
    check(
        120.0,
        Split::independent,
        pinned,
        [
            (59.3, 0.6, 246.0),
            (53.6, 0.5, 169.0),
            (52.6, 0.6, 153.0),
            (58.2, 0.6, 169.0),
        ],
    );
    check(
        150.0,
        Split::perfect,
        shared,
        [
            (131.6, 6.1, 520.0),
            (112.5, 6.2, 489.0),
            (104.2, 6.2, 480.0),
            (101.0, 6.2, 476.0),
        ],
    );
    check(
        150.0,
        Split::independent,
        shared,
        [
            (138.5, 9.9, 529.0),
            (103.1, 4.2, 382.0),
            (82.8, 3.3, 317.0),
            (70.6, 3.3, 294.0),
        ],
    );
    check(
        150.0,
        Split::independent,
        pinned,
        [
            (138.5, 9.9, 529.0),
            (156.4, 5.5, 539.0),
            (186.0, 8.5, 584.0),
            (227.3, 9.4, 704.0),
        ],
    );
}

#[test]
fn pinning_reverses_the_ranking_near_saturation() {
    let mean = |parts: usize, layout| {
        let times = drawn(50.0, Distribution::Exponential, Split::independent(parts));
        let mut settings = Settings::new(Machine::of_cores(8), poisson(150.0), times, 100_000);
        settings.layout = layout;
        ran(&settings, &mut Fifo { degree: parts }).response_ms()
    };
    assert!(mean(8, Layout::Shared) < mean(1, Layout::Shared) * 0.7);
    assert!(mean(8, Layout::Pinned { groups: 8 }) > mean(1, Layout::Shared) * 1.3);
}

#[test]
fn a_fork_and_a_join() {
    let times = |parts| {
        drawn(
            parts as f64,
            Distribution::Exponential,
            Split::independent(parts),
        )
    };
    for (rate, parts) in [(500.0, 2), (800.0, 2), (500.0, 8)] {
        let mut settings = Settings::new(
            Machine::of_cores(parts),
            poisson(rate),
            times(parts),
            60_000,
        );
        settings.layout = Layout::Pinned { groups: parts };
        let [response, ..] = replicated(&settings, &fifo(parts));
        let expected = fork_join(rate, 1000.0, parts).unwrap();
        if parts == 2 {
            holds(response, expected.response_ms);
        } else {
            assert!(
                (response.mean / expected.response_ms - 1.0).abs() < 0.05,
                "{response:?}"
            );
            assert!(
                response.mean > expected.response_ms_min
                    && response.mean < expected.response_ms_max
            );
        }
    }
}

#[test]
fn full_queues_refuse_as_erlang_says() {
    let mut settings = Settings::new(
        Machine::of_cores(8),
        poisson(200.0),
        exponential(50.0),
        40_000,
    );
    settings.queue_max = Some(0);
    let [share] = replicate(3, RUNS, |seed| {
        let report = ran(
            &Settings {
                seed,
                ..settings.clone()
            },
            &mut Fifo { degree: 1 },
        );
        Ok::<_, ()>([report.refused as f64 / report.offered as f64])
    })
    .unwrap();
    holds(share, erlang_b(8, 10.0));
    // M/M/1 with room for 3 in all: p3 = (1 − ρ)ρ³/(1 − ρ⁴).
    let mut settings = Settings::new(
        Machine::of_cores(1),
        poisson(800.0),
        exponential(1.0),
        40_000,
    );
    settings.queue_max = Some(2);
    for layout in [
        Layout::Shared,
        Layout::Gang,
        Layout::Pinned { groups: 1 },
        Layout::PerCore(NextCore::RoundRobin),
    ] {
        settings.layout = layout;
        let [share] = replicate(3, RUNS, |seed| {
            let report = ran(
                &Settings {
                    seed,
                    ..settings.clone()
                },
                &mut Fifo { degree: 1 },
            );
            Ok::<_, ()>([report.refused as f64 / report.offered as f64])
        })
        .unwrap();
        let rho: f64 = 0.8;
        holds(share, (1.0 - rho) * rho.powi(3) / (1.0 - rho.powi(4)));
    }
}
