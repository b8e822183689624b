//! Boosted order beside the order of arrival and the least time left, for heavy and light tails.

use model::handlers::{HandlersSettings, summarise};
use model::simulate::{Arrivals, Distribution, Split, Times};
use schedule::board::policy_named;

const MEAN_MS: f64 = 0.3;

/// Returns the 99th and the 99.9th percentile on two handlers at a load of 0.7, in ms.
fn quantiles(policy: &str, cv2: f64) -> [f64; 2] {
    let times = Times::Drawn {
        mean_ms: MEAN_MS,
        distribution: Distribution::Lognormal { cv2 },
        split: Split::perfect(1),
    };
    let rate_per_s = 0.7 * 2.0 / MEAN_MS * 1e3;
    let arrivals = Arrivals::Poisson { rate_per_s };
    let mut settings = HandlersSettings::new(2, arrivals, times, 60_000);
    settings.time_max_ms = Some(20.0);
    let summary = summarise(&settings, 3, &policy_named(policy).unwrap()).unwrap();
    [0.99, 0.999].map(|share| summary.quantile_ms(share).unwrap())
}

#[test]
fn boosts_follow_the_tail_of_the_times() {
    for (cv2, of_best) in [(6.73, 1.1), (1.72, 1.25), (0.63, 1.05), (0.17, 1.05)] {
        let [sequential, least_left, boost] =
            ["fifo", "least-left", "boost"].map(|policy| quantiles(policy, cv2));
        let best = sequential[0].min(least_left[0]);
        let what = format!("cv² {cv2}: {sequential:?}, {least_left:?}, {boost:?}");
        assert!(boost[0] <= of_best * best, "{what}");
        // Never behind the order of arrival, and never its price at the 99.9th percentile.
        assert!(boost[0] <= 1.05 * sequential[0], "{what}");
        assert!(boost[1] <= 1.2 * sequential[1], "{what}");
    }
    // Which order is best depends on the tail: neither would do alone.
    assert!(quantiles("least-left", 6.73)[0] < 0.7 * quantiles("fifo", 6.73)[0]);
    assert!(quantiles("least-left", 0.17)[0] > 1.2 * quantiles("fifo", 0.17)[0]);
}
