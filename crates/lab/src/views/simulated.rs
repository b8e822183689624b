//! View of cache misses per search for several cache sizes, on a simulated processor.
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use crate::simulated::SimulatedCell;

/// Fills a result. Every title and sentence says that the figures are simulated.
pub(crate) fn show(result: &mut ExperimentResult, cells: &[SimulatedCell]) {
    result.runs_count = cells.len();
    let mb = |cell: &SimulatedCell| cell.cache_bytes as f64 / 1e6;
    let per_thousand = |cell: &SimulatedCell, misses: f64| misses / cell.instructions * 1000.0;
    let line = |name: &str, of: fn(&SimulatedCell) -> f64| Series {
        name: name.into(),
        points: cells
            .iter()
            .map(|cell| Point::at(mb(cell), per_thousand(cell, of(cell))))
            .collect(),
    };
    result.panels.push(Panel {
        title: "Misses for 1,000 instructions, simulated".into(),
        x: Axis::log("last-level cache in MB, simulated"),
        y: Axis::log("misses for 1,000 instructions"),
        series: vec![
            line("last level, simulated", |cell| cell.last_level_misses),
            line("first level, data, simulated", |cell| {
                cell.first_level_misses
            }),
        ],
        is_published: false,
    });
    let Some(largest) = cells.iter().max_by_key(|cell| cell.cache_bytes) else {
        return;
    };
    let smaller = cells.iter().min_by_key(|cell| cell.cache_bytes);
    let of_smallest = smaller.filter(|cell| cell.cache_bytes < largest.cache_bytes);
    let of_smallest = of_smallest.map_or(String::new(), |cell| {
        format!(
            ", and {:.3} in one of {:.1} MB",
            per_thousand(cell, cell.last_level_misses),
            mb(cell)
        )
    });
    result.reading = format!(
        "Simulated: a mean query executes {:.0} thousand instructions, of which 1,000 miss {:.3} times in a \
         last-level cache of {:.1} MB{of_smallest}. A simulated processor has no prefetchers and runs one \
         thread.",
        largest.instructions / 1e3,
        per_thousand(largest, largest.last_level_misses),
        mb(largest),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_marked_as_simulated() {
        let experiment = &crate::experiment::chosen(&["simulated-caches".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        let cell = |cache_bytes, last_level_misses| SimulatedCell {
            cache_bytes,
            instructions: 2e6,
            data_references: 1e6,
            first_level_misses: 2e4,
            last_level_misses,
        };
        show(
            &mut result,
            &[cell(32_000_000, 1000.0), cell(2_000_000, 4000.0)],
        );
        let [last, first] = &result.panels[0].series[..] else {
            panic!("two lines")
        };
        assert_eq!((last.points[0].y, last.points[1].y), (0.5, 2.0));
        assert_eq!(first.points[0].y, 10.0);
        for text in [
            &result.panels[0].title,
            &last.name,
            &first.name,
            &result.reading,
        ] {
            assert!(text.to_lowercase().contains("simulated"), "{text}");
        }
        assert!(
            result.reading.contains("2000 thousand"),
            "{}",
            result.reading
        );
        assert!(
            result.reading.contains("2.000 in one of 2.0 MB"),
            "{}",
            result.reading
        );
    }
}
