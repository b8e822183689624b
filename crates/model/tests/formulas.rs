//! Agreement of the formulas with an independent calculation to 40 digits.
//!
//! `golden/exact.tsv` is written by `tests/model/definitions.py`, which evaluates the definitions in
//! decimal arithmetic. Its values include every table of the literature available to the project.

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
