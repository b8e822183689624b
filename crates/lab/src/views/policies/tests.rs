//! Tests of the view of policies.
use super::*;
use crate::experiment::{self, Arm};
use crate::policies::{ServedRound, SpinClock, SpunCell, SpunRound};
use load::{Ending, Noise, Outcome, Sample, Summary};
use std::time::{Duration, SystemTime};

const QUERIES: u64 = 4_000;

/// Returns a run whose queries take 1 ms, and one in fifty a `tail_ms` that scatters by a tenth from round to round.
fn round(tail_ms: f64, round: u64, lag_us: u64) -> ServedRound {
    let tail_ns = (tail_ms * 1e6 * (0.95 + 0.1 * (round % 7) as f64 / 6.0)) as u64;
    let sample = |number: u64| {
        let intended_ns = number * 500_000;
        let sent_ns = intended_ns + lag_us * 1_000;
        let took_ns = match number % 50 {
            0 => tail_ns,
            _ => 1_000_000,
        };
        Sample {
            arrival_idx: number as u32,
            query_idx: 0,
            warm_up: false,
            intended_ns,
            sent_ns: Some(sent_ns),
            done_ns: Some(sent_ns + took_ns),
            ending: Ending::Answered(200),
            new_connection: false,
            retry_after_s: None,
            body_bytes: 2,
            answer: None,
        }
    };
    let outcome = Outcome {
        samples: (0..QUERIES).map(sample).collect(),
        started_at: SystemTime::UNIX_EPOCH,
        warm_up: Duration::ZERO,
        measured: Duration::from_secs(2),
        is_complete: true,
        noise: Noise::default(),
    };
    ServedRound {
        summary: Summary::of(&outcome),
        is_whole: true,
        degree: Some(1.25),
        work_share: None,
    }
}

/// Returns results in which the tails of `fifo`, `fifo:2` and `boost` take these times at each load.
fn found(tails_ms: [f64; 3], lag_us: u64) -> Compared {
    let arms = ["fifo", "fifo:2", "boost"].map(Arm::of_policy);
    let offers = [
        Offered::Load(0.3),
        Offered::Load(0.7),
        Offered::Burst(0.9),
        Offered::Saturation,
    ];
    let mut served = Vec::new();
    for offered in offers {
        served.extend((0..3).map(|arm| {
            ServedCell {
                arm,
                offered,
                rate_qps: 1_000.0,
                rounds: (0..6)
                    .map(|number| round(tails_ms[arm], number + 3 * arm as u64, lag_us))
                    .collect(),
            }
        }));
    }
    let times = |ms: f64| Times::of_ns((0..2_000u64).map(|n| (ms * 1e6) as u64 + n));
    let spun = [0.5, 0.8].map(|load| SpunCell {
        arm: 2,
        load,
        clock: SpinClock::Wall,
        rounds: (0..3)
            .map(|_| SpunRound {
                measured: times(2.0),
                simulated: times(if load < 0.6 { 2.1 } else { 3.0 }),
                degree: 1.5,
                is_whole: true,
                ..SpunRound::default()
            })
            .collect(),
    });
    Compared {
        arms: arms.into(),
        handlers: 2,
        capacity_qps: 2_000.0,
        queries: "joined".into(),
        spun_times: "lognormal".into(),
        served,
        spun: spun.into(),
        self_check: None,
    }
}

fn shown(found: &Compared) -> ExperimentResult {
    let experiment = &experiment::chosen(&["query-parallelism".into()]).unwrap()[0];
    let mut result = ExperimentResult::of(experiment);
    show(&mut result, found);
    result
}

fn table<'a>(result: &'a ExperimentResult, title: &str) -> &'a Table {
    let tables = &mut result.tables.iter();
    let found = tables.find(|table| table.title.starts_with(title));
    found.unwrap_or_else(|| panic!("{title}"))
}

#[test]
fn a_shorter_tail_is_found_against_both_baselines() {
    let result = shown(&found([10.0, 8.0, 5.0], 0));
    // Two loads and a burst, each with p99 against two baselines; p99.9 has too few samples for one round but not for all.
    let rows = &result.comparisons;
    let at = |baseline: &str| {
        let of = |row: &&ComparisonRow| row.baseline == baseline && row.figure == "p99";
        rows.iter().filter(of).collect::<Vec<_>>()
    };
    for (baseline, ratio) in [("fifo", 0.5), ("fifo:2", 0.625)] {
        let rows = at(baseline);
        assert_eq!(rows.len(), 2, "{result:#?}");
        for row in rows {
            assert!((row.ratio.unwrap() / ratio - 1.0).abs() < 0.06, "{row:?}");
            assert_eq!(row.verdict, "faster");
            assert!(row.p_value.unwrap() < 0.01);
        }
    }
    let throughput = rows.iter().find(|row| row.figure == "throughput").unwrap();
    assert_eq!(throughput.verdict, ComparisonRow::NO_DIFFERENCE);
    let targets = table(&result, "Targets of boost on 2 handlers");
    let met = |row: &&Vec<String>| row[4].starts_with("met");
    assert_eq!(targets.rows.iter().filter(met).count(), targets.rows.len());
    assert!(targets.rows.iter().any(|row| row[0].contains("fifo:2")));
    assert_eq!(table(&result, "Real queries").rows.len(), 9);
    assert_eq!(table(&result, "Throughput").rows.len(), 3);
    assert_eq!(result.panels[0].series.len(), 3);
    assert_eq!(result.panels[3].series[0].points[0].y, 1.25);
    assert_eq!(table(&result, "Real queries").rows[0][7..9], ["1.25", "-"]);
    let reading = &result.reading;
    assert!(reading.contains("1 of 1 simulated"), "{reading}");
    assert!(reading.contains("greatest error is +50 %"), "{reading}");
    assert_eq!(result.runs_count, 12 * 6 + 2 * 3);
}

#[test]
fn equal_tails_differ_by_chance_alone() {
    let result = shown(&found([10.0, 10.0, 10.0], 0));
    let verdicts = result.comparisons.iter().map(|row| row.verdict.as_str());
    let mut verdicts: Vec<&str> = verdicts.collect();
    verdicts.dedup();
    assert_eq!(verdicts, [ComparisonRow::NO_DIFFERENCE]);
    let targets = table(&result, "Targets");
    let missed = |row: &&Vec<String>| row[0] == "p99 of sequential" && row[4] == "missed";
    assert_eq!(targets.rows.iter().filter(missed).count(), 2);
}

#[test]
fn runs_that_the_client_decides_take_no_part() {
    let result = shown(&found([10.0, 8.0, 5.0], 40_000));
    let rows = result.comparisons.iter();
    let mut percentiles = rows.filter(|row| row.figure != "throughput");
    assert!(percentiles.all(|row| row.verdict == ComparisonRow::INVALID && row.p_value.is_none()));
    let shown = &table(&result, "Real queries").rows[0];
    assert_eq!(shown.last().unwrap(), "0 of 6");
}
