//! Views of a single client that sends one query after the other: times without queueing.
use super::{ms, warnings, words_count};
use crate::experiment::View;
use crate::results::{Axis, ExperimentResult, Panel, Point, Series};
use load::{Outcome, Sample, Summary, Times};

/// Word count from which queries form one group, as longer ones are rare.
const WORDS_MAX: usize = 10;
/// Lower limit on the queries in a displayed group.
const GROUP_MIN: usize = 10;

/// Times and matches of a query.
struct Asked {
    words: usize,
    response_us: f64,
    matches_count: f64,
}

/// Fills a result with one of the views of the same samples.
pub(crate) fn show(result: &mut ExperimentResult, view: View, outcome: &Outcome, texts: &[String]) {
    let asked: Vec<Asked> = outcome
        .measured()
        .filter_map(|sample| asked(sample, texts))
        .collect();
    result.runs_count = 1;
    result.warnings = warnings([&Summary::of(outcome)]);
    if asked.is_empty() {
        result.reading = "No query with a hit was answered in this time.".into();
        return;
    }
    match view {
        View::Distribution => distribution(result, &asked),
        View::Terms => terms(result, &asked),
        View::TailByTerms => tail_by_terms(result, &asked),
        _ => keywords(result, &asked),
    }
}

/// Reads a sample; ignores queries without a hit, whose immediate answers would distort every figure.
fn asked(sample: &Sample, texts: &[String]) -> Option<Asked> {
    let answer = sample.answer.as_ref()?;
    let matches_count = answer.matches_count.filter(|count| *count > 0)?;
    Some(Asked {
        words: words_count(texts.get(sample.query_idx as usize)?),
        response_us: sample.response_ns()? as f64 / 1e3,
        matches_count: matches_count as f64,
    })
}

fn times<'a>(asked: impl IntoIterator<Item = &'a Asked>) -> Times {
    Times::of_ns(
        asked
            .into_iter()
            .map(|asked| (asked.response_us * 1e3) as u64),
    )
}

fn distribution(result: &mut ExperimentResult, asked: &[Asked]) {
    let mut sorted: Vec<f64> = asked.iter().map(|asked| asked.response_us).collect();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    let mut passed_us = 0.0;
    let (mut by_count, mut by_time) = (Vec::new(), Vec::new());
    // A few hundred points draw the same line as all of them.
    let stride = (sorted.len() / 300).max(1);
    for (idx, us) in sorted.iter().enumerate() {
        passed_us += us;
        if idx % stride == 0 || idx + 1 == sorted.len() {
            let share = (idx + 1) as f64 / sorted.len() as f64 * 100.0;
            by_count.push(Point::at(us / 1e3, share));
            by_time.push(Point::at(us / 1e3, passed_us / sum * 100.0));
        }
    }
    result.panels.push(Panel {
        title: "Response time and share of queries not above it".into(),
        x: Axis::log("response time in ms"),
        y: Axis::linear("share in %"),
        series: vec![
            Series {
                name: "of the queries".into(),
                points: by_count,
            },
            Series {
                name: "of all processing time".into(),
                points: by_time,
            },
        ],
        is_published: false,
    });
    let slowest = sorted.len() - sorted.len() / 100;
    let of_slowest: f64 = sorted[slowest..].iter().sum();
    let times = times(asked);
    let figure = |us: Option<f64>| us.map_or("not known".to_owned(), ms);
    result.reading = format!(
        "Over {} queries with a hit the mean is {}, p90 {} and p99 {}. The slowest hundredth of \
         them takes {:.1} % of all time.",
        asked.len(),
        figure(times.mean_us()),
        figure(times.percentile_us(90.0)),
        figure(times.percentile_us(99.0)),
        of_slowest / sum * 100.0,
    );
}

/// Returns groups by word count in ascending order; the last one holds all longer queries.
fn groups(asked: &[Asked]) -> Vec<(usize, Vec<&Asked>)> {
    (1..=WORDS_MAX)
        .map(|words| {
            let of_group = asked
                .iter()
                .filter(|asked| asked.words.min(WORDS_MAX) == words);
            (words, of_group.collect::<Vec<_>>())
        })
        .filter(|(_, of_group)| of_group.len() >= GROUP_MIN)
        .collect()
}

fn line(
    name: &str,
    groups: &[(usize, Vec<&Asked>)],
    of: impl Fn(&[&Asked]) -> Option<f64>,
) -> Series {
    let points = groups
        .iter()
        .filter_map(|(words, of_group)| Some(Point::at(*words as f64, of(of_group)?)));
    Series {
        name: name.into(),
        points: points.collect(),
    }
}

fn mean_us(of_group: &[&Asked]) -> Option<f64> {
    times(of_group.iter().copied()).mean_us()
}

fn terms(result: &mut ExperimentResult, asked: &[Asked]) {
    let groups = groups(asked);
    let percentile = |percentile: f64| {
        move |of_group: &[&Asked]| {
            Some(times(of_group.iter().copied()).percentile_us(percentile)? / 1e3)
        }
    };
    result.panels.push(Panel {
        title: "Response time by number of words".into(),
        x: Axis::linear("words (10: 10 and more)"),
        y: Axis::log("ms"),
        series: vec![
            line("mean", &groups, |of_group| Some(mean_us(of_group)? / 1e3)),
            line("p50", &groups, percentile(50.0)),
            line("p90", &groups, percentile(90.0)),
        ],
        is_published: false,
    });
    let matches = |of_group: &[&Asked]| {
        let sum: f64 = of_group.iter().map(|asked| asked.matches_count).sum();
        Some(sum / of_group.len() as f64)
    };
    result.panels.push(Panel {
        title: "Documents that match, by number of words".into(),
        x: Axis::linear("words (10: 10 and more)"),
        y: Axis::log("documents"),
        series: vec![line("mean", &groups, matches)],
        is_published: false,
    });
    if let (Some((few, first)), Some((many, last))) = (groups.first(), groups.last()) {
        let figure = |of_group| mean_us(of_group).map_or("not known".to_owned(), ms);
        let count = |of_group| matches(of_group).unwrap_or_default();
        result.reading = format!(
            "Queries of {few} words take {} in the mean and match {:.0} documents; those of {many} \
             words take {} and match {:.0}.",
            figure(first),
            count(first),
            figure(last),
            count(last),
        );
    }
}

fn keywords(result: &mut ExperimentResult, asked: &[Asked]) {
    let groups = groups(asked);
    let percentile = |percentile: f64| {
        move |of_group: &[&Asked]| {
            Some(times(of_group.iter().copied()).percentile_us(percentile)? / 1e3)
        }
    };
    let p90 = line("p90", &groups, percentile(90.0));
    let worst = p90
        .points
        .iter()
        .max_by(|a, b| a.y.total_cmp(&b.y))
        .copied();
    result.panels.push(Panel {
        title: "90th percentile by number of words".into(),
        x: Axis::linear("words (10: 10 and more)"),
        y: Axis::log("ms"),
        series: vec![p90],
        is_published: false,
    });
    result.reading = match worst {
        Some(worst) if worst.y < 500.0 => format!(
            "No number of words breaks 500 ms here: the highest p90 is {} at {:.0} words.",
            ms(worst.y * 1e3),
            worst.x
        ),
        Some(worst) => format!(
            "The highest p90 is {} at {:.0} words, above the published target of 500 ms.",
            ms(worst.y * 1e3),
            worst.x
        ),
        None => "No group of queries is large enough for a 90th percentile.".into(),
    };
}

fn tail_by_terms(result: &mut ExperimentResult, asked: &[Asked]) {
    let Some(p99_us) = times(asked).percentile_us(99.0) else {
        result.reading = format!("{} queries are too few for a 99th percentile.", asked.len());
        return;
    };
    let tail: Vec<&Asked> = asked
        .iter()
        .filter(|asked| asked.response_us > p99_us)
        .collect();
    let shares = |of: &[&Asked]| -> Vec<Point> {
        (1..=WORDS_MAX)
            .map(|words| {
                let count = of
                    .iter()
                    .filter(|asked| asked.words.min(WORDS_MAX) == words)
                    .count();
                Point::at(words as f64, count as f64 / of.len().max(1) as f64 * 100.0)
            })
            .collect()
    };
    let all: Vec<&Asked> = asked.iter().collect();
    let (of_tail, of_all) = (shares(&tail), shares(&all));
    let short = |points: &[Point]| points[..3].iter().map(|point| point.y).sum::<f64>();
    result.reading = format!(
        "Of the {} queries above p99 ({}), {:.0} % have three words or fewer; of all queries {:.0} %.",
        tail.len(),
        ms(p99_us),
        short(&of_tail),
        short(&of_all),
    );
    result.panels.push(Panel {
        title: "Words of the slowest queries, and of all".into(),
        x: Axis::linear("words (10: 10 and more)"),
        y: Axis::linear("share in %"),
        series: vec![
            Series {
                name: "above p99".into(),
                points: of_tail,
            },
            Series {
                name: "all".into(),
                points: of_all,
            },
        ],
        is_published: false,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns queries of the given word counts, a hundred of each, with one ms per word.
    fn made_up(words: &[usize]) -> Vec<Asked> {
        let one = |words: usize, n: usize| Asked {
            words,
            response_us: words as f64 * 1000.0 + n as f64,
            matches_count: 1000.0 / words as f64,
        };
        words
            .iter()
            .flat_map(|&words| (0..100).map(move |n| one(words, n)))
            .collect()
    }

    fn shown(view: fn(&mut ExperimentResult, &[Asked]), asked: &[Asked]) -> ExperimentResult {
        let experiment = &crate::experiment::chosen(&["terms-and-time".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        view(&mut result, asked);
        result
    }

    #[test]
    fn times_and_matches_stand_by_words() {
        let result = shown(terms, &made_up(&[1, 2, 4, 12]));
        let mean = &result.panels[0].series[0];
        assert_eq!(
            mean.points.iter().map(|p| p.x).collect::<Vec<_>>(),
            [1.0, 2.0, 4.0, 10.0]
        );
        assert!((mean.points[2].y - 4.05).abs() < 0.01);
        assert_eq!(result.panels[1].series[0].points[1].y, 500.0);
        assert!(
            result
                .reading
                .starts_with("Queries of 1 words take 1.05 ms"),
            "{}",
            result.reading
        );
    }

    #[test]
    fn the_distribution_is_weighted_by_time_too() {
        let result = shown(distribution, &made_up(&[1, 1, 1, 97]));
        let [by_count, by_time] = &result.panels[0].series[..] else {
            panic!("two lines")
        };
        let last_fast = by_count
            .points
            .iter()
            .rposition(|point| point.x < 2.0)
            .unwrap();
        assert!((by_count.points[last_fast].y - 75.0).abs() < 1.0);
        assert!((by_time.points[last_fast].y - 3.0).abs() < 0.5);
    }

    #[test]
    fn the_tail_is_taken_apart() {
        let mut asked = made_up(&[1; 10]);
        for slow in &mut asked[..20] {
            slow.words = 5;
            slow.response_us = 1e6;
        }
        let result = shown(tail_by_terms, &asked);
        // All of the slowest queries have five words; of all queries one in fifty has.
        assert!(
            result
                .reading
                .contains("0 % have three words or fewer; of all queries 98 %")
                || result.reading.contains("of all queries 98 %"),
            "{}",
            result.reading
        );
        assert!(
            shown(tail_by_terms, &made_up(&[1]))
                .reading
                .contains("too few")
        );
    }
}
