//! Agreement of the slowest of many servers with order statistics and queueing results.

use model::fan_out::{
    FanOut, IMBALANCE, Slices, alike_exceeds, alike_quantile_ms, hedged_exceeds, quantile_ms,
    server_share, simulate, simulate_hedged,
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
        slices: Slices::Independent,
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

/// Returns the quantiles of a lognormal time of mean 50 and squared variation 2, ascending.
fn lognormal_quantiles(count: usize) -> Vec<f64> {
    let settings = FanOut {
        servers: 1,
        times: Times::Drawn {
            mean_ms: 50.0,
            distribution: Distribution::Lognormal { cv2: 2.0 },
            split: Split::perfect(1),
        },
        queries: count,
        warm_up: 0,
        ..fan_out(1, 1e-6, Distribution::Exponential)
    };
    simulate(&settings).unwrap().0
}

/// Calculated by quadrature: quantiles of T·max Mᵢ for lognormal T of mean 50 and squared variation 2, where
/// Mᵢ is lognormal with mean 1 and σ. Where each slice draws a time of its own, p99 over 100 is 1,422 ms.
const ALIKE: [(usize, f64, [f64; 3]); 4] = [
    (1, 0.05, [28.831, 110.636, 331.158]),
    (10, 0.05, [31.137, 119.365, 356.995]),
    (100, 0.05, [32.683, 125.259, 374.547]),
    (100, 0.2, [46.720, 179.833, 539.718]),
];

#[test]
fn a_query_that_takes_alike_on_all_slices_waits_for_the_fullest() {
    let own_ms = lognormal_quantiles(40_000);
    for (servers, imbalance, expected) in ALIKE {
        for (share, expected) in [0.5, 0.9, 0.99].into_iter().zip(expected) {
            let formula = alike_quantile_ms(&own_ms, servers, imbalance, share).unwrap();
            // The sample of own times is random, of the rest nothing is.
            let case = format!("{servers} {imbalance} {share}: {formula} {expected}");
            assert!((formula / expected - 1.0).abs() < 0.06, "{case}");
            let beyond = alike_exceeds(&own_ms, servers, imbalance, formula);
            assert!((beyond - (1.0 - share)).abs() < 1e-6, "{case}: {beyond}");
        }
    }
}

#[test]
fn simulated_slices_are_alike_as_the_formula_says() {
    let settings = |servers: usize, slices: Slices, rate_per_s: f64| FanOut {
        servers,
        slices,
        times: Times::Drawn {
            mean_ms: 50.0,
            distribution: Distribution::Lognormal { cv2: 2.0 },
            split: Split::perfect(1),
        },
        ..fan_out(servers, rate_per_s, Distribution::Exponential)
    };
    // Without queues, beside the quadrature.
    for (servers, imbalance, expected) in ALIKE {
        let slices = Slices::Alike { imbalance };
        let (slowest, _) = simulate(&settings(servers, slices, 0.001)).unwrap();
        for (share, within) in [(0.5, 0.03), (0.9, 0.05)] {
            let expected = expected[usize::from(share > 0.5)];
            let simulated = quantile(&slowest, share);
            let case = format!("{servers} {imbalance} {share}: {simulated} {expected}");
            assert!((simulated / expected - 1.0).abs() < within, "{case}");
        }
    }
    // With queues, the formula of one server's responses is near, and independence is far above.
    let alike = Slices::Alike {
        imbalance: IMBALANCE,
    };
    let (slowest, one) = simulate(&settings(100, alike, 40.0)).unwrap();
    let formula = alike_quantile_ms(&one, 100, IMBALANCE, 0.99).unwrap();
    let simulated = quantile(&slowest, 0.99);
    assert!(
        (simulated / formula - 1.0).abs() < 0.1,
        "{simulated} {formula}"
    );
    let (apart, _) = simulate(&settings(100, Slices::Independent, 40.0)).unwrap();
    assert!(quantile(&apart, 0.99) > 2.5 * simulated);
}

#[test]
fn without_imbalance_all_slices_are_one() {
    let same = Slices::Alike { imbalance: 0.0 };
    let of = |servers: usize| FanOut {
        slices: same,
        ..fan_out(servers, 280.0, Distribution::Exponential)
    };
    let (slowest, one) = simulate(&of(20)).unwrap();
    assert_eq!(slowest, one);
    assert_eq!(simulate(&of(1)).unwrap().0, one);
}

#[test]
fn hedging_gains_nothing_where_the_query_is_slow_itself() {
    let p99 = |delay: Option<f64>| {
        let settings = FanOut {
            slices: Slices::Alike {
                imbalance: IMBALANCE,
            },
            ..fan_out(20, 1.0, Distribution::Hyperexponential { cv2: 9.0 })
        };
        quantile(&simulate_hedged(&settings, delay).unwrap().slowest_ms, 0.99)
    };
    // Both replicas of a slice take as long for the same query, and nothing queues.
    assert!((p99(Some(40.0)) / p99(None) - 1.0).abs() < 0.01);
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
    for imbalance in [-0.1, 2.1, f64::NAN] {
        let slices = Slices::Alike { imbalance };
        assert!(
            simulate(&FanOut {
                slices,
                ..good.clone()
            })
            .is_err()
        );
    }
}
