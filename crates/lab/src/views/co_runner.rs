//! Times over what a process beside the server sweeps.
use crate::engine::Cell;
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use crate::views::rates::response_ms;
use load::Figure;

/// Adds a diagram over footprints; `footprints_bytes` are those of the arms, in the order of each rate's cells.
pub(crate) fn show(result: &mut ExperimentResult, cells: &[Cell], footprints_bytes: &[Option<u64>]) {
    let swept: Vec<(&Cell, f64)> = cells
        .iter()
        .zip(footprints_bytes.iter().cycle())
        .filter_map(|(cell, bytes)| Some((cell, (*bytes)? as f64 / 1e6)))
        .collect();
    if swept.is_empty() {
        let reason = "the kernel does not tell the size of the last-level cache, so nothing ran beside";
        result.missing.push(reason.into());
        return;
    }
    let line = |figure: Figure| Series {
        name: figure.name(),
        points: swept
            .iter()
            .filter_map(|(cell, mb)| {
                let point = response_ms(cell, figure)?;
                Some(Point { x: *mb, ..point })
            })
            .collect(),
    };
    result.panels.insert(
        0,
        Panel {
            title: "Response time by the memory that a process beside sweeps".into(),
            x: Axis::log("swept memory in MB"),
            y: Axis::log("ms"),
            series: vec![line(Figure::Mean), line(Figure::Percentile(99.0))],
            is_published: false,
        },
    );
}
