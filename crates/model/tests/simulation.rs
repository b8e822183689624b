//! Does the simulator agree with its twin query by query, and with exact results within its own error?
//!
//! Every run here is held to Little's law and to PASTA (arrivals see time averages) as well.

use model::energy::{CorePower, estimate};
use model::formulas::fork_join::fork_join;
use model::formulas::{Dmc, Mmc, constant_service, erlang_b};
use model::simulate::recursion::{Cores, Sharing};
use model::simulate::{
    Arrivals, Core, Distribution, Disturbances, Estimate, Layout, Machine, NextCore, Order, Report,
    Searches, Settings, Split, Times, replicate, run, summarise,
};
use schedule::policy::{Fifo, Idle, IdleShare, Load, Policy, Query, Running, Swap};

const CONFIDENCE: f64 = 0.999;
const RUNS: usize = 20;

fn poisson(rate_per_s: f64) -> Arrivals {
    Arrivals::Poisson { rate_per_s }
}

fn drawn(mean_ms: f64, distribution: Distribution, split: Split) -> Times {
    Times::Drawn {
        mean_ms,
        distribution,
        split,
    }
}

fn exponential(mean_ms: f64) -> Times {
    drawn(mean_ms, Distribution::Exponential, Split::perfect(1))
}

/// Runs and checks what holds for every run: all queries are accounted for, and the area under the
/// number in the system is the time that queries spent in it.
fn ran(settings: &Settings, policy: &mut impl Policy) -> Report {
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

/// Replications with other seeds: of the mean response, the mean wait, the share that finds all busy,
/// that share of time, L and λW. Little's law and PASTA are checked; the first three are returned.
fn replicated(settings: &Settings, policy: &impl Fn() -> Fifo) -> [Estimate; 3] {
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

fn fifo(degree: usize) -> impl Fn() -> Fifo {
    move || Fifo { degree }
}

#[track_caller]
fn holds(estimate: Estimate, exact: f64) {
    assert!(
        estimate.holds(exact, CONFIDENCE),
        "{exact} is not within {:.4} ± {:.4}",
        estimate.mean,
        estimate.half_width(CONFIDENCE)
    );
}

/// Response times in order of arrival, of the engine and of its twin.
fn both(
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

/// Part times as a run would draw them, seen through a machine that is never busy.
fn rows_of(times: &Times, queries: usize) -> Vec<Vec<f64>> {
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

fn instants(rate_per_s: f64, queries: usize) -> Vec<f64> {
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

#[test]
fn the_engine_equals_its_twin_query_by_query() {
    let mut compared = 0;
    for (cores, parts) in [
        (1, 1),
        (8, 1),
        (8, 2),
        (8, 4),
        (8, 8),
        (3, 3),
        (4, 8),
        (70, 7),
    ] {
        for split in [Split::perfect(parts), Split::independent(parts)] {
            let mut layouts = vec![(Layout::Shared, Sharing::Shared)];
            if parts <= cores {
                layouts.push((Layout::Gang, Sharing::Gang));
                let groups = parts;
                if cores % groups == 0 {
                    layouts.push((Layout::Pinned { groups }, Sharing::Pinned { groups }));
                }
            }
            for (layout, sharing) in layouts {
                let times = drawn(50.0, Distribution::Exponential, split);
                let (engine, twin) = both(cores, layout, sharing, times, 18.0 * cores as f64);
                for (idx, (a, b)) in engine.iter().zip(&twin).enumerate() {
                    let near = (a - b).abs() <= 1e-6 * (1.0 + b);
                    assert!(
                        near,
                        "{cores} cores, {split:?}, {layout:?}, query {idx}: {a} {b}"
                    );
                }
                compared += engine.len();
            }
        }
    }
    assert_eq!(compared, 44 * 5_000);
}

#[test]
fn equal_parts_make_all_layouts_the_same() {
    for rate in [80.0, 120.0, 150.0] {
        for parts in [1, 2, 4, 8] {
            let times = drawn(50.0, Distribution::Exponential, Split::perfect(parts));
            let mut settings = Settings::new(Machine::of_cores(8), poisson(rate), times, 20_000);
            settings.keep_order = true;
            let mut of = |layout| {
                settings.layout = layout;
                ran(&settings, &mut Fifo { degree: parts }).in_order_ms
            };
            let shared = of(Layout::Shared);
            assert_eq!(shared, of(Layout::Gang), "{rate} {parts}");
            assert_eq!(
                shared,
                of(Layout::Pinned { groups: parts }),
                "{rate} {parts}"
            );
        }
    }
}

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

/// Means and 95 % intervals that a simulator of other make gave, of 10 runs of 200,000 queries.
#[test]
fn partitions_as_another_simulator_saw_them() {
    let check = |rate: f64,
                 split: fn(usize) -> Split,
                 layout: fn(usize) -> Layout,
                 rows: [(f64, f64); 4]| {
        for (parts, (mean, half_width)) in [1, 2, 4, 8].into_iter().zip(rows) {
            let times = drawn(50.0, Distribution::Exponential, split(parts));
            let mut settings = Settings::new(Machine::of_cores(8), poisson(rate), times, 30_000);
            settings.layout = layout(parts);
            let [response, ..] = replicated(&settings, &fifo(parts));
            // Theirs at 99.9 %: 4.78 over 2.26 deviations. Half a last digit may be rounding.
            let width = response.half_width(CONFIDENCE).hypot(half_width * 2.11) + 0.05;
            assert!(
                (response.mean - mean).abs() <= width,
                "{rate} {parts}: {response:?}, theirs {mean}"
            );
        }
    };
    let shared = |_| Layout::Shared;
    let pinned = |groups| Layout::Pinned { groups };
    check(
        80.0,
        Split::perfect,
        shared,
        [(50.7, 0.2), (27.2, 0.1), (16.7, 0.1), (12.5, 0.1)],
    );
    check(
        80.0,
        Split::independent,
        shared,
        [(50.8, 0.2), (38.7, 0.1), (28.1, 0.1), (20.1, 0.1)],
    );
    check(
        80.0,
        Split::independent,
        pinned,
        [(50.8, 0.2), (40.1, 0.2), (32.6, 0.1), (30.4, 0.2)],
    );
    check(
        120.0,
        Split::perfect,
        shared,
        [(59.0, 0.5), (37.8, 0.5), (28.7, 0.5), (25.1, 0.5)],
    );
    check(
        120.0,
        Split::independent,
        shared,
        [(59.3, 0.6), (46.1, 0.3), (35.2, 0.2), (27.1, 0.1)],
    );
    check(
        120.0,
        Split::independent,
        pinned,
        [(59.3, 0.6), (53.6, 0.5), (52.6, 0.6), (58.2, 0.6)],
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

#[test]
fn cores_with_queues_of_their_own() {
    let settings = |layout| {
        let mut settings = Settings::new(
            Machine::of_cores(4),
            poisson(60.0),
            exponential(50.0),
            40_000,
        );
        settings.layout = layout;
        settings
    };
    // Random splitting of a Poisson stream gives 4 queues M/M/1.
    let [random, ..] = replicated(&settings(Layout::PerCore(NextCore::Random)), &fifo(1));
    holds(random, Mmc::new(15.0, 20.0, 1).unwrap().response_ms());
    let mean = |layout| ran(&settings(layout), &mut Fifo { degree: 1 }).response_ms();
    let in_turn = mean(Layout::PerCore(NextCore::RoundRobin));
    let shortest = mean(Layout::PerCore(NextCore::Shortest));
    assert!(random.mean > in_turn && in_turn > shortest && shortest > mean(Layout::Shared));
}

/// Mean number in a queue whose cores together serve `service[n]` at n queries, by birth and death.
fn birth_and_death(rate: f64, service: impl Fn(usize) -> f64) -> f64 {
    let (mut weight, mut sum, mut mean) = (1.0, 1.0, 0.0);
    for number in 1..2_000 {
        weight *= rate / service(number);
        sum += weight;
        mean += weight * number as f64;
    }
    mean / sum
}

#[test]
fn siblings_and_neighbours_slow_each_other() {
    let check = |machine: Machine, both: f64| {
        let mut settings = Settings::new(machine, poisson(20.0), exponential(50.0), 40_000);
        settings.layout = Layout::Shared;
        let [response, ..] = replicated(&settings, &fifo(1));
        let in_system = birth_and_death(20.0, |n| if n == 1 { 20.0 } else { both });
        holds(response, 1e3 * in_system / 20.0);
    };
    check(Machine::of_smt_cores(1, 1.5), 2.0 * 20.0 / 1.5);
    check(
        Machine {
            contention: 0.4,
            ..Machine::of_cores(2)
        },
        2.0 * 20.0 / 1.4,
    );
    // Siblings are used last: two queries on two cores do not meet.
    let mut settings = Settings::new(
        Machine::of_smt_cores(2, 1.5),
        Arrivals::Trace(vec![1.0, 1.0, 100.0]),
        drawn(10.0, Distribution::Constant, Split::perfect(1)),
        2,
    );
    settings.keep_order = true;
    assert_eq!(
        ran(&settings, &mut Fifo { degree: 1 }).in_order_ms,
        [10.0, 10.0]
    );
}

#[test]
fn a_sibling_slows_from_when_it_begins_until_it_ends() {
    // 10 ms of work at 0 and at 4 ms on two contexts, slower by 2 together: the first has 6 ms left at
    // 4 ms, which take until 16; by then the second has done 6, and does the last 4 by itself: 20.
    let mut settings = Settings::new(
        Machine::of_smt_cores(1, 2.0),
        Arrivals::Trace(vec![1.0, 5.0]),
        drawn(10.0, Distribution::Constant, Split::perfect(1)),
        2,
    );
    settings.keep_order = true;
    settings.warm_up = 0;
    assert_eq!(
        ran(&settings, &mut Fifo { degree: 1 }).in_order_ms,
        [16.0, 16.0]
    );
}

#[test]
fn big_and_little_cores() {
    // One big core of 20/s and a little of 10/s, M/M/2, the big one first: by its Markov chain.
    let (rate, big, little) = (12.0, 20.0, 10.0);
    let exact = two_unequal(rate, big, little);
    let times = exponential(1e3 / big);
    let machine = Machine::of_big_and_little(1, 1, little / big);
    let [response, ..] = replicated(
        &Settings::new(machine, poisson(rate), times, 40_000),
        &fifo(1),
    );
    holds(response, 1e3 * exact / rate);
}

/// Mean number in M/M/2 with a fast server that is taken first. Gaussian elimination by hand of the
/// balance equations of (empty, fast alone, slow alone, two or more).
fn two_unequal(rate: f64, fast: f64, slow: f64) -> f64 {
    // Unknown p_f, p_s, p_2 relative to p_0 = 1:
    //   fast·p_f + slow·p_s = rate
    //   (rate + slow)·p_s = fast·p_2
    //   (fast + slow)·p_2 = rate·(p_f + p_s)       cut between 1 and 2
    let p_f_of = |p_s: f64| (rate - slow * p_s) / fast;
    let p_2_of = |p_s: f64| (rate + slow) * p_s / fast;
    // (fast + slow)·p_2(p_s) − rate·(p_f(p_s) + p_s) is linear in p_s.
    let off = |p_s: f64| (fast + slow) * p_2_of(p_s) - rate * (p_f_of(p_s) + p_s);
    let p_s = -off(0.0) / (off(1.0) - off(0.0));
    let (p_f, p_2) = (p_f_of(p_s), p_2_of(p_s));
    let rho = rate / (fast + slow);
    // From 2 on it is geometric: Σ p_2 ρ^k and Σ (2 + k) p_2 ρ^k.
    let sum = 1.0 + p_f + p_s + p_2 / (1.0 - rho);
    let mean = p_f + p_s + p_2 * (2.0 / (1.0 - rho) + rho / (1.0 - rho).powi(2));
    mean / sum
}

#[test]
fn deadlines_drop_what_has_not_begun() {
    let times = drawn(50.0, Distribution::Exponential, Split::independent(2));
    let mut settings = Settings::new(Machine::of_cores(4), poisson(90.0), times, 40_000);
    settings.deadline_ms = Some(100.0);
    for layout in [
        Layout::Shared,
        Layout::Pinned { groups: 2 },
        Layout::Gang,
        Layout::PerCore(NextCore::Shortest),
    ] {
        settings.layout = layout;
        let report = ran(&settings, &mut Fifo { degree: 2 });
        assert!(report.expired > 0, "{layout:?}");
        let overload = 90.0 * 50.0 / 4e3;
        let answered = report.answered() as f64 / report.offered as f64;
        assert!(
            answered > 0.5 && answered < 1.0 / overload + 0.35,
            "{layout:?} {answered}"
        );
        // Work that began within the deadline takes a part's time at most: rarely 10 times the mean.
        assert!(
            report.quantile_ms(0.99) < 100.0 + 250.0,
            "{layout:?} {}",
            report.quantile_ms(0.99)
        );
        if layout == (Layout::Pinned { groups: 2 }) {
            assert!(report.partial > 0);
        }
    }
    settings.deadline_ms = Some(1e9);
    settings.arrivals = poisson(60.0);
    let without = ran(
        &Settings {
            deadline_ms: None,
            ..settings.clone()
        },
        &mut Fifo { degree: 2 },
    );
    assert_eq!(ran(&settings, &mut Fifo { degree: 2 }), without);
}

#[test]
fn disturbances_cost_what_they_take() {
    let settings = |slowdown| {
        let mut machine = Machine::of_cores(2);
        machine.disturbances = Some(Disturbances {
            per_core_per_s: 0.02,
            length_ms: 5_000.0,
            slowdown,
        });
        let mut settings = Settings::new(machine, poisson(1.0), exponential(10.0), 100_000);
        settings.keep_order = true;
        settings
    };
    let none = Settings {
        machine: Machine::of_cores(2),
        ..settings(1.0)
    };
    let plain = ran(&none, &mut Fifo { degree: 1 }).in_order_ms;
    let unfelt = ran(&settings(1.0), &mut Fifo { degree: 1 }).in_order_ms;
    assert!(
        plain
            .iter()
            .zip(&unfelt)
            .all(|(a, b)| (a - b).abs() < 1e-6 * (1.0 + a))
    );
    // A core is disturbed for about 0.02 · 5 s of the time (a little less, as they overlap), and while
    // it is, searches take 3 times as long.
    let ratio = ran(&settings(3.0), &mut Fifo { degree: 1 }).response_ms() / 10.0;
    assert!((1.13..1.23).contains(&ratio), "{ratio}");
}

/// Takes the big core whenever something has run for long on a little one.
struct Hurry;

impl Policy for Hurry {
    fn degree(&mut self, _query: &Query, _load: &Load) -> usize {
        1
    }
    fn handler(&mut self, _query: &Query, idle: Idle<'_>) -> Option<usize> {
        idle.iter().last()
    }
    fn sampling_ms(&self) -> Option<f64> {
        Some(25.0)
    }
    fn remap(&mut self, handlers: &[Running], swaps: &mut Vec<Swap>) {
        let elapsed = |core: usize| handlers[core].elapsed_ms.unwrap_or(-1.0);
        let oldest = (1..handlers.len())
            .max_by(|&a, &b| elapsed(a).total_cmp(&elapsed(b)))
            .unwrap();
        if elapsed(oldest) > 50.0 && elapsed(0) < elapsed(oldest) {
            swaps.push(Swap {
                from: oldest,
                to: 0,
            });
        }
    }
}

/// The same without moving.
struct Stay;

impl Policy for Stay {
    fn degree(&mut self, _query: &Query, _load: &Load) -> usize {
        1
    }
    fn handler(&mut self, _query: &Query, idle: Idle<'_>) -> Option<usize> {
        idle.iter().last()
    }
}

#[test]
fn moving_long_searches_to_the_big_core_shortens_the_tail() {
    let times = drawn(
        40.0,
        Distribution::Lognormal { cv2: 4.0 },
        Split::perfect(1),
    );
    let machine = Machine::of_big_and_little(1, 3, 0.25);
    let settings = Settings::new(machine, poisson(15.0), times, 50_000);
    let (stay, hurry) = (ran(&settings, &mut Stay), ran(&settings, &mut Hurry));
    assert!(hurry.moved > 1000 && stay.moved == 0);
    assert!(hurry.quantile_ms(0.99) < 0.8 * stay.quantile_ms(0.99));
    // The big core works more of the time, and takes more power.
    let share = |report: &Report| report.core_busy_ms[0] / report.core_busy_ms.iter().sum::<f64>();
    assert!(share(&hurry) > share(&stay));
    let power = |busy_watts| CorePower {
        busy_watts,
        idle_watts: 0.1,
    };
    let powers = [power(2.0), power(0.3), power(0.3), power(0.3)];
    let energy = |report: &Report| estimate(report, &powers, 1.0).unwrap();
    let (lazy, quick) = (energy(&stay), energy(&hurry));
    assert!(quick.joules_per_query > lazy.joules_per_query * 0.9 && quick.watts < 1.0 + 2.9);
    let by_hand: f64 = powers
        .iter()
        .zip(&stay.core_busy_ms)
        .map(|(core, busy)| {
            core.idle_watts * stay.duration_ms + (core.busy_watts - core.idle_watts) * busy
        })
        .sum::<f64>()
        / stay.duration_ms
        + 1.0;
    assert!((lazy.watts / by_hand - 1.0).abs() < 1e-9);
    assert!(estimate(&stay, &powers[1..], 1.0).is_err());
    // Moving among equal cores changes nothing but the numbers of cores.
    let equal = Settings {
        machine: Machine::of_cores(4),
        keep_order: true,
        ..settings
    };
    let (stay, moved) = (ran(&equal, &mut Stay), ran(&equal, &mut Hurry));
    assert!(moved.moved > 100);
    let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * (1.0 + a);
    assert!(stay.in_order_ms.iter().zip(&moved.in_order_ms).all(same));
}

#[test]
fn degrees_are_those_of_the_policy() {
    let times = drawn(40.0, Distribution::Exponential, Split::perfect(8));
    let p99 = |rate, policy: &mut dyn FnMut(&Settings) -> Report| {
        policy(&Settings::new(
            Machine::of_cores(8),
            poisson(rate),
            times.clone(),
            60_000,
        ))
        .quantile_ms(0.99)
    };
    let fixed = |degree| move |settings: &Settings| ran(settings, &mut Fifo { degree });
    let mut adaptive = |settings: &Settings| ran(settings, &mut IdleShare { degree_max: 8 });
    // A degree of 1 is a queue of whole queries.
    let whole = drawn(40.0, Distribution::Exponential, Split::perfect(1));
    let one_part = Settings::new(Machine::of_cores(8), poisson(100.0), whole, 60_000);
    let expected = ran(&one_part, &mut Fifo { degree: 1 }).quantile_ms(0.99);
    assert!((p99(100.0, &mut fixed(1)) / expected - 1.0).abs() < 1e-6);
    // Wide where there is room.
    assert!(p99(20.0, &mut adaptive) < 0.5 * p99(20.0, &mut fixed(1)));
}

#[test]
fn a_seed_decides_everything_and_common_queries_are_common() {
    let times = |parts| {
        drawn(
            50.0,
            Distribution::Lognormal { cv2: 2.0 },
            Split::perfect(parts),
        )
    };
    let settings = Settings::new(Machine::of_cores(8), poisson(100.0), times(1), 10_000);
    let again = |settings: &Settings| ran(settings, &mut Fifo { degree: 8 });
    assert_eq!(again(&settings), again(&settings));
    assert_ne!(
        again(&settings),
        again(&Settings {
            seed: 2,
            ..settings.clone()
        })
    );
    let split = Settings {
        times: times(8),
        ..settings.clone()
    };
    // The same arrivals, whatever the search times.
    assert_eq!(again(&settings).rate_per_s, again(&split).rate_per_s);
}

#[test]
fn wrong_settings_are_refused() {
    let good = Settings::new(Machine::of_cores(4), poisson(10.0), exponential(50.0), 100);
    let refused = |settings: Settings| {
        let error = run(&settings, &mut Fifo { degree: 1 }).unwrap_err();
        assert!(!error.to_string().is_empty());
    };
    refused(Settings {
        machine: Machine::of_cores(0),
        ..good.clone()
    });
    refused(Settings {
        queries: 0,
        ..good.clone()
    });
    refused(Settings {
        warm_up: 100,
        ..good.clone()
    });
    refused(Settings {
        layout: Layout::Pinned { groups: 3 },
        ..good.clone()
    });
    refused(Settings {
        layout: Layout::Pinned { groups: 2 },
        ..good.clone()
    });
    refused(Settings {
        arrivals: poisson(-1.0),
        ..good.clone()
    });
    refused(Settings {
        deadline_ms: Some(0.0),
        ..good.clone()
    });
    let mut lonely = Machine::of_smt_cores(2, 1.5);
    lonely.cores[0] = Core {
        speed: 1.0,
        sibling: Some(0),
    };
    refused(Settings {
        machine: lonely,
        ..good.clone()
    });
    for rows in [
        vec![],
        vec![vec![]],
        vec![vec![1.0], vec![1.0, 2.0]],
        vec![vec![f64::NAN]],
        vec![vec![-1.0]],
    ] {
        assert!(Searches::new(rows).is_err());
    }
}

#[test]
fn overload_is_seen_where_it_is() {
    // 3 and 9 ms of work: shared evenly, or one partition three times the other.
    let searches = Searches::new([vec![3.0, 9.0]]).unwrap();
    let times = Times::Measured {
        searches,
        order: Order::AsMeasured,
    };
    let mut settings = Settings::new(Machine::of_cores(4), poisson(200.0), times, 2_000);
    let mut load = |layout| {
        settings.layout = layout;
        summarise(&settings, 2, fifo(2)).unwrap().load
    };
    let close =
        |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    close(load(Layout::Shared), 200.0 * 12.0 / 4e3);
    close(load(Layout::Pinned { groups: 2 }), 200.0 * 9.0 / 2e3);
    close(load(Layout::Gang), 200.0 * 9.0 / 2e3);
}
