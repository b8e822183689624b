//! Agreement of the formulas with published or precalculated numbers, to the last printed digit.

use model::formulas::fork_join::fork_join;
use model::formulas::general::{
    allen_cunneen_wait_ms, lognormal_parameters, pollaczek_khinchine_wait_ms,
};
use model::formulas::scenarios::independent_parts_speed_up;
use model::formulas::{
    Closed, Crossing, Dmc, Machine, Mmc, Scenario, constant_service, crossing, erlang_b,
};

/// Asserts that `got` rounds to a number printed with `decimals` decimals.
#[track_caller]
fn printed(got: f64, expected: f64, decimals: i32) {
    let half = 0.5001 * 10f64.powi(-decimals);
    assert!((got - expected).abs() <= half, "{got} is not {expected}");
}

#[track_caller]
fn exactly(got: f64, expected: f64) {
    assert!(
        (got / expected - 1.0).abs() < 1e-9,
        "{got} is not {expected}"
    );
}

/// The machine of Antoniou 2019, figure 2.2.
const THESIS: Machine = Machine {
    cores: 8,
    service_per_s: 20.0,
    smt_slowdown: 1.5,
    partitions: 2,
    speed_up: 2.0,
};

#[test]
fn the_four_scenarios() {
    // servers, ρ, C, Wq, S, W, Lq, L, W p50, p90, p95, p99, p99.9, Wq p95, p99
    type Row = (usize, f64, f64, f64, f64, f64, f64, f64, [f64; 5], [f64; 2]);
    let rows: [Row; 4] = [
        (
            8,
            0.9375,
            0.807252546,
            80.725255,
            50.0,
            130.725255,
            12.108788,
            19.608788,
            [102.540, 275.716, 346.276, 508.183, 738.655],
            [278.161, 439.105],
        ),
        (
            16,
            0.703125,
            0.133673408,
            2.110633,
            75.0,
            77.110633,
            0.316595,
            11.566595,
            [54.443, 175.320, 227.307, 348.015, 520.709],
            [15.527, 40.939],
        ),
        (
            4,
            0.9375,
            0.865029731,
            86.502973,
            25.0,
            111.502973,
            12.975446,
            16.725446,
            [82.457, 244.519, 313.841, 474.786, 705.045],
            [285.074, 446.018],
        ),
        (
            8,
            0.703125,
            0.275585797,
            4.351355,
            37.5,
            41.851355,
            0.652703,
            6.277703,
            [30.760, 92.990, 119.111, 179.536, 265.891],
            [26.951, 52.363],
        ),
    ];
    for (scenario, row) in Scenario::ALL.into_iter().zip(rows) {
        let queue = THESIS.queue(scenario, 150.0).unwrap();
        assert_eq!(queue.servers(), row.0);
        printed(queue.utilisation(), row.1, 6);
        printed(queue.p_wait(), row.2, 9);
        printed(queue.wait_ms(), row.3, 6);
        printed(queue.service_ms(), row.4, 6);
        printed(queue.response_ms(), row.5, 6);
        printed(queue.queue_length(), row.6, 6);
        printed(queue.in_system(), row.7, 6);
        for (share, expected) in [0.5, 0.9, 0.95, 0.99, 0.999].into_iter().zip(row.8) {
            printed(queue.response_quantile_ms(share), expected, 3);
        }
        for (share, expected) in [0.95, 0.99].into_iter().zip(row.9) {
            printed(queue.wait_quantile_ms(share), expected, 3);
        }
    }
}

#[test]
fn what_smt_and_partitions_save() {
    let [none, smt, part, both] =
        Scenario::ALL.map(|scenario| THESIS.queue(scenario, 150.0).unwrap());
    printed(none.response_ms() - smt.response_ms(), 53.61, 2);
    printed(none.response_ms() - part.response_ms(), 19.22, 2);
    printed(none.response_ms() - both.response_ms(), 88.87, 2);
    printed(none.wait_ms() - smt.wait_ms(), 78.6, 1);
    exactly(smt.service_ms() - none.service_ms(), 25.0);
    exactly(none.service_ms() - part.service_ms(), 25.0);
    printed(part.wait_ms() - none.wait_ms(), 5.8, 1);
}

#[test]
fn exact_rationals() {
    let p_wait = |rate: f64, servers| Mmc::new(rate, 1.0, servers).unwrap().p_wait();
    exactly(p_wait(1.0, 2), 1.0 / 3.0);
    exactly(p_wait(1.5, 2), 9.0 / 14.0);
    exactly(p_wait(2.0, 3), 4.0 / 9.0);
    exactly(p_wait(3.0, 4), 27.0 / 53.0);
    exactly(p_wait(4.0, 5), 128.0 / 231.0);
    exactly(p_wait(3.75, 4), 16875.0 / 19508.0);
}

#[test]
fn the_table_of_erlang() {
    let rows = [
        (1, 0.5, 0.333333333333, 0.5, 1.0),
        (1, 0.8, 0.444444444444, 0.8, 4.0),
        (1, 0.9, 0.473684210526, 0.9, 9.0),
        (2, 0.5, 0.2, 0.333333333333, 0.3333333333),
        (2, 0.75, 0.310344827586, 0.642857142857, 1.2857142857),
        (3, 2.0 / 3.0, 0.210526315789, 0.444444444444, 0.4444444444),
        (4, 0.75, 0.206106870229, 0.509433962264, 0.5094339623),
        (5, 0.8, 0.199066874028, 0.554112554113, 0.5541125541),
        (8, 0.5, 0.030420058226, 0.059043994695, 0.0147609987),
        (8, 0.75, 0.121875783666, 0.356981085879, 0.1784905429),
        (10, 0.8, 0.121661064253, 0.409180150796, 0.2045900754),
        (16, 0.9, 0.126411893933, 0.591343393872, 0.3695896212),
        (20, 0.9, 0.109212845873, 0.550769004816, 0.2753845024),
        (50, 0.9, 0.054104472165, 0.363864467207, 0.0727728934),
        (100, 0.9, 0.026957380464, 0.216940480906, 0.0216940481),
        (100, 0.95, 0.048804206179, 0.506456853913, 0.1012913708),
    ];
    for (servers, utilisation, b, c, wait) in rows {
        let offered = servers as f64 * utilisation;
        let queue = Mmc::new(offered, 1.0, servers).unwrap();
        printed(erlang_b(servers, offered), b, 12);
        printed(queue.p_wait(), c, 12);
        printed(queue.wait_ms() / 1e3, wait, 10);
        printed(queue.response_ms() / 1e3, wait + 1.0, 10);
        exactly(queue.p_blocked(), erlang_b(servers, offered));
    }
}

#[test]
fn pollaczek_and_khinchine() {
    let variations = [0.0, 0.25, 0.5, 1.0, 4.0];
    let rows = [
        (0.5, [0.5, 0.625, 0.75, 1.0, 2.5]),
        (0.7, [7.0 / 6.0, 35.0 / 24.0, 1.75, 7.0 / 3.0, 35.0 / 6.0]),
        (0.8, [2.0, 2.5, 3.0, 4.0, 10.0]),
        (0.9, [4.5, 5.625, 6.75, 9.0, 22.5]),
        (0.95, [9.5, 11.875, 14.25, 19.0, 47.5]),
    ];
    for (rate, waits) in rows {
        for (cv2, expected) in variations.into_iter().zip(waits) {
            exactly(
                pollaczek_khinchine_wait_ms(rate, 1.0, cv2).unwrap() / 1e3,
                expected,
            );
        }
    }
    for (cv2, sigma) in [
        (0.5, 0.636761),
        (1.0, 0.832555),
        (2.0, 1.048147),
        (4.0, 1.268636),
    ] {
        let (mu, got) = lognormal_parameters(1.0, cv2);
        printed(got, sigma, 6);
        exactly(mu, -got * got / 2.0);
    }
}

#[test]
fn constant_searches_and_the_error_of_allen_and_cunneen() {
    let utilisations = [0.5, 0.8, 0.9, 0.9375, 0.95];
    let rows = [
        (1, [0.5, 2.0, 4.5, 7.5, 9.5], [0.0, 0.0, 0.0, 0.0, 0.0]),
        (
            2,
            [0.176741, 0.903284, 2.146923, 3.644680, 4.643948],
            [-5.7, -1.6, -0.7, -0.4, -0.3],
        ),
        (
            4,
            [0.049652, 0.386095, 0.999966, 1.745988, 2.244684],
            [-12.4, -3.5, -1.5, -0.9, -0.7],
        ),
        (
            8,
            [0.009321, 0.151954, 0.449973, 0.819677, 1.067929],
            [-20.8, -5.9, -2.6, -1.5, -1.2],
        ),
        (
            16,
            [0.000810, 0.052548, 0.192467, 0.373764, 0.496693],
            [-30.4, -9.3, -4.0, -2.3, -1.8],
        ),
    ];
    for (servers, waits, errors) in rows {
        for ((utilisation, wait), error) in utilisations.into_iter().zip(waits).zip(errors) {
            let rate = servers as f64 * utilisation;
            let exact = constant_service::wait_ms(rate, 1.0, servers).unwrap() / 1e3;
            printed(exact, wait, 6);
            let about = allen_cunneen_wait_ms(rate, 1.0, servers, 1.0, 0.0).unwrap() / 1e3;
            printed(100.0 * (about / exact - 1.0), error, 1);
        }
    }
    // Erlang-2 and hyperexponential searches; the exact waits follow from their Markov chains.
    let rows = [
        (1, 160.0, 150.0, 70.3125, 0.0, 234.3750, 0.0),
        (2, 80.0, 150.0, 68.1729, -0.19, 224.5859, 0.99),
        (4, 40.0, 150.0, 65.1489, -0.42, 211.4940, 2.25),
        (8, 20.0, 150.0, 60.9757, -0.71, 194.0727, 3.99),
    ];
    for (servers, service, rate, erlang, erlang_error, hyper, hyper_error) in rows {
        let about = |cv2| allen_cunneen_wait_ms(rate, service, servers, 1.0, cv2).unwrap();
        printed(100.0 * (about(0.5) / erlang - 1.0), erlang_error, 2);
        printed(100.0 * (about(4.0) / hyper - 1.0), hyper_error, 2);
    }
    let about = |cv2| allen_cunneen_wait_ms(120.0, 20.0, 8, 1.0, cv2).unwrap();
    printed(100.0 * (about(0.5) / 6.9235 - 1.0), -3.3, 1);
    printed(100.0 * (about(4.0) / 18.5029 - 1.0), 20.6, 1);
}

#[test]
fn constant_arrivals() {
    let rows = [
        (0.5, 0.255001),
        (0.8, 1.692731),
        (0.9, 4.178659),
        (0.9375, 7.173945),
        (0.95, 9.172434),
    ];
    for (rate, wait) in rows {
        printed(Dmc::new(rate, 1.0, 1).unwrap().wait_ms / 1e3, wait, 6);
    }
    let rows = [
        (20.0, 8, 36.1380, 0.707380),
        (40.0 / 3.0, 16, 0.2707, 0.030509),
        (40.0, 4, 39.9521, 0.782038),
        (80.0 / 3.0, 8, 0.9388, 0.105787),
    ];
    for (service, servers, wait, p_wait) in rows {
        let queue = Dmc::new(150.0, service, servers).unwrap();
        printed(queue.wait_ms, wait, 4);
        printed(queue.p_wait, p_wait, 6);
    }
}

#[test]
fn closed_loops() {
    let rows = [
        (32, 500.0, 58.176573, 50.05, 0.3636),
        (64, 500.0, 115.382438, 54.677, 0.7211),
        (8, 0.0, 160.0, 50.0, 1.0),
        (16, 0.0, 160.0, 100.0, 1.0),
    ];
    for (clients, think_ms, throughput, response, utilisation) in rows {
        let closed = Closed::new(clients, think_ms, 20.0, 8).unwrap();
        printed(closed.throughput_per_s, throughput, 6);
        printed(closed.response_ms, response, 2);
        printed(closed.utilisation, utilisation, 4);
    }
}

#[test]
fn perfect_splits_never_lose() {
    for (parts, response) in [(1, 130.725), (2, 111.503), (4, 103.226), (8, 100.0)] {
        let queue = Mmc::new(150.0, 20.0 * f64::from(parts), 8 / parts as usize).unwrap();
        printed(queue.response_ms(), response, 3);
        let whole = |rate| Mmc::new(rate, 20.0, 8);
        let split = |rate| Mmc::new(rate, 20.0 * f64::from(parts), 8 / parts as usize);
        assert_eq!(
            crossing(Mmc::response_ms, split, whole),
            Ok(Crossing::FirstAlways)
        );
    }
}

#[test]
fn rates_at_which_smt_begins_to_pay() {
    let check = |slowdown: f64, whole: f64, split: f64| {
        let machine = Machine {
            smt_slowdown: slowdown,
            ..THESIS
        };
        for (partitioned, expected) in [(false, whole), (true, split)] {
            let queue = |smt| move |rate| machine.queue(Scenario { smt, partitioned }, rate);
            let Ok(Crossing::FirstBelow(rate)) =
                crossing(Mmc::response_ms, queue(false), queue(true))
            else {
                panic!("no crossing at {slowdown}");
            };
            printed(rate, expected, 2);
        }
    };
    check(1.2, 122.01, 98.84);
    check(1.3, 128.91, 108.65);
    check(1.5, 137.21, 121.60);
    check(1.7, 142.88, 131.40);
    check(1.9, 149.18, 142.65);
    let smt_alone = |rate| THESIS.queue(Scenario::ALL[1], rate);
    let part_alone = |rate| THESIS.queue(Scenario::ALL[2], rate);
    let Ok(Crossing::SecondBelow(rate)) = crossing(Mmc::response_ms, smt_alone, part_alone) else {
        panic!("no crossing");
    };
    printed(rate, 144.566, 3);
}

#[test]
fn rates_at_which_partitions_cease_to_pay() {
    let check = |partitions: usize, speed_up: f64, expected: f64| {
        let machine = Machine {
            partitions,
            speed_up,
            ..THESIS
        };
        let queue = |partitioned| {
            move |rate| {
                machine.queue(
                    Scenario {
                        smt: false,
                        partitioned,
                    },
                    rate,
                )
            }
        };
        let Ok(Crossing::FirstBelow(rate)) = crossing(Mmc::response_ms, queue(true), queue(false))
        else {
            panic!("no crossing for {partitions} parts, {speed_up}");
        };
        printed(rate, expected, 2);
    };
    let of_two = [
        (1.95, 143.53),
        (1.9, 135.52),
        (1.8, 122.77),
        (1.7, 111.69),
        (1.6, 101.30),
        (1.5, 91.20),
        (1.4, 81.08),
    ];
    for (speed_up, rate) in of_two {
        check(2, speed_up, rate);
    }
    let of_more = [
        (0.95, 138.76, 139.64),
        (0.9, 127.35, 128.57),
        (0.8, 108.11, 109.81),
        (0.7, 90.54, 92.68),
        (0.6, 73.55, 76.22),
        (0.5, 56.62, 60.05),
    ];
    for (efficiency, of_four, of_eight) in of_more {
        check(4, 4.0 * efficiency, of_four);
        check(8, 8.0 * efficiency, of_eight);
    }
    for (parts, speed_up, rate) in [(2, 1.333, 74.17), (4, 1.920, 53.20), (8, 2.943, 38.87)] {
        printed(independent_parts_speed_up(parts), speed_up, 3);
        check(parts, independent_parts_speed_up(parts), rate);
    }
}

#[test]
fn responses_over_rates() {
    let rows = [
        (80.0, [50.738, 75.004, 27.174, 37.597]),
        (100.0, [52.788, 75.044, 30.331, 37.877]),
        (120.0, [58.925, 75.267, 37.736, 38.613]),
        (140.0, [81.766, 76.123, 61.893, 40.317]),
        (155.0, [230.217, 77.854, 211.315, 42.895]),
    ];
    for (rate, responses) in rows {
        for (scenario, expected) in Scenario::ALL.into_iter().zip(responses) {
            printed(
                THESIS.queue(scenario, rate).unwrap().response_ms(),
                expected,
                3,
            );
        }
    }
}

#[test]
fn forks_and_joins() {
    let mean = |rate: f64, tasks| fork_join(rate, 1.0, tasks).unwrap().response_ms / 1e3;
    exactly(mean(0.5, 1), 2.0);
    exactly(mean(0.5, 2), 2.875);
    exactly(mean(0.8, 2), 7.0);
    printed(mean(0.5, 4), 3.789773, 6);
    printed(mean(0.5, 8), 4.784821, 6);
    printed(mean(0.8, 4), 8.930303, 6);
    printed(mean(0.8, 8), 11.03, 2);
    for tasks in [1, 2, 5, 32] {
        let bounds = fork_join(0.8, 1.0, tasks).unwrap();
        assert!(bounds.response_ms_min <= bounds.response_ms, "{bounds:?}");
        assert!(
            bounds.response_ms <= bounds.response_ms_max * (1.0 + 1e-12),
            "{bounds:?}"
        );
    }
}

#[test]
fn too_much_load_is_an_error_and_ten_thousand_servers_are_none() {
    for rate in [160.0, 161.0, f64::NAN, f64::INFINITY, -1.0] {
        let error = Mmc::new(rate, 20.0, 8).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
    let error = Mmc::new(160.0, 20.0, 8).unwrap_err().to_string();
    assert!(
        error.contains("utilisation 1.000") && error.contains("add servers"),
        "{error}"
    );
    assert!(Mmc::new(1.0, 20.0, 0).is_err() && Mmc::new(1.0, 0.0, 1).is_err());
    let mut last = 0.0;
    for spare in [1e-2, 1e-4, 1e-6, 1e-9, 1e-12] {
        let queue = Mmc::new(10_000.0 * (1.0 - spare), 1.0, 10_000).unwrap();
        assert!((0.0..=1.0).contains(&queue.p_wait()));
        // P(wait) → 1, and the wait → 1/(spare of 10,000 servers).
        let scaled = queue.wait_ms() / 1e3 * 10_000.0 * spare;
        assert!(scaled <= 1.0 + 1e-3 && scaled >= last, "{spare} {scaled}");
        last = scaled;
        let p99 = queue.response_quantile_ms(0.99);
        assert!((queue.response_exceeds(p99) - 0.01).abs() < 1e-9);
    }
    assert!(last > 0.999);
}
