//! View of the share of search time spent on decoding, for each codec.
use super::{ms, words_count};
use crate::codecs::{CodecCell, QueryTime};
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use load::Interval;

/// Word count from which queries form one group.
const WORDS_MAX: usize = 6;
/// Lower limit on the queries in a displayed group.
const GROUP_MIN: usize = 5;

/// Mean times of a set of queries, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    search_us: f64,
    decoding_us: f64,
}

impl Times {
    fn share(self) -> f64 {
        self.decoding_us / self.search_us * 100.0
    }
}

/// Fills a result.
pub(crate) fn show(result: &mut ExperimentResult, cells: &[CodecCell]) {
    result.runs_count = cells.iter().map(|cell| cell.measures.len()).sum();
    let by_words = |of: &dyn Fn(Times) -> f64, of_cell: &CodecCell| -> Vec<Point> {
        let point = |words: usize| {
            let is_of_group = |time: &QueryTime| words_count(&time.query).min(WORDS_MAX) == words;
            let of_group = of_cell
                .measures
                .first()?
                .iter()
                .filter(|time| is_of_group(time));
            if of_group.count() < GROUP_MIN {
                return None;
            }
            over_repetitions(words as f64, of_cell, of, is_of_group)
        };
        (1..=WORDS_MAX).filter_map(point).collect()
    };
    let shares = cells.iter().map(|cell| Series {
        name: cell.codec.into(),
        points: by_words(&Times::share, cell),
    });
    result.panels.push(Panel {
        title: "Decoding as a share of searching".into(),
        x: Axis::linear("words (6: 6 and more)"),
        y: Axis::linear("share in %"),
        series: shares.collect(),
        is_published: false,
    });
    let mut times = Vec::new();
    for cell in cells {
        times.push(Series {
            name: format!("{}: search", cell.codec),
            points: by_words(&|times| times.search_us, cell),
        });
        times.push(Series {
            name: format!("{}: decoding alone", cell.codec),
            points: by_words(&|times| times.decoding_us, cell),
        });
    }
    result.panels.push(Panel {
        title: "Mean time of a search, and of decoding alone".into(),
        x: Axis::linear("words (6: 6 and more)"),
        y: Axis::log("µs"),
        series: times,
        is_published: false,
    });
    result.reading = reading(cells);
}

/// Returns the mean over repetitions with its interval; `None` if no query is chosen.
fn over_repetitions(
    x: f64,
    cell: &CodecCell,
    of: &dyn Fn(Times) -> f64,
    is_chosen: impl Fn(&QueryTime) -> bool,
) -> Option<Point> {
    let one = |times: &Vec<QueryTime>| {
        let chosen: Vec<&QueryTime> = times.iter().filter(|time| is_chosen(time)).collect();
        let mean = |of: fn(&QueryTime) -> f64| {
            let sum: f64 = chosen.iter().map(|time| of(time)).sum();
            sum / chosen.len() as f64
        };
        let times = Times {
            search_us: mean(|time| time.search_us),
            decoding_us: mean(|time| time.decoding_us),
        };
        (!chosen.is_empty()).then(|| of(times))
    };
    let values: Option<Vec<f64>> = cell.measures.iter().map(one).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let interval = Interval::of_mean(&values);
    Some(Point {
        x,
        y: values.iter().sum::<f64>() / values.len() as f64,
        interval: interval.map(|Interval { low, high }| (low.max(0.0), high)),
    })
}

fn reading(cells: &[CodecCell]) -> String {
    let of_cell = |cell: &CodecCell| {
        let all = |of: &dyn Fn(Times) -> f64| over_repetitions(0.0, cell, of, |_| true);
        let (share, search) = (all(&Times::share)?, all(&|times| times.search_us)?);
        let queries = cell.measures.first()?;
        let postings: u64 = queries.iter().map(|time| time.postings_count).sum();
        let interval = share.interval.map_or(String::new(), |(low, high)| {
            format!(" ({low:.1} to {high:.1})")
        });
        Some(format!(
            "in {} decoding is {:.1} %{interval} of a mean search of {}, {:.0} postings decoded a query, in \
             an index of {:.1} MB",
            cell.codec,
            share.y,
            ms(search.y),
            postings as f64 / queries.len().max(1) as f64,
            cell.index_bytes as f64 / 1e6,
        ))
    };
    let sentences: Option<Vec<String>> = cells.iter().map(of_cell).collect();
    let Some(sentences) = sentences.filter(|sentences| !sentences.is_empty()) else {
        return "No query was searched.".into();
    };
    let documents = cells.first().map_or(0, |cell| cell.documents_count);
    format!(
        "Over {documents} documents, {}. Only blocks that a search decodes count: what it leaves out costs \
         nothing in either.",
        sentences.join("; "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_time_and_not_the_mean_of_shares() {
        let experiment = &crate::experiment::chosen(&["decompression-share".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        let time = |query: &str, search_us, decoding_us| QueryTime {
            query: query.into(),
            search_us,
            decoding_us,
            postings_count: 100,
        };
        let measure = |factor: f64| -> Vec<QueryTime> {
            let short = (0..5).map(|_| time("one", 10.0 * factor, 5.0 * factor));
            let long = (0..5).map(|_| time("one two", 90.0 * factor, 5.0 * factor));
            short.chain(long).collect()
        };
        let cell = |codec, factor| CodecCell {
            codec,
            documents_count: 50,
            index_bytes: 2_000_000,
            measures: vec![measure(factor), measure(factor), measure(factor)],
        };
        show(&mut result, &[cell("packed", 1.0), cell("vint", 3.0)]);
        // 10 of 100, although the shares of the two queries are 50 % and 5.6 %.
        let reading = &result.reading;
        assert!(
            reading.contains("in packed decoding is 10.0 % (10.0 to 10.0)"),
            "{reading}"
        );
        assert!(reading.contains("in vint decoding is 10.0 %"), "{reading}");
        assert!(
            reading.contains("search of 50.0 µs, 100 postings"),
            "{reading}"
        );
        let packed = &result.panels[0].series[0];
        assert_eq!(
            packed.points.iter().map(|p| p.x).collect::<Vec<_>>(),
            [1.0, 2.0]
        );
        assert!((packed.points[0].y - 50.0).abs() < 1e-9);
        assert_eq!(result.panels[1].series.len(), 4);
        show(&mut result, &[]);
        assert_eq!(result.reading, "No query was searched.");
    }
}
