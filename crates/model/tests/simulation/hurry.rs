//! Hurry-up by the code that `shorttail hurry` runs: tail and energy of a simulated big/little machine.

use crate::support::{drawn, poisson, ran};
use model::energy::{JUNO, estimate};
use model::simulate::HurryUp;
use model::simulate::{Distribution, Machine, Report, Settings, Split};
use schedule::hurry::Rule;

const BIG: usize = 2;
const LITTLE: usize = 4;

fn policy(rule: Rule, sampling_ms: Option<f64>) -> HurryUp {
    HurryUp {
        rule,
        big: BIG,
        sampling_ms,
        threshold_ms: 50.0,
        random: Some(7),
    }
}

/// Six cores like those of the published machine; `load` is a share of what they can serve.
fn settings(load: f64) -> Settings {
    let mean_ms = 60.0;
    let capacity_per_s = (BIG as f64 + LITTLE as f64 * JUNO.little_speed) * 1e3 / mean_ms;
    let times = drawn(
        mean_ms,
        Distribution::Lognormal { cv2: 1.0 },
        Split::perfect(1),
    );
    let machine = Machine::of_big_and_little(BIG, LITTLE, JUNO.little_speed);
    Settings::new(machine, poisson(load * capacity_per_s), times, 40_000)
}

fn joules(report: &Report) -> f64 {
    let powers = [[JUNO.big; BIG].as_slice(), &[JUNO.little; LITTLE]].concat();
    estimate(&report.activity(), &powers, JUNO.rest_watts)
        .unwrap()
        .joules_per_query
}

#[test]
fn both_rules_shorten_the_tail_for_little_energy() {
    for load in [0.15, 0.3, 0.6] {
        let settings = settings(load);
        let stays = ran(&settings, &mut policy(Rule::Mended, None));
        assert_eq!(stays.moved, 0);
        let mut p90 = Vec::new();
        for rule in [Rule::AsPublished, Rule::Mended] {
            let moved = ran(&settings, &mut policy(rule, Some(25.0)));
            assert!(moved.moved > 1_000);
            let tail = moved.quantile_ms(0.9) / stays.quantile_ms(0.9) - 1.0;
            let energy = joules(&moved) / joules(&stays) - 1.0;
            println!(
                "load {load} {rule:?}: p90 {:+.1} %, energy {:+.1} %",
                tail * 100.0,
                energy * 100.0
            );
            assert!(tail < -0.15, "{load} {rule:?}: {tail}");
            assert!(energy.abs() < 0.15, "{load} {rule:?}: {energy}");
            p90.push(moved.quantile_ms(0.9));
        }
        assert!(p90[1] <= p90[0] * 1.02, "mended is not worse: {p90:?}");
    }
}
