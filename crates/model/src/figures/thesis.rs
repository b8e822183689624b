//! Figures 2.2 to 2.4 of Antoniou 2019: SMT and partitions by M/M/c.

use super::{Point, Series, bar, point};
use crate::error::ModelError;
use crate::formulas::{Machine, Mmc, Scenario};

/// Machine of Antoniou 2019: 8 cores of 20 queries/s, SMT slower by 1.5, 2 partitions.
pub const THESIS: Machine = Machine {
    cores: 8,
    service_per_s: 20.0,
    smt_slowdown: 1.5,
    partitions: 2,
    speed_up: 2.0,
};
const RATE_PER_S: f64 = 150.0;
const NOTE: &str = "M/M/c: 8 cores of 20 queries/s, SMT slower by 1.5, 2 partitions, perfect split";

/// Returns figure 2.2 of Antoniou 2019: waits and responses of the four scenarios at 150 queries/s, and
/// the savings of each.
///
/// # Errors
/// None in practice: the parameters are fixed and within range.
pub fn thesis_scenarios() -> Result<Vec<Series>, ModelError> {
    let queues = Scenario::ALL.map(|scenario| THESIS.queue(scenario, RATE_PER_S));
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
            note: NOTE.to_owned(),
            points,
        });
    }
    Ok(list)
}

/// Returns figures 2.3 and 2.4 of Antoniou 2019: the mean wait at 150 queries/s over the number of cores,
/// without partitions (2.3) and with them (2.4).
///
/// The cores double from 8 to 16 by SMT, and each serves more slowly by a factor that grows in equal
/// steps from 1 to 1.5 meanwhile. A query of two partitions takes two cores, so 2.4 has even numbers
/// only. The thesis draws these curves without numbers.
///
/// # Errors
/// None in practice: the parameters are fixed and within range.
pub fn thesis_waits() -> Result<Vec<Series>, ModelError> {
    let figures = [
        ("Antoniou 2019, 2.3", Scenario::ALL[1]),
        ("Antoniou 2019, 2.4", Scenario::ALL[3]),
    ];
    figures
        .into_iter()
        .map(|(figure, scenario)| {
            let parts = if scenario.partitioned {
                THESIS.partitions
            } else {
                1
            };
            let points: Result<Vec<Point>, ModelError> = (THESIS.cores..=2 * THESIS.cores)
                .step_by(parts)
                .map(|cores| {
                    let wait_ms = queue_of_cores(cores, parts)?.wait_ms();
                    Ok(point(cores as f64, Some(wait_ms)))
                })
                .collect();
            Ok(Series {
                figure,
                title: "mean wait at 150 queries/s over the number of cores",
                name: scenario.name().to_owned(),
                x: "cores",
                y: "ms",
                note: format!(
                    "M/M/c: 8 cores of 20 queries/s become 16 by SMT, each slower by a factor that \
                     grows from 1 to 1.5 meanwhile; parts of a query: {parts}"
                ),
                points: points?,
            })
        })
        .collect()
}

/// Returns the queue of `cores` cores, of which the first 8 are whole and the others SMT contexts, with
/// `parts` cores a query.
fn queue_of_cores(cores: usize, parts: usize) -> Result<Mmc, ModelError> {
    let added = (cores - THESIS.cores) as f64 / THESIS.cores as f64;
    let slowdown = 1.0 + (THESIS.smt_slowdown - 1.0) * added;
    let service_per_s = THESIS.service_per_s * parts as f64 / slowdown;
    Mmc::new(RATE_PER_S, service_per_s, cores / parts)
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
    }

    #[test]
    fn waits_end_at_those_of_the_four_scenarios() {
        let waits = thesis_waits().unwrap();
        let wait_ms = |scenario: Scenario| THESIS.queue(scenario, RATE_PER_S).unwrap().wait_ms();
        let ends = |series: &Series| {
            let ours = |point: Option<&Point>| point.and_then(|point| point.ours).unwrap();
            (ours(series.points.first()), ours(series.points.last()))
        };
        let [none, smt, part, both] = Scenario::ALL.map(wait_ms);
        for (series, expected) in waits.iter().zip([(none, smt), (part, both)]) {
            let (first, last) = ends(series);
            assert!((first / expected.0 - 1.0).abs() < 1e-12, "{first}");
            assert!((last / expected.1 - 1.0).abs() < 1e-12, "{last}");
        }
    }
}
