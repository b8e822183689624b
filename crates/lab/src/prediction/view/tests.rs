//! Errors of predictions and their intervals.
use super::*;
use crate::experiment::chosen;
use crate::prediction::Heavier;

fn both(us: f64) -> Both {
    let times = Times::of_ns((1..=1000).map(|n| (n as f64 * us * 1e3) as u64));
    Both {
        response: times.clone(),
        in_servers: times,
        searching_ms: 1000.0 * us,
    }
}

/// Returns a cell whose rounds have measured times of different scales and equal predictions.
fn cell(rate_qps: f64, predicted_us: f64, replayed_us: f64, measured_us: [f64; 4]) -> Foreseen {
    let round = |measured_us| Round {
        measured: both(measured_us),
        predicted: both(predicted_us),
        replayed: both(replayed_us),
        alone_ms: 2.0,
    };
    Foreseen {
        served: "I1",
        rate_qps,
        load: rate_qps / 100.0,
        by_cores: false,
        rounds: measured_us.into_iter().map(round).collect(),
    }
}

fn made(joined: f64) -> Made {
    Made {
        queries: Heavier {
            texts: vec!["ice".into(); 40],
            joined,
            search_ms: 6.0,
        },
        steadiness: vec![Steadiness {
            name: "I1",
            quickest: 0.9,
            slowest: 1.25,
            cold_share: 0.06,
        }],
        cores_count: 2,
    }
}

#[test]
fn errors_are_printed_whatever_they_are() {
    let steady = [100.0, 99.0, 101.0, 100.0];
    let cells = [
        cell(20.0, 100.0, 100.0, steady),
        cell(80.0, 150.0, 104.0, steady),
        // A load beyond the limit for judgement.
        cell(90.0, 900.0, 900.0, steady),
    ];
    let mut result = ExperimentResult::of(&chosen(&["prediction".into()]).unwrap()[0]);
    show(&mut result, &cells, &[], &made(32.0));
    let said = &result.reading;
    let expected = [
        "A search takes 6.0 ms",
        "the words of 32 given ones",
        "Of 6 percentiles of the response time, 3 are foreseen within 10 %",
        "3 are beyond the aim for certain",
        "6 would be within",
        "-10 to +25 % of I1",
        "up to 6 % longer",
    ];
    for expected in expected {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(said.contains("+50.") || said.contains("+49."), "{said}");
    let rows = &result.tables[0].rows;
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0][2..4], ["20 % of handler", "4000"]);
    assert!(
        rows[2][6].starts_with("+80") || rows[2][6].starts_with("+79"),
        "{rows:?}"
    );
    // Errors of search times are separated from those of the model.
    let causes = &result.tables[2].rows[1];
    // Per query: 2 ms in total over 1000 queries, then 150 ms predicted and about 100 ms measured.
    assert_eq!(causes[3..6], ["2.0 µs", "150 ms", "100 ms"], "{causes:?}");
    assert!(
        causes[6].starts_with("+4.") || causes[6].starts_with("+3."),
        "{causes:?}"
    );
    assert_eq!(result.panels[0].series.len(), 4);
    show(&mut result, &cells, &[], &made(1.0));
    assert!(
        result.reading.starts_with("A search of the 40 queries"),
        "{}",
        result.reading
    );
    // Too few samples give no figure.
    let few = Foreseen {
        rounds: vec![Round::default()],
        ..cell(50.0, 1.0, 1.0, steady)
    };
    show(&mut result, &[few], &[], &made(1.0));
    assert!(
        result.reading.contains("Too few answers"),
        "{}",
        result.reading
    );
}

#[test]
fn the_interval_is_as_wide_as_the_rounds_differ() {
    let of = |measured_us| {
        let cell = cell(20.0, 100.0, 100.0, measured_us);
        let (share, interval) = error(&cell, PREDICTED, RESPONSE, 50.0).unwrap();
        (share, interval.unwrap())
    };
    let (share, steady) = of([100.0; 4]);
    assert!(share.abs() < 1e-3, "{share}");
    assert!(steady.high - steady.low < 0.01, "{steady:?}");
    let (share, unsteady) = of([80.0, 95.0, 105.0, 125.0]);
    assert!(
        unsteady.contains(share) && unsteady.contains(0.0),
        "{unsteady:?}"
    );
    assert!(unsteady.high - unsteady.low > 0.2, "{unsteady:?}");
    // A single round gives no estimate of the variation between rounds.
    let mut one = cell(20.0, 100.0, 100.0, [100.0; 4]);
    one.rounds.truncate(1);
    assert_eq!(error(&one, PREDICTED, RESPONSE, 50.0).unwrap().1, None);
}
