//! Bound on the wait of a query while others run.

use model::handlers::{HandlersReport, HandlersSettings, run};
use model::simulate::{Arrivals, Order, Searches, Times};
use schedule::board::policy_named;

const SHORT_MS: f64 = 0.1;
const LONG_MS: f64 = 20.0;

/// Returns the run of one long query beside short ones that fill 98 % of one handler, whose order of least time left
/// would end the long one last.
fn run_of(deadline_ms: Option<f64>, parked_max_ms: Option<f64>) -> HandlersReport {
    let times: Vec<f64> = (0..4000)
        .map(|number| if number == 10 { LONG_MS } else { SHORT_MS })
        .collect();
    let times = Times::Measured {
        searches: Searches::new(times.into_iter().map(|time_ms| vec![time_ms])).unwrap(),
        order: Order::AsMeasured,
    };
    let rate_per_s = 0.98e3 / SHORT_MS;
    let arrivals = Arrivals::Constant { rate_per_s };
    let mut settings = HandlersSettings::new(1, arrivals, times, 4000);
    settings.warm_up = 0;
    settings.costs.prediction_deviation = 0.0;
    settings.costs.range_time_us = Some(100.0);
    settings.costs.wake_us = 0.0;
    settings.deadline_ms = deadline_ms;
    settings.parked_max_ms = parked_max_ms;
    run(&settings, &policy_named("least-left").unwrap()).unwrap()
}

#[test]
fn long_queries_starve_without_a_bound_and_not_with_one() {
    let longest_ms = |report: &HandlersReport| report.responses_ms[report.responses_ms.len() - 1];
    // 4000 queries take 408 ms, and the long one runs in the pauses between the short ones.
    let unbounded = run_of(None, None);
    assert!(longest_ms(&unbounded) > 350.0, "{}", longest_ms(&unbounded));
    // Bounded: the wait, one range of another query, and its own time.
    let range_ms = 0.1;
    let bounded = run_of(None, Some(30.0));
    assert!(longest_ms(&bounded) > 40.0);
    assert!(longest_ms(&bounded) < 30.0 + range_ms + 1.02 * LONG_MS);
    // A tenth of the deadline is the bound where none is given.
    let by_deadline = run_of(Some(200.0), None);
    assert!(longest_ms(&by_deadline) < 20.0 + range_ms + 1.02 * LONG_MS);
    assert_eq!(by_deadline.expired, 0);
}
