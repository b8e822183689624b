//! Agreement of the simulation of whole answers with that of searches and with exact results.
//!
//! The exact results are those of processor sharing; the two simulations are compared where both apply.

use model::formulas::general::pollaczek_khinchine_wait_ms;
use model::shared_cores::{Answer, Outcome, Query, Setup, answers};
use model::simulate::assignment::Fifo;
use model::simulate::{
    Arrivals, Layout, Machine, Order, Searches, Settings, Times, replicate, run,
};

const PLAIN: Setup = Setup {
    cores: 1,
    handlers: 1,
    busy_share: 0.0,
    cold_share: 0.0,
    cooling_ms: 0.0,
    beside_ms: 0.0,
};

/// Returns a generator of exponential numbers of mean 1.
fn exponentials(seed: u64) -> impl FnMut() -> f64 {
    // The factor differs from the step below; a multiple of it would make neighbouring seeds shifted
    // copies.
    let mut state = (seed + 1).wrapping_mul(0xd134_2543_de82_ef95);
    move || {
        // Splitmix64 (Steele, Lea & Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        -(((mixed >> 11) as f64 + 1.0) / (1u64 << 53) as f64).ln()
    }
}

fn instants(rate_per_s: f64, count: usize, mut next: impl FnMut() -> f64) -> Vec<f64> {
    let mut now_ms = 0.0;
    (0..count)
        .map(|_| {
            now_ms += next() * 1e3 / rate_per_s;
            now_ms
        })
        .collect()
}

fn query(arrived_ms: f64, before_ms: f64, searches_ms: &[f64], after_ms: f64) -> Query<'_> {
    Query {
        arrived_ms,
        before_ms,
        hand_over_ms: 0.0,
        searches_ms,
        after_ms,
    }
}

/// Runs the simulation and checks Little's law.
fn ran(setup: Setup, queries: &[Query<'_>]) -> Outcome {
    let outcome = answers(setup, queries).unwrap();
    let sum_ms: f64 = outcome
        .answers
        .iter()
        .map(|answer| answer.response_ms)
        .sum();
    let ratio = outcome.system_area_ms / sum_ms;
    assert!((ratio - 1.0).abs() < 1e-9, "Little's law: {ratio}");
    outcome
}

#[test]
fn handlers_with_cores_of_their_own_are_those_of_the_other_simulation() {
    for (partitions, handlers) in [(1, 1), (1, 3), (2, 1), (3, 2)] {
        let mut next = exponentials(7);
        let rows: Vec<Vec<f64>> = (0..4_000)
            .map(|_| (0..partitions).map(|_| 10.0 * next()).collect())
            .collect();
        let arrivals = instants(70.0 * handlers as f64, rows.len(), next);
        let cores = partitions * handlers;
        let mut settings = Settings::new(
            Machine::of_cores(cores),
            Arrivals::Trace(arrivals.clone()),
            Times::Measured {
                searches: Searches::new(rows.clone()).unwrap(),
                order: Order::AsMeasured,
            },
            rows.len(),
        );
        settings.layout = Layout::Pinned { groups: partitions };
        settings.keep_order = true;
        settings.warm_up = 0;
        let expected = run(&settings, &mut Fifo { degree: 1 }).unwrap().in_order_ms;
        let queries: Vec<Query<'_>> = arrivals
            .iter()
            .zip(&rows)
            .map(|(&at, row)| query(at, 0.0, row, 0.0))
            .collect();
        let setup = Setup {
            cores,
            handlers,
            ..PLAIN
        };
        let got = ran(setup, &queries);
        for (idx, (answer, expected)) in got.answers.iter().zip(&expected).enumerate() {
            assert!(
                (answer.response_ms - expected).abs() < 1e-6
                    && (answer.in_servers_ms - expected).abs() < 1e-6,
                "{partitions} × {handlers}, query {idx}: {answer:?} {expected}"
            );
        }
    }
}

/// Checks that under processor sharing the mean response is S/(1 − ρ) for every distribution (Sakata, Noguchi &
/// Oizumi 1969); in order of arrival it follows Pollaczek and Khinchine. Arrivals see time averages.
#[test]
fn shared_cores_respond_as_processor_sharing_does() {
    let (rate, work_ms) = (70.0, 10.0);
    for constant in [true, false] {
        let estimates = replicate(1, 20, |seed| {
            let mut next = exponentials(seed);
            let works: Vec<f64> = (0..30_000)
                .map(|_| if constant { work_ms } else { work_ms * next() })
                .collect();
            let arrivals = instants(rate, works.len(), next);
            let shared: Vec<Query<'_>> = arrivals
                .iter()
                .zip(&works)
                .map(|(&at, &work)| query(at, work / 2.0, &[0.0], work / 2.0))
                .collect();
            let setup = Setup {
                busy_share: 1.0,
                ..PLAIN
            };
            let mean = |outcome: &Outcome| {
                let sum: f64 = outcome
                    .answers
                    .iter()
                    .map(|answer| answer.response_ms)
                    .sum();
                sum / outcome.answers.len() as f64
            };
            let shared = ran(setup, &shared);
            let in_order: Vec<Query<'_>> = arrivals
                .iter()
                .zip(&works)
                .map(|(&at, work)| query(at, 0.0, std::slice::from_ref(work), 0.0))
                .collect();
            let in_order = ran(PLAIN, &in_order);
            Ok::<_, ()>([
                mean(&shared),
                mean(&in_order),
                shared.time_all_busy,
                shared.arrivals_finding_all_busy,
            ])
        });
        let [shared, in_order, busy, found] = estimates.unwrap();
        assert!(shared.holds(work_ms / (1.0 - 0.7), 0.999), "{shared:?}");
        let cv2 = if constant { 0.0 } else { 1.0 };
        let wait_ms = pollaczek_khinchine_wait_ms(rate, 1e3 / work_ms, cv2).unwrap();
        assert!(in_order.holds(work_ms + wait_ms, 0.999), "{in_order:?}");
        assert!(busy.holds(0.7, 0.999), "{busy:?}");
        let width = busy.half_width(0.999).hypot(found.half_width(0.999));
        assert!((busy.mean - found.mean).abs() <= width, "PASTA: {found:?}");
    }
}

#[test]
fn stages_by_hand() {
    let check = |setup: Setup, queries: &[Query<'_>], expected: &[(f64, f64)]| {
        let got = ran(setup, queries).answers;
        for (answer, &(in_servers_ms, response_ms)) in got.iter().zip(expected) {
            let Answer {
                in_servers_ms: servers_ms,
                response_ms: all_ms,
                ..
            } = *answer;
            assert!(
                (servers_ms - in_servers_ms).abs() < 1e-9 && (all_ms - response_ms).abs() < 1e-9,
                "{got:?}"
            );
        }
    };
    let setup = Setup {
        busy_share: 0.5,
        ..PLAIN
    };
    // Alone, every stage takes its nominal time; a sleeping handler must be woken.
    let alone = Query {
        hand_over_ms: 1.0,
        ..query(0.0, 2.0, &[5.0], 4.0)
    };
    check(setup, &[alone], &[(6.0, 12.0)]);
    // The slower of two partitions decides; on one core they share it: work of 3 and 5 ends at 6 and 8.
    check(PLAIN, &[query(0.0, 0.0, &[3.0, 5.0], 0.0)], &[(8.0, 8.0)]);
    let two = Setup { cores: 2, ..PLAIN };
    check(two, &[query(0.0, 0.0, &[3.0, 5.0], 0.0)], &[(5.0, 5.0)]);
    // The second query's way in begins while the core works, so no wake-up is needed, and its 1 ms of
    // work shares the core from 2 to 4. The first ends at 11; the second then takes 10.
    let pair = [query(0.0, 0.0, &[10.0], 0.0), query(2.0, 2.0, &[10.0], 0.0)];
    check(setup, &pair, &[(11.0, 11.0), (17.0, 19.0)]);
    // Work beside an answer delays the next answer, not its own.
    let beside = Setup {
        beside_ms: 4.0,
        ..PLAIN
    };
    let pair = [query(0.0, 0.0, &[2.0], 0.0), query(2.0, 0.0, &[4.0], 0.0)];
    check(beside, &pair, &[(2.0, 2.0), (8.0, 8.0)]);
}

#[test]
fn handlers_that_slept_are_slower() {
    let setup = Setup {
        cold_share: 0.5,
        cooling_ms: 10.0,
        ..PLAIN
    };
    let (slept, longer) = (30.0f64, 3.0f64);
    let colder = |slept_ms: f64| 4.0 * 0.5 * (1.0 - (-slept_ms / 10.0).exp());
    let first_ms = 4.0 + colder(slept);
    let pause_ms = slept + first_ms + longer;
    let queries = [
        query(slept, 0.0, &[4.0], 0.0),
        // Waits, and is then searched without a sleep in between.
        query(slept + 1.0, 0.0, &[4.0], 0.0),
        // Arrives after the rest of the sleep.
        query(pause_ms + 4.0, 0.0, &[4.0], 0.0),
    ];
    let answers = ran(setup, &queries).answers;
    let searching: Vec<f64> = answers.iter().map(|answer| answer.searching_ms).collect();
    for (got, expected) in searching.iter().zip([first_ms, 4.0, 4.0 + colder(longer)]) {
        assert!((got - expected).abs() < 1e-9, "{searching:?}");
    }
    assert_eq!(setup.colder(0.0), 0.0);
    assert_eq!(
        Setup {
            cooling_ms: 0.0,
            ..setup
        }
        .colder(1.0),
        0.5
    );
}

#[test]
fn wrong_queries_are_refused() {
    let good = query(1.0, 0.0, &[1.0], 0.0);
    let refused = |setup: Setup, queries: &[Query<'_>]| {
        assert!(answers(setup, queries).is_err(), "{setup:?} {queries:?}");
    };
    refused(Setup { cores: 0, ..PLAIN }, &[good]);
    refused(
        Setup {
            busy_share: 1.5,
            ..PLAIN
        },
        &[good],
    );
    let cold = Setup {
        cold_share: -1.0,
        ..PLAIN
    };
    refused(cold, &[good]);
    refused(PLAIN, &[good, query(0.5, 0.0, &[1.0], 0.0)]);
    refused(PLAIN, &[good, query(2.0, 0.0, &[1.0, 1.0], 0.0)]);
    refused(PLAIN, &[query(1.0, 0.0, &[], 0.0)]);
    refused(PLAIN, &[query(1.0, f64::NAN, &[1.0], 0.0)]);
    refused(PLAIN, &[query(1.0, 0.0, &[-1.0], 0.0)]);
    assert_eq!(answers(PLAIN, &[]).unwrap().answers, []);
}
