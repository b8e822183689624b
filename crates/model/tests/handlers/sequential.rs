//! Agreement of one handler a query with the simulator of machines and with exact formulas.

use model::formulas::Mmc;
use model::handlers::{HandlersSettings, run, summarise};
use model::simulate::assignment::Fifo;
use model::simulate::{
    Arrivals, Distribution, Machine, Settings, Split, Times, run as run_machine,
};
use schedule::board::policy_named;

fn drawn(distribution: Distribution) -> Times {
    Times::Drawn {
        mean_ms: 0.3,
        distribution,
        split: Split::perfect(1),
    }
}

#[test]
fn responses_are_those_of_the_simulator_of_machines() {
    for (handlers, load) in [(1, 0.6), (2, 0.8), (4, 0.5), (16, 0.9)] {
        let rate_per_s = load * handlers as f64 / 0.3e-3;
        let arrivals = Arrivals::Poisson { rate_per_s };
        let times = drawn(Distribution::Lognormal { cv2: 6.7 });
        let mut settings = HandlersSettings::new(handlers, arrivals.clone(), times.clone(), 20_000);
        settings.costs.wake_us = 0.0;
        let board = run(&settings, &policy_named("fifo:1").unwrap()).unwrap();
        let machine = Settings::new(Machine::of_cores(handlers), arrivals, times, 20_000);
        let machine = run_machine(&machine, &mut Fifo { degree: 1 }).unwrap();
        assert_eq!(board.responses_ms.len(), machine.responses_ms.len());
        for (ours, theirs) in board.responses_ms.iter().zip(&machine.responses_ms) {
            // Instants are whole ns here.
            assert!((ours - theirs).abs() < 1e-3, "{ours} and {theirs}");
        }
    }
}

#[test]
fn waits_are_those_of_mmc() {
    for (handlers, load) in [(2, 0.7), (8, 0.8)] {
        let rate_per_s = load * handlers as f64 / 0.3e-3;
        let times = drawn(Distribution::Exponential);
        let arrivals = Arrivals::Poisson { rate_per_s };
        let mut settings = HandlersSettings::new(handlers, arrivals, times, 40_000);
        settings.costs.wake_us = 0.0;
        let summary = summarise(&settings, 10, &policy_named("fifo").unwrap()).unwrap();
        let exact = Mmc::new(rate_per_s, 1e3 / 0.3, handlers).unwrap();
        for share in [0.5, 0.9, 0.99] {
            let estimate = summary.spread_ms(share).unwrap();
            let expected_ms = exact.response_quantile_ms(share);
            assert!(
                estimate.holds(expected_ms, 0.999),
                "{expected_ms} is not within {} ± {}",
                estimate.mean,
                estimate.half_width(0.999)
            );
        }
        assert!((summary.utilisation() / load - 1.0).abs() < 0.02);
        assert_eq!(summary.helps + summary.parked + summary.expired, 0);
    }
}
