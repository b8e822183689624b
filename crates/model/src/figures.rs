//! Published figures beside the computed ones.
//!
//! Series for the report of the laboratory: computed values, with the published ones where they were
//! published as numbers. Sources: Antoniou 2019 (thesis; figures 2.2 to 2.4) and Hadjilambrou et al.,
//! ACM TACO 16(2), 2019 (figures 15 and 19).

use crate::costs::{Costs, Server};
use crate::error::ModelError;
use crate::formulas::{Machine, Mmc, Scenario};
use crate::simulate::{self, Arrivals, Distribution, Settings, Split, Times, summarise};
use schedule::policy::Fifo;
use serde::Serialize;

/// A point on a curve, or a bar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Position on the x axis; the index of the bar if `label` is set.
    pub x: f64,
    /// Name of a bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Computed value; `None` if there is none, for example in overload.
    pub ours: Option<f64>,
    /// Published value, if it was published as a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
}

/// One curve, or one row of bars, of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name of the figure.
    pub figure: &'static str,
    /// Title of the figure.
    pub title: &'static str,
    /// Name of the curve.
    pub name: String,
    /// Quantity on the x axis, with its unit.
    pub x: &'static str,
    /// Quantity on the y axis, with its unit.
    pub y: &'static str,
    /// Assumptions behind the series.
    pub note: String,
    /// Points in order of x.
    pub points: Vec<Point>,
}

/// Machine of Antoniou 2019: 8 cores of 20 queries/s, SMT slower by 1.5, 2 partitions.
pub const THESIS: Machine = Machine {
    cores: 8,
    service_per_s: 20.0,
    smt_slowdown: 1.5,
    partitions: 2,
    speed_up: 2.0,
};
const THESIS_RATE_PER_S: f64 = 150.0;
const THESIS_NOTE: &str =
    "M/M/c: 8 cores of 20 queries/s, SMT slower by 1.5, 2 partitions, perfect split";

fn bar(x: usize, label: &str, ours: f64, published: Option<f64>) -> Point {
    Point {
        x: x as f64,
        label: Some(label.to_owned()),
        ours: Some(ours),
        published,
    }
}

/// Returns figure 2.2 of Antoniou 2019: waits and responses of the four scenarios at 150 queries/s, and
/// the savings of each.
///
/// # Errors
/// None in practice: the parameters are fixed and within range.
pub fn thesis_scenarios() -> Result<Vec<Series>, ModelError> {
    let queues = Scenario::ALL.map(|scenario| THESIS.queue(scenario, THESIS_RATE_PER_S));
    let baseline_ms = queues[0].clone()?.response_ms();
    type Figure<'a> = (&'a str, &'a dyn Fn(&Mmc) -> f64, [Option<f64>; 4]);
    let figures: [Figure<'_>; 3] = [
        (
            "response",
            &Mmc::response_ms,
            [Some(130.0), None, None, None],
        ),
        ("wait", &Mmc::wait_ms, [Some(80.0), None, None, None]),
        (
            "saved",
            &|queue| baseline_ms - queue.response_ms(),
            [None, Some(53.0), Some(19.0), Some(89.0)],
        ),
    ];
    let mut list = Vec::new();
    for (name, of, published) in figures {
        let mut points = Vec::new();
        for (idx, queue) in queues.iter().enumerate() {
            let ours = of(queue.as_ref().map_err(Clone::clone)?);
            points.push(bar(idx, Scenario::ALL[idx].name(), ours, published[idx]));
        }
        list.push(Series {
            figure: "Antoniou 2019, 2.2",
            title: "mean times of the four scenarios at 150 queries/s",
            name: name.to_owned(),
            x: "scenario",
            y: "ms",
            note: THESIS_NOTE.to_owned(),
            points,
        });
    }
    Ok(list)
}

/// Returns figures 2.3 and 2.4 of Antoniou 2019: the same quantities over arrival rates and over SMT
/// slow-downs. No published numbers are available for these.
pub fn thesis_sweeps() -> Vec<Series> {
    let mut list = Vec::new();
    for scenario in Scenario::ALL {
        let points = (1..=21).map(|step| {
            let rate = 10.0 * f64::from(step);
            point(
                rate,
                THESIS
                    .queue(scenario, rate)
                    .ok()
                    .map(|queue| queue.response_ms()),
            )
        });
        list.push(Series {
            figure: "Antoniou 2019, 2.3",
            title: "mean response over arrival rates",
            name: scenario.name().to_owned(),
            x: "queries/s",
            y: "ms",
            note: THESIS_NOTE.to_owned(),
            points: points.collect(),
        });
    }
    for scenario in Scenario::ALL {
        let points = (0..=20).map(|step| {
            let smt_slowdown = 1.0 + 0.05 * f64::from(step);
            let machine = Machine {
                smt_slowdown,
                ..THESIS
            };
            let queue = machine.queue(scenario, THESIS_RATE_PER_S).ok();
            point(smt_slowdown, queue.map(|queue| queue.response_ms()))
        });
        list.push(Series {
            figure: "Antoniou 2019, 2.4",
            title: "mean response at 150 queries/s over SMT slow-downs",
            name: scenario.name().to_owned(),
            x: "SMT slow-down",
            y: "ms",
            note: THESIS_NOTE.to_owned(),
            points: points.collect(),
        });
    }
    list
}

fn point(x: f64, ours: Option<f64>) -> Point {
    Point {
        x,
        label: None,
        ours,
        published: None,
    }
}

/// Mean search time, in ms, at which 8 cores carry 320 queries/s, the highest rate of figure 15.
pub const MEAN_MS: f64 = 24.0;

/// Returns search times of the published shape (figure 4: 99th percentile 7.4 times the mean) with the
/// mean [`MEAN_MS`].
pub fn published_shape(split: Split) -> Times {
    Times::Drawn {
        mean_ms: MEAN_MS,
        distribution: Distribution::Lognormal { cv2: 2.66 },
        split,
    }
}

/// Returns figure 15 of Hadjilambrou et al. 2019: simulated p99 of two partitions with a speed-up of
/// 1.8, 1.9 and 2, beside the unpartitioned server, over 10 to 320 queries/s. `searches` are measured
/// times of whole queries, or `None` for [`published_shape`].
///
/// The publication says in words: with a speed-up of 2.0 partitioning never loses; below it the curves
/// cross, the earlier the lower the speed-up.
///
/// # Errors
/// [`ModelError`] if a setting is out of range.
pub fn partition_tails(
    searches: Option<&simulate::Searches>,
    cores: usize,
    queries: usize,
    runs: usize,
) -> Result<Vec<Series>, ModelError> {
    let mut list = Vec::new();
    for (name, parts, speed_up) in [
        ("1 partition", 1, 1.0),
        ("2 partitions, speed-up 1.8", 2, 1.8),
        ("2 partitions, speed-up 1.9", 2, 1.9),
        ("2 partitions, speed-up 2", 2, 2.0),
    ] {
        let split = Split {
            parts,
            speed_up,
            independent: false,
        };
        let times = match searches {
            Some(searches) => Times::Measured {
                searches: searches.resplit(split)?,
                order: simulate::Order::Shuffled,
            },
            None => published_shape(split),
        };
        let mut points = Vec::new();
        for step in 0..=31 {
            let rate_per_s = 10.0 + 10.0 * f64::from(step);
            let arrivals = Arrivals::Poisson { rate_per_s };
            let settings = Settings::new(
                simulate::Machine::of_cores(cores),
                arrivals,
                times.clone(),
                queries,
            );
            let summary = summarise(&settings, runs, || Fifo { degree: parts })?;
            let ours = summary
                .quantile_ms(0.99)
                .filter(|_| !summary.is_overloaded());
            points.push(point(rate_per_s, ours));
        }
        list.push(Series {
            figure: "Hadjilambrou et al. 2019, 15",
            title: "99th percentile with and without partitions",
            name: name.to_owned(),
            x: "queries/s",
            y: "ms",
            note: match searches {
                Some(_) => format!("simulated from measured search times, {cores} cores"),
                None => format!(
                    "simulated, lognormal search times, mean 24 ms, cv² 2.66, {cores} cores"
                ),
            },
            points,
        });
    }
    Ok(list)
}

/// Returns figure 19 of Hadjilambrou et al. 2019: the acceptable price of servers of 1.6 GHz. A single,
/// dual and quad server answers half, as many and twice as many queries as the baseline (one processor
/// of 2.4 GHz at $616, 80 W and 30 W against 34 W and 13 W). x is the price of all processors of a
/// server; y is the cost of the fleet over that of the baseline.
///
/// # Errors
/// None in practice: `costs` has already been checked.
pub fn slow_processors(costs: &Costs) -> Result<Vec<Series>, ModelError> {
    let Some(baseline) = costs.servers.get(&costs.baseline) else {
        return Err(ModelError::Costs("there is no baseline".to_owned()));
    };
    let kinds = [
        ("single", 1, 0.5, 200.0),
        ("dual", 2, 1.0, 600.0),
        ("quad", 4, 2.0, 1500.0),
    ];
    let note =
        "all of a server but its processors as in the costs; half, equal and double throughput";
    let per_query = |server: &Server| {
        costs.yearly(server, 1.0, server.utilisation).total() / server.queries_per_s
    };
    let (mut list, mut break_even) = (Vec::new(), Vec::new());
    for (idx, (name, processors, throughput, published)) in kinds.into_iter().enumerate() {
        let server = Server {
            processors,
            processor_peak_watts: 34.0,
            processor_idle_watts: 13.0,
            queries_per_s: baseline.queries_per_s * throughput,
            ..*baseline
        };
        let points = (0..=20).map(|step| {
            let price = 100.0 * f64::from(step);
            let priced = Server {
                processor_price: price / f64::from(processors),
                ..server
            };
            point(price, Some(per_query(&priced) / per_query(baseline)))
        });
        list.push(Series {
            figure: "Hadjilambrou et al. 2019, 19",
            title: "cost of servers of 1.6 GHz over that of 2.4 GHz",
            name: name.to_owned(),
            x: "price of the processors of a server, $",
            y: "cost over the baseline's",
            note: note.to_owned(),
            points: points.collect(),
        });
        let price = costs.break_even_processor_price(&server);
        let ours = price.map(|price| price * f64::from(processors));
        break_even.push(Point {
            ours,
            ..bar(idx, name, 0.0, Some(published))
        });
    }
    list.push(Series {
        figure: "Hadjilambrou et al. 2019, 19",
        title: "cost of servers of 1.6 GHz over that of 2.4 GHz",
        name: "pays up to".to_owned(),
        x: "processors",
        y: "price of the processors of a server, $",
        note: note.to_owned(),
        points: break_even,
    });
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_scenarios_save_what_was_published() {
        for series in thesis_scenarios().unwrap() {
            for point in series.points {
                if let (Some(ours), Some(published)) = (point.ours, point.published) {
                    assert!(
                        (ours - published).abs() < 1.0,
                        "{} {:?}",
                        series.name,
                        point.label
                    );
                }
            }
        }
        let sweeps = thesis_sweeps();
        assert_eq!(sweeps.len(), 8);
        let at = |series: &Series, x: f64| {
            series
                .points
                .iter()
                .find(|point| (point.x - x).abs() < 1e-9)
                .unwrap()
                .ours
        };
        assert_eq!(at(&sweeps[0], 150.0), at(&sweeps[4], 1.5));
        assert_eq!(at(&sweeps[0], 160.0), None, "overload has no mean");
    }

    #[test]
    fn partitions_with_a_perfect_speed_up_never_lose_and_others_cross_in_order() {
        let list = partition_tails(None, 8, 20_000, 3).unwrap();
        let p99 =
            |series: usize, step: usize| list[series].points[step].ours.unwrap_or(f64::INFINITY);
        // The search for the crossing stops where statistical error exceeds the difference.
        let crossing =
            |series: usize| (0..32).find(|&step| p99(series, step) > 1.02 * p99(0, step));
        assert!(
            (0..24).all(|step| p99(3, step) <= p99(0, step)),
            "{:?}",
            list[3]
        );
        let (slow, middle) = (crossing(1).unwrap(), crossing(2).unwrap());
        assert!(slow < middle, "{slow} {middle}");
    }

    #[test]
    fn prices_at_which_slow_processors_pay_are_near_the_published() {
        let list = slow_processors(&Costs::parse("").unwrap()).unwrap();
        let pays = &list.last().unwrap().points;
        assert_eq!(pays.len(), 3);
        for point in pays {
            let ratio = point.ours.unwrap() / point.published.unwrap();
            assert!((0.9..1.12).contains(&ratio), "{point:?}");
        }
        // Each curve passes through 1 at its break-even price.
        let dual = &list[1].points;
        assert!(dual[0].ours.unwrap() < 1.0 && dual[20].ours.unwrap() > 1.0);
    }
}
