//! View of growth with the size of the index.
use super::{ms, warnings};
use crate::experiment::View;
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use crate::sizes::SizeCell;
use load::{Sample, Summary};
use std::collections::HashSet;

/// Fills a result with one of the two views of the same indexes.
pub(crate) fn show(result: &mut ExperimentResult, view: View, cells: &[SizeCell]) {
    result.runs_count = cells.len();
    let runs: Vec<Summary> = cells
        .iter()
        .map(|cell| Summary::of(&cell.outcome))
        .collect();
    result.warnings = warnings(&runs);
    match view {
        View::DocumentsBySize => documents(result, cells),
        _ => phases(result, cells),
    }
}

/// Time of a sample, in ms.
type OfSample = fn(&Sample) -> Option<f64>;

const LINES: [(&str, OfSample); 4] = [
    ("response time", |sample| {
        Some(sample.response_ns()? as f64 / 1e6)
    }),
    ("index search", |sample| {
        Some(sample.answer.as_ref()?.phases?.index_search as f64 / 1e3)
    }),
    ("details", |sample| {
        Some(sample.answer.as_ref()?.phases?.details as f64 / 1e3)
    }),
    ("summaries", |sample| {
        Some(sample.answer.as_ref()?.phases?.summaries as f64 / 1e3)
    }),
];

fn phases(result: &mut ExperimentResult, cells: &[SizeCell]) {
    let common = common_queries(cells);
    if common.is_empty() {
        result.reading = "No query with a hit was answered at every size.".into();
        return;
    }
    let mean = |cell: &SizeCell, of: OfSample| {
        let samples = cell
            .outcome
            .measured()
            .filter(|sample| common.contains(&sample.query_idx));
        let values: Vec<f64> = samples.filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let line = |(name, of): &(&str, OfSample)| Series {
        name: (*name).into(),
        points: cells
            .iter()
            .filter_map(|cell| Some(Point::at(cell.documents_count as f64, mean(cell, *of)?)))
            .collect(),
    };
    result.panels.push(Panel {
        title: "Mean time of the phases by size of the index".into(),
        x: Axis::linear("documents"),
        y: Axis::linear("ms"),
        series: LINES.iter().map(line).collect(),
        is_published: false,
    });
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return;
    };
    let grown: Vec<String> = LINES
        .iter()
        .filter_map(|(name, of)| {
            let (from, to) = (mean(first, *of)?, mean(last, *of)?);
            let (from_text, to_text) = (ms(from * 1e3), ms(to * 1e3));
            Some(format!(
                "{name} from {from_text} to {to_text} (×{:.2})",
                to / from
            ))
        })
        .collect();
    result.reading = format!(
        "From {} to {} documents (×{:.2}), over the {} queries that have a hit at every size: {}.",
        first.documents_count,
        last.documents_count,
        last.documents_count as f64 / first.documents_count.max(1) as f64,
        common.len(),
        grown.join(", "),
    );
}

/// Returns the queries answered with a hit at every size. Without this, a quicker size would include
/// more of the stream, and a larger one more queries with hits.
fn common_queries(cells: &[SizeCell]) -> HashSet<u32> {
    let has_hit = |sample: &&Sample| {
        let matches = sample
            .answer
            .as_ref()
            .and_then(|answer| answer.matches_count);
        matches.is_some_and(|count| count > 0)
    };
    let of = |cell: &SizeCell| -> HashSet<u32> {
        let hits = cell.outcome.measured().filter(has_hit);
        hits.map(|sample| sample.query_idx).collect()
    };
    let mut cells = cells.iter().map(of);
    let first = cells.next().unwrap_or_default();
    cells.fold(first, |common, next| {
        common.intersection(&next).copied().collect()
    })
}

fn documents(result: &mut ExperimentResult, cells: &[SizeCell]) {
    let points = cells
        .iter()
        .map(|cell| Point::at(cell.index_bytes as f64 / 1e6, cell.documents_count as f64));
    result.panels.push(Panel {
        title: "Documents by size of the index".into(),
        x: Axis::linear("index and texts in MB"),
        y: Axis::linear("documents"),
        series: vec![Series {
            name: "ours".into(),
            points: points.collect(),
        }],
        is_published: false,
    });
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return;
    };
    let per_document =
        |cell: &SizeCell| cell.index_bytes as f64 / cell.documents_count.max(1) as f64;
    result.reading = format!(
        "{} documents take {:.1} MB and {} take {:.1} MB: {:.0} and {:.0} bytes a document.",
        first.documents_count,
        first.index_bytes as f64 / 1e6,
        last.documents_count,
        last.index_bytes as f64 / 1e6,
        per_document(first),
        per_document(last),
    );
}
