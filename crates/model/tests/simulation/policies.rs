//! Effect of deadlines, disturbances and policies in simulated runs.

use crate::support::{drawn, exponential, poisson, ran};
use model::energy::{CorePower, estimate};
use model::simulate::assignment::{Assignment, Fifo, Idle, IdleShare, Load, Query, Running, Swap};
use model::simulate::{
    Distribution, Disturbances, Layout, Machine, NextCore, Report, Settings, Split,
};

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
        // Work that starts within the deadline ends within one part time: rarely 10 times the mean.
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
    // A core is disturbed for about 0.02/s · 5 s = 10 % of the time (a little less, as disturbances
    // overlap), and searches then take 3 times as long.
    let ratio = ran(&settings(3.0), &mut Fifo { degree: 1 }).response_ms() / 10.0;
    assert!((1.13..1.23).contains(&ratio), "{ratio}");
}

/// Policy that moves long-running work from a little core to the big one.
struct Hurry;

impl Assignment for Hurry {
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

/// Policy that makes the same choices but moves no work.
struct Stay;

impl Assignment for Stay {
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
    // The big core works for more of the time, and draws more power.
    let share = |report: &Report| report.core_busy_ms[0] / report.core_busy_ms.iter().sum::<f64>();
    assert!(share(&hurry) > share(&stay));
    let power = |busy_watts| CorePower {
        busy_watts,
        idle_watts: 0.1,
    };
    let powers = [power(2.0), power(0.3), power(0.3), power(0.3)];
    let energy = |report: &Report| estimate(&report.activity(), &powers, 1.0).unwrap();
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
    assert!(estimate(&stay.activity(), &powers[1..], 1.0).is_err());
    // Moves among equal cores change only the core numbers.
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
    // A degree of 1 gives a queue of whole queries.
    let whole = drawn(40.0, Distribution::Exponential, Split::perfect(1));
    let one_part = Settings::new(Machine::of_cores(8), poisson(100.0), whole, 60_000);
    let expected = ran(&one_part, &mut Fifo { degree: 1 }).quantile_ms(0.99);
    assert!((p99(100.0, &mut fixed(1)) / expected - 1.0).abs() < 1e-6);
    // The policy uses a wide degree while cores are idle.
    assert!(p99(20.0, &mut adaptive) < 0.5 * p99(20.0, &mut fixed(1)));
}
