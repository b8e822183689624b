//! View of times over the footprint of a co-runner.
use super::counted::core_ms;
use super::ms;
use super::rates::{of_repetitions, response_ms};
use crate::laboratory::Cell;
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use load::Figure;

const SWEPT: &str = "memory that a process beside sweeps in MB";

/// Adds diagrams over footprints and their interpretation; `footprints_bytes` are those of the arms, in
/// the order of each rate's cells.
pub(crate) fn show(
    result: &mut ExperimentResult,
    cells: &[Cell],
    footprints_bytes: &[Option<u64>],
) {
    let swept: Vec<(f64, &Cell)> = cells
        .iter()
        .zip(footprints_bytes.iter().cycle())
        .filter_map(|(cell, bytes)| Some(((*bytes)? as f64 / 1e6, cell)))
        .collect();
    let line = |name: &str, of: &dyn Fn(&Cell) -> Option<Point>| Series {
        name: name.into(),
        points: swept
            .iter()
            .filter_map(|(mb, cell)| {
                Some(Point {
                    x: *mb,
                    ..of(cell)?
                })
            })
            .collect(),
    };
    let response = |figure: Figure| line(&figure.name(), &|cell| response_ms(cell, figure));
    let panel = |title: &str, series: Vec<Series>| Panel {
        title: title.into(),
        x: Axis::log(SWEPT),
        y: Axis::log("ms"),
        series,
        is_published: false,
    };
    let on_core = line("handlers on a core", &work_ms);
    if let Some(sentence) = reading(&on_core.points) {
        result.reading = format!("{sentence} {}", result.reading);
    }
    let beside = [
        panel(
            "Time of handlers on a core for a query, by swept memory",
            vec![on_core],
        ),
        panel(
            "Response time by swept memory",
            vec![response(Figure::Mean), response(Figure::Percentile(99.0))],
        ),
    ];
    if footprints_bytes.iter().all(Option::is_some) {
        // Diagrams over a single rate would show the same values as columns of dots.
        result.panels.clear();
    }
    result.panels.splice(0..0, beside);
}

fn work_ms(cell: &Cell) -> Option<Point> {
    let values: Option<Vec<f64>> = cell.runs.iter().map(core_ms).collect();
    of_repetitions(&values?)
}

/// Interprets the core time of handlers, which caches affect; waits for a core have other causes.
fn reading(points: &[Point]) -> Option<String> {
    let (first, last) = (points.first()?, points.last()?);
    let of = |point: &Point| {
        let interval = point.interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", ms(low * 1e3), ms(high * 1e3))
        });
        format!("{}{interval}", ms(point.y * 1e3))
    };
    Some(format!(
        "Handlers work {} for a query beside a process that sweeps {:.2} MB, and {} beside one that sweeps \
         {:.1} MB: {:+.0} %.",
        of(first),
        first.x,
        of(last),
        last.x,
        (last.y / first.y - 1.0) * 100.0,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reading_compares_the_smallest_with_the_largest_footprint() {
        let point = |x, y| Point {
            x,
            y,
            interval: Some((y - 0.5, y + 0.5)),
        };
        let said = reading(&[point(0.016, 2.0), point(10.0, 9.0), point(40.0, 2.14)]).unwrap();
        assert!(said.contains("2.00 ms (1.50 ms to 2.50 ms)"), "{said}");
        assert!(said.contains("40.0 MB: +7 %"), "{said}");
        assert_eq!(reading(&[]), None);
    }
}
