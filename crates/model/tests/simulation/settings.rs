//! Reproducibility by seed and refusal of invalid settings.

use crate::support::{drawn, exponential, fifo, poisson, ran};
use model::simulate::assignment::Fifo;
use model::simulate::{
    Core, Distribution, Layout, Machine, Order, Searches, Settings, Split, Times, run, summarise,
};

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
    // Arrivals do not depend on the search times.
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
    // 3 and 9 ms of work: once divided evenly, once with one partition of three times the other.
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
