//! View of the number of words per query.
use super::words_count;
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use load::QueryStream;
use std::collections::BTreeMap;

/// Adds the share of queries by number of words.
pub(crate) fn query_lengths(result: &mut ExperimentResult, stream: &QueryStream) {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    stream
        .iter()
        .for_each(|query| *counts.entry(words_count(query)).or_default() += 1);
    let total = stream.len() as f64;
    let words: usize = counts.iter().map(|(words, count)| words * count).sum();
    let longest = counts.keys().last().copied().unwrap_or_default();
    let share = |count: usize| count as f64 / total * 100.0;
    let points = counts
        .iter()
        .map(|(words, count)| Point::at(*words as f64, share(*count)));
    result.panels.push(Panel {
        title: "Queries by their number of words".into(),
        x: Axis::linear("words"),
        y: Axis::linear("share of queries in %"),
        series: vec![Series {
            name: "ours".into(),
            points: points.collect(),
        }],
        is_published: false,
    });
    let short: usize = counts.range(..=3).map(|(_, count)| count).sum();
    result.reading = format!(
        "The {} queries have {:.2} words in the mean and {longest} at most. {:.0} % have three or fewer.",
        stream.len(),
        words as f64 / total,
        share(short),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted() {
        let experiment = &crate::experiment::chosen(&["query-lengths".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        query_lengths(
            &mut result,
            &QueryStream::as_is(["a", "b  c", "d e", "f g h i j"]),
        );
        let points = &result.panels[0].series[0].points;
        let expected = [(1.0, 25.0), (2.0, 50.0), (5.0, 25.0)];
        assert_eq!(
            points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>(),
            expected
        );
        assert!(result.reading.contains("2.50 words"), "{}", result.reading);
        assert!(
            result.reading.contains("75 % have three"),
            "{}",
            result.reading
        );
    }
}
