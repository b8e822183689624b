//! Agreement of the slowest of many servers with order statistics and queueing results.

use model::fan_out::{
    FanOut, hedged_exceeds, quantile_ms, server_share, simulate, simulate_hedged,
};
use model::formulas::Mmc;
use model::simulate::{Arrivals, Distribution, Estimate, Split, Times};

const CONFIDENCE: f64 = 0.999;

fn fan_out(servers: usize, rate_per_s: f64, distribution: Distribution) -> FanOut {
    FanOut {
        servers,
        cores: 4,
        arrivals: Arrivals::Poisson { rate_per_s },
        times: Times::Drawn {
            mean_ms: 10.0,
            distribution,
            split: Split::perfect(1),
        },
        queries: 20_000,
        warm_up: 2_000,
        seed: 11,
    }
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * sorted.len() as f64).ceil() as usize - 1]
}

#[test]
fn one_server_is_mmc() {
    let means: Vec<f64> = (0..20)
        .map(|seed| {
            mean(
                &simulate(&FanOut {
                    seed,
                    ..fan_out(1, 280.0, Distribution::Exponential)
                })
                .unwrap()
                .0,
            )
        })
        .collect();
    let exact = Mmc::new(280.0, 100.0, 4).unwrap().response_ms();
    assert!(
        Estimate::of(&means).holds(exact, CONFIDENCE),
        "{means:?} {exact}"
    );
}

#[test]
fn without_queues_the_slowest_follows_order_statistics() {
    // At this low rate queries never meet: the slowest of n exponential times has the mean H_n and the
    // quantiles −ln(1 − q^(1/n)).
    for servers in [1usize, 10, 100, 1_000, 10_000] {
        let queries = if servers > 1_000 { 1_000 } else { 8_000 };
        let settings = FanOut {
            queries,
            warm_up: 0,
            ..fan_out(servers, 0.001, Distribution::Exponential)
        };
        let (slowest, one) = simulate(&settings).unwrap();
        let harmonic: f64 = (1..=servers).map(|k| 1.0 / k as f64).sum();
        // The variance of the slowest time is at most π²/6.
        let sigma = 1.2826 * 10.0 / (queries as f64).sqrt();
        assert!(
            (mean(&slowest) - 10.0 * harmonic).abs() < 4.0 * sigma,
            "{servers}"
        );
        let expected = -10.0 * (1.0 - server_share(0.9, servers)).ln();
        assert!(
            (quantile(&slowest, 0.9) / expected - 1.0).abs() < 0.05,
            "{servers}"
        );
        assert!(one.len() == queries && mean(&one) <= mean(&slowest));
    }
}

#[test]
fn shared_arrivals_make_servers_more_alike_than_independent_ones() {
    for rate in [200.0, 320.0] {
        let settings = fan_out(50, rate, Distribution::Lognormal { cv2: 1.0 });
        let (slowest, one) = simulate(&settings).unwrap();
        for share in [0.5, 0.9] {
            let independent = quantile_ms(&one, 50, share).unwrap();
            let simulated = quantile(&slowest, share);
            assert!(
                simulated < independent * 1.05,
                "{rate} {share}: {simulated} {independent}"
            );
            assert!(
                simulated > independent * 0.5,
                "{rate} {share}: {simulated} {independent}"
            );
        }
    }
}

#[test]
fn hedging_follows_its_formula_where_nothing_queues() {
    let settings = FanOut {
        queries: 100_000,
        warm_up: 0,
        ..fan_out(1, 0.001, Distribution::Exponential)
    };
    let survives = |time: f64| (-time / 10.0).exp();
    let delay = 20.0;
    let hedged = simulate_hedged(&settings, Some(delay)).unwrap();
    assert!(
        (hedged.extra_requests / survives(delay) - 1.0).abs() < 0.05,
        "{}",
        hedged.extra_requests
    );
    for time in [5.0, 15.0, 25.0, 40.0] {
        let beyond = hedged
            .of_one_ms
            .iter()
            .filter(|&&response| response > time)
            .count() as f64
            / 1e5;
        let expected = hedged_exceeds(time, delay, survives);
        let sigma = (expected * (1.0 - expected) / 1e5).sqrt();
        assert!(
            (beyond - expected).abs() < 4.0 * sigma,
            "{time}: {beyond} {expected}"
        );
    }
    let never = simulate_hedged(&settings, None).unwrap();
    assert_eq!((never.extra_requests, never.extra_work), (0.0, 0.0));
}

#[test]
fn hedging_pays_when_little_is_slow_and_costs_when_all_is() {
    // One search in fifty takes thirty times as long, as if delayed by a pause.
    let times = Distribution::Hyperexponential { cv2: 9.0 };
    let p999 = |rate: f64, delay: Option<f64>| {
        let hedged = simulate_hedged(
            &FanOut {
                queries: 40_000,
                ..fan_out(20, rate, times)
            },
            delay,
        )
        .unwrap();
        (
            quantile(&hedged.slowest_ms, 0.99),
            hedged.extra_requests,
            hedged.extra_work,
        )
    };
    let (plain, ..) = p999(200.0, None);
    let (hedged, requests, work) = p999(200.0, Some(40.0));
    assert!(hedged < 0.7 * plain, "{hedged} {plain}");
    assert!(requests < 0.1 && work < 0.1, "{requests} {work}");
    // Near saturation, second requests without a delay worsen all figures.
    let (plain, ..) = p999(700.0, None);
    let (hedged, requests, _) = p999(700.0, Some(0.0));
    assert!(requests > 0.9 && hedged > plain, "{hedged} {plain}");
}

#[test]
fn wrong_settings_are_refused() {
    let good = fan_out(2, 10.0, Distribution::Exponential);
    assert!(
        simulate(&FanOut {
            servers: 0,
            ..good.clone()
        })
        .is_err()
    );
    assert!(
        simulate(&FanOut {
            cores: 0,
            ..good.clone()
        })
        .is_err()
    );
    assert!(
        simulate(&FanOut {
            warm_up: 20_000,
            ..good.clone()
        })
        .is_err()
    );
    assert!(simulate_hedged(&good, Some(-1.0)).is_err());
}
