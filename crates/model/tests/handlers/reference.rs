//! Agreement with a table of the 99th percentile by policy and load, calculated by another program.
//!
//! The assumptions of the table: lognormal times of mean 0.3 ms, 99th percentile 3 ms, longer than 20 ms take 20 ms;
//! Poisson arrivals; ranges of 115 µs; predictions with a deviation of 0.5; a wake-up takes 32 µs, a helper's range
//! 1/0.9 of its time and 5 µs for joining, a further range 0.3 µs.
//!
//! Both programs sample. Here the times are stratified: a random order of quantiles at equal distances, so every run has
//! the exact distribution, and what varies is the order of arrival. That suffices for 3 % except where the comment at a
//! tolerance says so.

use model::handlers::{HandlersSettings, summarise};
use model::simulate::{Arrivals, Order, Searches, Times};
use schedule::board::policy_named;

const LOADS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.8];
const QUERIES: usize = 100_000;
const MEAN_MS: f64 = 0.3;
const DEVIATION: f64 = 1.43;

/// Names of the policies, and the 99th percentile in ms on 2 and on 4 handlers.
#[expect(clippy::approx_constant, reason = "3.14 ms, not π")]
const TABLE: [(&str, [f64; 5], [f64; 5]); 10] = [
    (
        "fifo:1",
        [3.08, 3.58, 5.13, 9.36, 13.5],
        [3.03, 3.06, 3.28, 4.81, 6.83],
    ),
    (
        "fifo:2",
        [2.60, 4.82, 7.43, 12.0, 18.6],
        [1.70, 2.00, 2.96, 5.69, 9.20],
    ),
    (
        "idle-share",
        [2.64, 4.12, 5.75, 9.50, 13.6],
        [1.55, 2.38, 3.14, 4.79, 6.72],
    ),
    (
        "help-and-yield",
        [1.88, 2.75, 4.65, 9.15, 13.4],
        [1.04, 1.35, 1.99, 4.03, 6.33],
    ),
    (
        "help-and-yield:100us",
        [1.92, 2.79, 4.69, 9.16, 13.4],
        [1.11, 1.42, 2.05, 4.08, 6.36],
    ),
    (
        "help-and-yield:300us",
        [2.01, 2.85, 4.73, 9.19, 13.5],
        [1.25, 1.54, 2.15, 4.16, 6.42],
    ),
    (
        "help-and-yield:300us,500us",
        [1.88, 2.75, 4.66, 9.15, 13.4],
        [1.05, 1.36, 1.99, 4.04, 6.34],
    ),
    (
        "sjf",
        [3.08, 3.44, 4.30, 6.39, 8.52],
        [3.03, 3.05, 3.23, 4.08, 5.08],
    ),
    (
        "least-left:alone",
        [3.07, 3.31, 3.85, 5.15, 6.45],
        [3.03, 3.08, 3.27, 3.91, 4.63],
    ),
    (
        "least-left",
        [1.88, 2.37, 3.09, 4.56, 5.87],
        [1.04, 1.35, 1.85, 2.78, 3.65],
    ),
];

#[test]
fn two_handlers() {
    let rows = TABLE.map(|(name, published, _)| (name, p99s_ms(2, name), published));
    check(2, &rows);
    check_targets(&rows, [0.70, 0.65]);
}

#[test]
fn four_handlers() {
    let rows = TABLE.map(|(name, _, published)| (name, p99s_ms(4, name), published));
    check(4, &rows);
    check_targets(&rows, [0.50, 0.65]);
}

/// The other table gives two rows of 16 handlers, and no more digits.
#[test]
fn sixteen_handlers() {
    let sequential = ("fifo:1", [3.05, 3.05, 3.05, 3.1, 3.18]);
    let least_left = ("least-left", [0.51, 0.58, 0.74, 1.14, 1.60]);
    let rows = [sequential, least_left].map(|(name, row)| (name, p99s_ms(16, name), row));
    check(16, &rows);
    let ratios = std::array::from_fn::<_, 5, _>(|load| rows[1].1[load] / rows[0].1[load]);
    assert!(ratios.iter().take(2).all(|&ratio| ratio <= 0.30));
    assert!(ratios.iter().all(|&ratio| ratio <= 0.65));
}

type Row = (&'static str, [f64; 5], [f64; 5]);

/// Compares rows with those of the other program.
fn check(handlers: usize, rows: &[Row]) {
    for (name, ours, published) in rows {
        for (load, (ours, published)) in LOADS.iter().zip(ours.iter().zip(published)) {
            let deviation = ours / published - 1.0;
            assert!(
                deviation.abs() <= tolerance(handlers, name, *load),
                "{name} on {handlers} at {load}: {ours:.3} ms, published {published} ms: {:+.1} %",
                100.0 * deviation
            );
        }
    }
}

/// Returns the greatest relative deviation of a cell: 3 % unless a comment says why more.
fn tolerance(handlers: usize, name: &str, load: f64) -> f64 {
    let is_in_order = name != "least-left" && name != "least-left:alone";
    match name {
        // Ranges of 115 µs cut a query of 1 ms into 9: a range more or less is a tenth.
        "least-left" if handlers == 16 => 0.10,
        // A few long busy periods decide the percentile where every query waits for those before it: runs of 450,000
        // queries differ by 5 % at 0.7, and these have 100,000.
        _ if is_in_order && load >= 0.5 => 0.12,
        // The idle handlers that a query shares are counted when it is cut here, a wake-up after its arrival.
        "idle-share" => 0.065,
        "help-and-yield:300us" => 0.04,
        "least-left:alone" => 0.05,
        _ => 0.03,
    }
}

/// Asserts that least time left with help is at most 1.05 of the best constant degree at every load, and at most these
/// factors of sequential search at loads of 0.3 and less, and above.
fn check_targets(rows: &[Row], [low, high]: [f64; 2]) {
    let row = |name: &str| rows.iter().find(|row| row.0 == name).unwrap().1;
    let (ours, one, two) = (row("least-left"), row("fifo:1"), row("fifo:2"));
    for (idx, load) in LOADS.into_iter().enumerate() {
        assert!(ours[idx] <= 1.05 * one[idx].min(two[idx]), "{load}");
        let factor = if load <= 0.3 { low } else { high };
        assert!(ours[idx] <= factor * one[idx], "{load}");
    }
}

/// Returns the 99th percentiles by load, in ms.
fn p99s_ms(handlers: usize, policy: &str) -> [f64; 5] {
    let policy = policy_named(policy).unwrap();
    let times = stratified_times();
    LOADS.map(|load| {
        let rate_per_s = load * handlers as f64 / MEAN_MS * 1e3;
        let arrivals = Arrivals::Poisson { rate_per_s };
        let mut settings = HandlersSettings::new(handlers, arrivals, times.clone(), QUERIES);
        settings.time_max_ms = Some(20.0);
        settings.costs.range_time_us = Some(115.0);
        let summary = summarise(&settings, 1, &policy).unwrap();
        summary.quantile_ms(0.99).unwrap()
    })
}

/// Returns quantiles of the lognormal distribution at equal distances, in a fixed random order.
fn stratified_times() -> Times {
    let mean = MEAN_MS.ln() - DEVIATION * DEVIATION / 2.0;
    let quantile = |i: usize| {
        let share = (i as f64 + 0.5) / QUERIES as f64;
        (mean + DEVIATION * normal_quantile(share)).exp()
    };
    let mut times: Vec<f64> = (0..QUERIES).map(quantile).collect();
    let mut state = 7u64;
    for i in (1..QUERIES).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        times.swap(i, ((state >> 33) % (i as u64 + 1)) as usize);
    }
    Times::Measured {
        searches: Searches::new(times.into_iter().map(|time_ms| vec![time_ms])).unwrap(),
        order: Order::AsMeasured,
    }
}

/// Returns the quantile of the standard normal distribution within 5e-4 (Abramowitz & Stegun 26.2.23).
fn normal_quantile(share: f64) -> f64 {
    let t = (-2.0 * share.min(1.0 - share).ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    (t - above / below).copysign(share - 0.5)
}
