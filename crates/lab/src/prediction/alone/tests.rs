//! Division of answers into stages, and separation of a run's pace from the times of its queries.
use super::*;
use load::{Answer, Ending, PartSearch};
use std::time::{Duration, SystemTime};

/// Duration of a pace, longer than the schedules tested, except in the test of paces.
const LASTS: Duration = Duration::from_secs(1);

fn sample(query_idx: u32, intended_us: u64, done_us: u64, searches: Vec<PartSearch>) -> Sample {
    Sample {
        arrival_idx: 0,
        query_idx,
        warm_up: false,
        intended_ns: intended_us * 1000,
        sent_ns: Some(intended_us * 1000),
        done_ns: Some(done_us * 1000),
        ending: Ending::Answered(200),
        new_connection: false,
        retry_after_s: None,
        body_bytes: 1,
        answer: Some(Answer {
            matches_count: Some(1),
            hits_count: 1,
            checksum: 0,
            timed_out: false,
            coverage: 1.0,
            phases: None,
            server_us: Some(800),
            searches,
            handlers: None,
        }),
    }
}

fn outcome(samples: Vec<Sample>) -> Outcome {
    Outcome {
        samples,
        started_at: SystemTime::UNIX_EPOCH,
        warm_up: Duration::ZERO,
        measured: Duration::from_secs(1),
        is_complete: true,
        noise: load::NoiseMeter::start().stop(),
    }
}

/// Builds single-client results whose query numbers are their names. Each run starts with a query that
/// is ignored, because the sleep before the first query is unknown.
fn alone(runs: Vec<(Asking, Vec<Sample>)>, costs_ms: (Option<f64>, f64)) -> Alone {
    let mut alone = Alone::of(2);
    let names: Vec<u32> = (0..100).collect();
    for (asking, mut samples) in runs {
        samples.insert(0, sample(98, 0, 0, vec![]));
        alone.add(asking, &outcome(samples), &names, costs_ms);
    }
    alone.find_paces();
    alone
}

fn parts(search_us: u64) -> Vec<PartSearch> {
    let part = |queued_us, search_us| PartSearch {
        queued_us,
        queueing_us: 20,
        search_us,
    };
    vec![part(100, search_us), part(90, 2 * search_us)]
}

fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9, "{got} is not {expected}");
}

#[test]
fn an_answer_is_taken_apart() {
    let run = |asking| (asking, vec![sample(7, 0, 1000, parts(200))]);
    let runs = [Asking::Spaced, Asking::BackToBack].map(run);
    let alone = alone(runs.into(), (Some(1.8), 0.2));
    let (way, searches_ms) = &alone.drawn(&[(5_000_000, 7, false)], LASTS, 1)[0];
    // Response 1000, of which 800 in the server: 100 on the way there, 90 to the queue, then 20 + 400.
    let query = way.query(5_000_000, searches_ms);
    close(query.arrived_ms, 5.0);
    close(query.before_ms, 0.19);
    close(query.hand_over_ms, 0.02);
    close(query.after_ms, 1.0 - 0.19 - 0.42);
    assert_eq!(query.searches_ms, [0.2, 0.4]);
    close(way.slept_ms, 0.19);
    close(alone.search_ms(7).unwrap(), 0.6);
    assert_eq!(alone.search_ms(8), None);
    // 900 of core time, 600 of it searches: 300 of the other 580.
    let setup = alone.setup(2);
    close(setup.busy_share, 0.3 / 0.58);
    close(setup.beside_ms, 0.1);
}

#[test]
fn answers_that_met_are_left_out_and_unknown_queries_have_any() {
    let met = vec![
        sample(1, 0, 1000, parts(100)),
        sample(2, 2000, 5000, parts(100)),
        sample(3, 4000, 6000, parts(100)),
        sample(4, 5500, 5900, parts(100)),
        sample(5, 7000, 8000, vec![]),
        sample(6, 9000, 9500, parts(300)),
    ];
    let met = alone(vec![(Asking::Spaced, met)], (None, 0.1));
    let mut known: Vec<u32> = met.by_query.keys().copied().collect();
    known.sort_unstable();
    assert_eq!(known, [1, 6]);
    let schedule = [(0, 99, false), (1, 1, false), (2, 98, true)];
    assert_eq!(met.drawn(&schedule, LASTS, 1).len(), 3);
    assert_eq!(met.unknown(&schedule), 1);
    assert!(alone(vec![], (None, 0.1)).is_empty());
}

#[test]
fn ways_are_those_of_spaced_runs_and_searches_those_of_all() {
    // Back to back, a query has different ways and may have different search times.
    let spaced = vec![sample(3, 0, 2000, parts(400))];
    let at_once = vec![
        sample(3, 0, 1000, parts(200)),
        sample(4, 1000, 9000, parts(900)),
    ];
    let runs = vec![(Asking::Spaced, spaced), (Asking::BackToBack, at_once)];
    let mut alone = alone(runs, (Some(12.0), 0.3));
    // Paces are reset, as the difference would otherwise count as that of the machine.
    alone.paces = vec![1.0; 2];
    let schedule: Vec<Arrival> = (0..200).map(|n| (n, 3, false)).collect();
    let drawn = alone.drawn(&schedule, LASTS, 1);
    let after_ms = drawn[0].0.after_ms;
    assert!(drawn.iter().all(|(way, _)| way.after_ms == after_ms));
    let quick = drawn
        .iter()
        .filter(|(_, searches_ms)| searches_ms[0] == 0.2)
        .count();
    assert!((50..150).contains(&quick), "{quick}");
    // A query that was only sent back to back takes the way of another.
    let (way, searches_ms) = &alone.drawn(&[(0, 4, false)], LASTS, 1)[0];
    assert_eq!((way.after_ms, searches_ms[0]), (after_ms, 0.9));
    // Costs are those of the two back-to-back requests and of the ignored one before them: 4 of the
    // server per request, 0.6 and 2.7 of them searches.
    let rest_ms = ((1.0 - 0.42) + (8.0 - 1.82)) / 2.0;
    close(
        alone.setup(2).busy_share,
        (4.0 - (0.6 + 2.7) / 2.0) / rest_ms,
    );
    close(alone.setup(2).beside_ms, 0.1);
}

#[test]
fn the_pace_of_a_run_is_not_that_of_its_queries() {
    // The second run sends the slow queries more often, and is half as quick as the first.
    let long = |run: usize, query: u32, n: u64| {
        let search_us = [1000, 4000][query as usize] * [1, 2][run];
        sample(query, n * 100_000, n * 100_000 + 50_000, parts(search_us))
    };
    let first = [0, 0, 0, 1].iter().zip(0..);
    let second = [1, 1, 1, 0].iter().zip(0..);
    let runs = vec![
        (
            Asking::Spaced,
            first.map(|(&query, n)| long(0, query, n)).collect(),
        ),
        (
            Asking::BackToBack,
            second.map(|(&query, n)| long(1, query, n)).collect(),
        ),
    ];
    let alone = alone(runs, (None, 0.1));
    let (quickest, slowest) = alone.paces();
    assert!(
        (slowest / quickest - 2.0).abs() < 0.05,
        "{quickest} {slowest}"
    );
}

#[test]
fn what_a_sleep_costs_is_found_and_taken_off() {
    // Each of 20 queries is sent after sleeps of many durations.
    let colder = |slept_ms: f64| 0.4 * (1.0 - (-slept_ms / 25.0).exp());
    let mut at_us = 0;
    let mut samples = Vec::new();
    for number in 0..400u64 {
        let slept_us = 1 + (number * 7919) % 90_000;
        at_us += slept_us;
        // From the instant to the handlers: 0.1 ms on the way (the end is 0.2 ms after the server's),
        // and 0.09.
        let base_us = 1_000.0 + 500.0 * (number % 20) as f64;
        let search_us = (base_us * (1.0 + colder((slept_us + 190) as f64 / 1e3))).round() as u64;
        let part = PartSearch {
            queued_us: 90,
            queueing_us: 20,
            search_us,
        };
        let done_us = at_us + search_us + 400;
        let mut sample = sample(number as u32 % 20, at_us, done_us, vec![part, part]);
        sample.answer.as_mut().unwrap().server_us = Some(search_us + 200);
        samples.push(sample);
        at_us = done_us;
    }
    let mut alone = alone(vec![(Asking::Spaced, samples)], (None, 0.1));
    alone.find_cold();
    // Shares are relative to the mean, which lies above the warm time by the effect of the mean sleep.
    let cold_share = alone.cold_share();
    assert!((0.25..0.45).contains(&cold_share), "{cold_share}");
    let schedule: Vec<Arrival> = (0..50).map(|n| (n, 4, false)).collect();
    for (_, searches_ms) in alone.drawn(&schedule, LASTS, 1) {
        assert!((searches_ms[0] / 3.0 - 1.0).abs() < 0.1, "{searches_ms:?}");
    }
    close(alone.setup(2).cold_share, alone.cold_share());
}

#[test]
fn paces_that_chance_makes_are_none() {
    // Each answer deviates by up to 20 %, whatever the run; runs have ten answers each.
    let run = |run: u64| {
        let answer = |n: u64| {
            let search_us = 900 + (run * 10 + n) * 7919 % 200;
            sample(n as u32, n * 10_000, n * 10_000 + 5_000, parts(search_us))
        };
        let asking = [Asking::Spaced, Asking::BackToBack][run as usize % 2];
        (asking, (0..10).map(answer).collect())
    };
    let steady = alone((0..40).map(run).collect(), (None, 0.1));
    let (quickest, slowest) = steady.paces();
    assert!(slowest - quickest < 0.03, "{quickest} {slowest}");
}
