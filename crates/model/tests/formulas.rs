//! Agreement of the formulas with an independent calculation to 40 digits.
//!
//! `golden/exact.tsv` is written by `tests/model/definitions.py`, which evaluates the definitions in
//! decimal arithmetic. Its values include every table of the literature available to the project.

use model::ModelError;
use model::formulas::{Closed, Crossing, Dmc, Mmc, constant_service, crossing, erlang_b};

const EXACT: &str = include_str!("golden/exact.tsv");
const RELATIVE_MAX: f64 = 1e-9;

/// Returns the computed value for one row of the golden file.
fn ours(name: &str, arguments: &[&str]) -> f64 {
    let number = |idx: usize| arguments[idx].parse::<f64>().unwrap();
    let count = |idx: usize| arguments[idx].parse::<usize>().unwrap();
    match name {
        "erlang_b" => erlang_b(count(0), number(1)),
        "mmc" => mmc_figure(
            &Mmc::new(number(0), number(1), count(2)).unwrap(),
            arguments[3],
        ),
        "mdc" => constant_service::wait_ms(number(0), number(1), count(2)).unwrap(),
        "dmc" => {
            let queue = Dmc::new(number(0), number(1), count(2)).unwrap();
            match arguments[3] {
                "p_wait" => queue.p_wait,
                "wait" => queue.wait_ms,
                other => panic!("{other}"),
            }
        }
        "closed" => {
            let closed = Closed::new(count(0), number(1), number(2), count(3)).unwrap();
            match arguments[4] {
                "throughput" => closed.throughput_per_s,
                "response" => closed.response_ms,
                other => panic!("{other}"),
            }
        }
        "crossing" => {
            let first = |rate| Mmc::new(rate, number(0), count(1));
            let second = |rate| Mmc::new(rate, number(2), count(3));
            match crossing(Mmc::response_ms, first, second).unwrap() {
                Crossing::FirstBelow(rate) | Crossing::SecondBelow(rate) => rate,
                never => panic!("{never:?}"),
            }
        }
        other => panic!("{other}"),
    }
}

fn mmc_figure(queue: &Mmc, name: &str) -> f64 {
    match name.split_once('_') {
        Some(("response", share)) => queue.response_quantile_ms(share.parse().unwrap()),
        Some(("wait", share)) => queue.wait_quantile_ms(share.parse().unwrap()),
        Some(("p", _)) => queue.p_wait(),
        Some(("queue", _)) => queue.queue_length(),
        Some(("in", _)) => queue.in_system(),
        _ if name == "wait" => queue.wait_ms(),
        _ if name == "response" => queue.response_ms(),
        _ => panic!("{name}"),
    }
}

#[test]
fn every_value_to_a_billionth() {
    let mut worst: f64 = 0.0;
    for line in EXACT.lines() {
        let mut columns = line.split('\t');
        let (name, arguments) = (columns.next().unwrap(), columns.next().unwrap());
        let expected: f64 = columns.next().unwrap().parse().unwrap();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let got = ours(name, &arguments);
        let off = (got / expected - 1.0).abs();
        assert!(off < RELATIVE_MAX, "{line}: {got}, off by {off:e}");
        worst = worst.max(off);
    }
    assert!(
        EXACT.lines().count() > 200 && worst > 0.0,
        "the file is read"
    );
}

/// Numbers that can be given and not calculated with are errors, never infinite or no number.
#[test]
fn numbers_beyond_calculation_are_refused() {
    let outside = |what: Result<f64, ModelError>| {
        let got = what.unwrap_err();
        assert!(matches!(got, ModelError::Outside { .. }), "{got:?}");
        assert!(!got.to_string().contains("more than 0"), "{got}");
    };
    for servers in [1, 2, 8] {
        for (rate, service) in [
            (1e308, 1e308),
            (1e200, 1e300),
            (1e-300, 1e-290),
            (1e150, 1e160),
        ] {
            outside(Mmc::new(rate, service, servers).map(|queue| queue.wait_ms()));
            outside(Dmc::new(rate, service, servers).map(|queue| queue.wait_ms));
            outside(constant_service::wait_ms(rate, service, servers));
            outside(Closed::new(8, rate, service, servers).map(|queue| queue.response_ms));
        }
        for (rate, service) in [(1e99, 1e99), (1e-99, 1e-99), (1e-90, 1e90), (9.9e99, 1e100)] {
            let finite = |what: &str, value: f64| {
                assert!(
                    value.is_finite(),
                    "{what} of {rate} {service} {servers}: {value}"
                );
            };
            // The first is an overload of a single server.
            let Ok(queue) = Mmc::new(rate, service, servers) else {
                continue;
            };
            finite("wait", queue.wait_ms());
            finite("p99", queue.response_quantile_ms(0.99));
            finite("in system", queue.in_system());
            finite("D/M/c", Dmc::new(rate, service, servers).unwrap().wait_ms);
            finite(
                "M/D/c",
                constant_service::wait_ms(rate, service, servers).unwrap(),
            );
        }
    }
}
