//! View of published figures beside those computed by the model.
use crate::LabError;
use crate::laboratory::{ALONE_FOLDER, Depth, Plan};
use crate::results::{Axis, ExperimentResult, Panel, Point, Series, Table};
use crate::svg::number;
use load::{Outcome, RunRecord};
use model::ModelError;
use model::costs::Costs;
use model::figures::{MEAN_MS, partition_tails, slow_processors, thesis_scenarios, thesis_waits};
use model::simulate::Searches;

/// Number of cores in the simulated figure.
const CORES: usize = 8;

/// Effort of simulation for each point of figure 15.
#[derive(Debug, Clone, Copy)]
struct Effort {
    queries: usize,
    runs: usize,
}

impl Effort {
    const QUICK: Effort = Effort {
        queries: 20_000,
        runs: 2,
    };
    const FULL: Effort = Effort {
        queries: 50_000,
        runs: 10,
    };
}

/// Fills a result. `alone` is the single-client run for figure 15, from this session or from an earlier
/// run into the same folder.
pub(crate) fn show(
    result: &mut ExperimentResult,
    alone: Option<&Outcome>,
    plan: &Plan,
) -> Result<(), LabError> {
    let kept = match alone {
        Some(_) => None,
        None => RunRecord::open(&plan.into.join(ALONE_FOLDER)).ok(),
    };
    let alone = alone.or(kept.as_ref().map(|(_, outcome)| outcome));
    let is_full = plan.depth.name == Depth::FULL.name;
    let effort = if is_full { Effort::FULL } else { Effort::QUICK };
    calculate(result, alone.and_then(searches), effort)
        .map_err(|error| LabError::Model(error.to_string()))
}

fn calculate(
    result: &mut ExperimentResult,
    searches: Option<Searches>,
    effort: Effort,
) -> Result<(), ModelError> {
    let scenarios = thesis_scenarios()?;
    result.tables.push(bars(&scenarios));
    let mut reading = saved(&scenarios);
    for figure in by_figure(thesis_waits()?) {
        result.panels.push(panel(&figure));
    }
    let published = partition_tails(None, CORES, effort.queries, effort.runs)?;
    reading.push_str(&crossings(
        "search times of the published shape",
        &published,
    ));
    result
        .panels
        .push(tails_panel("published shape", &published));
    match searches {
        Some(searches) => {
            let mean_ms = searches.work_ms();
            let stretched = searches.stretched(MEAN_MS / mean_ms)?;
            let tails = partition_tails(Some(&stretched), CORES, effort.queries, effort.runs)?;
            reading.push_str(&crossings("those that one client measured here", &tails));
            reading.push_str(&format!(
                " The latter ({} queries, mean {:.3} ms, squared variation {:.1}; published about 2.7) are \
                 stretched to a mean of {MEAN_MS} ms, with which {CORES} cores carry the rates of the \
                 figure: a queue knows no unit of time. The more search times vary, the sooner many slow \
                 servers beat few fast ones.",
                searches.queries(),
                mean_ms,
                searches.work_cv2(),
            ));
            result.panels.push(tails_panel("measured here", &tails));
        }
        None => reading.push_str(
            " For the same of measured search times run `response-distribution` into the same folder, and \
             this again.",
        ),
    }
    let costs = slow_processors(&Costs::parse("")?)?;
    let (curves, pays): (Vec<_>, Vec<_>) = costs
        .into_iter()
        .partition(|series| series.points.iter().all(|point| point.label.is_none()));
    result.panels.push(panel(&curves));
    result.tables.push(bars(&pays));
    reading.push_str(
        " Figure 19: board $225, processor $391 and the power of both kinds are published. What a server takes \
         beside its processors (rest_watts 40 W) is not: it was chosen near the published prices of one and four \
         chips, which therefore are no test of the model; that of two does not depend on it. The other costs are \
         usual values (docs/model.md).",
    );
    result.reading = reading;
    Ok(())
}

/// Returns the handler times of all answers that report them.
fn searches(outcome: &Outcome) -> Option<Searches> {
    let answers = outcome
        .measured()
        .filter(|sample| sample.ending.is_answer());
    let rows = answers.filter_map(|sample| {
        let phases = sample.answer.as_ref()?.phases?;
        Some(vec![
            (phases.index_search + phases.optimization_searches) as f64 / 1e3,
        ])
    });
    let searches = Searches::new(rows).ok()?;
    (searches.work_ms() > 0.0).then_some(searches)
}

fn by_figure(list: Vec<model::figures::Series>) -> Vec<Vec<model::figures::Series>> {
    let mut figures: Vec<Vec<model::figures::Series>> = Vec::new();
    for series in list {
        match figures.last_mut() {
            Some(last) if last[0].figure == series.figure => last.push(series),
            _ => figures.push(vec![series]),
        }
    }
    figures
}

fn panel(list: &[model::figures::Series]) -> Panel {
    let line = |series: &model::figures::Series| Series {
        name: series.name.clone(),
        points: (series.points.iter())
            .filter_map(|point| Some(Point::at(point.x, point.ours?)))
            .collect(),
    };
    let first = list.first();
    let is_time = first.is_some_and(|first| first.y == "ms");
    let text = |of: fn(&model::figures::Series) -> &'static str| first.map_or("", of);
    Panel {
        title: format!(
            "{}: {}",
            text(|series| series.figure),
            text(|series| series.title)
        ),
        x: Axis::linear(text(|series| series.x)),
        y: match is_time {
            true => Axis::log("ms"),
            false => Axis::linear(text(|series| series.y)),
        },
        series: list.iter().map(line).collect(),
        is_published: false,
    }
}

fn tails_panel(of: &str, list: &[model::figures::Series]) -> Panel {
    let panel = panel(list);
    Panel {
        title: format!("{} ({of})", panel.title),
        ..panel
    }
}

/// Returns rows of bars as a table: one row per bar, with the computed and published value of each
/// series.
fn bars(list: &[model::figures::Series]) -> Table {
    let mut headings = vec![list.first().map_or("", |first| first.x).to_owned()];
    for series in list {
        headings.push(format!("{} ({})", series.name, series.y));
        headings.push("published".into());
    }
    let first = list.first();
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), number);
    let points = first.map_or(&[][..], |first| &first.points);
    let row = |idx: usize, point: &model::figures::Point| {
        let mut row = vec![point.label.clone().unwrap_or_else(|| number(point.x))];
        for point in list.iter().filter_map(|series| series.points.get(idx)) {
            row.push(shown(point.ours));
            row.push(shown(point.published));
        }
        row
    };
    Table {
        title: first.map_or(String::new(), |first| {
            format!("{}: {} ({})", first.figure, first.title, first.note)
        }),
        headings,
        rows: points
            .iter()
            .enumerate()
            .map(|(idx, point)| row(idx, point))
            .collect(),
    }
}

fn saved(scenarios: &[model::figures::Series]) -> String {
    let saved = scenarios.iter().find(|series| series.name == "saved");
    let list: Vec<String> = saved
        .iter()
        .flat_map(|series| &series.points)
        .filter_map(|point| {
            let (ours, published) = (point.ours?, point.published?);
            let name = point.label.as_deref().unwrap_or_default();
            Some(format!(
                "{name} saves {ours:.1} ms (published {published:.0})"
            ))
        })
        .collect();
    format!("{}.", list.join(", "))
}

/// Describes, for each way of partitioning, the rate from which its 99th percentile exceeds that without partitions: at
/// two adjacent rates, by more than simulated percentiles vary.
fn crossings(of: &str, tails: &[model::figures::Series]) -> String {
    const VARY: f64 = 1.03;
    let Some((whole, others)) = tails.split_first() else {
        return String::new();
    };
    let is_worse = |(cut, whole): (&model::figures::Point, &model::figures::Point)| {
        let both = cut.ours.zip(whole.ours);
        both.map_or(
            cut.ours.is_none() && whole.ours.is_some(),
            |(cut, whole)| cut > whole * VARY,
        )
    };
    let said = |series: &model::figures::Series| {
        let worse: Vec<bool> = series
            .points
            .iter()
            .zip(&whole.points)
            .map(is_worse)
            .collect();
        match worse.windows(2).position(|pair| pair[0] && pair[1]) {
            Some(at) => format!(
                "{} is worse from {:.0} queries a second on",
                series.name, series.points[at].x
            ),
            None => format!("{} is never worse", series.name),
        }
    };
    let said: Vec<String> = others.iter().map(said).collect();
    format!(" In figure 15, of {of}: {}.", said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::chosen;

    const EFFORT: Effort = Effort {
        queries: 2_000,
        runs: 2,
    };

    #[test]
    fn figure_15_is_of_the_times_that_were_measured() {
        let mut result = ExperimentResult::of(&chosen(&["model-figures".into()]).unwrap()[0]);
        let measured = Searches::new([vec![0.5], vec![0.1], vec![0.3]]).unwrap();
        calculate(&mut result, Some(measured), EFFORT).unwrap();
        assert_eq!(result.panels.len(), 5);
        let tails = &result.panels[3];
        assert_eq!(tails.series.len(), 4);
        assert!(tails.series.iter().all(|line| line.points.len() > 25));
        // Alone, the longest query of three takes 5/3 of the mean.
        let first = tails.series[0].points[0];
        assert!(
            (first.y / (MEAN_MS * 5.0 / 3.0) - 1.0).abs() < 0.2,
            "{first:?}"
        );
        assert!(
            result.reading.contains("3 queries, mean 0.300 ms"),
            "{}",
            result.reading
        );
    }

    #[test]
    fn figures_without_a_measurement_say_what_is_lacking() {
        let mut result = ExperimentResult::of(&chosen(&["model-figures".into()]).unwrap()[0]);
        calculate(&mut result, None, EFFORT).unwrap();
        // Figures 2.3, 2.4, 15 and 19 are diagrams; 2.2 and the prices of 19 are tables.
        let titles: Vec<&str> = result
            .panels
            .iter()
            .map(|panel| panel.title.as_str())
            .collect();
        assert_eq!(titles.len(), 4, "{titles:?}");
        assert_eq!(result.tables.len(), 2);
        assert_eq!(result.tables[0].rows[3][5], "88.9");
        assert_eq!(result.tables[0].rows[3][6], "89");
        assert!(
            result.reading.contains("run `response-distribution`"),
            "{}",
            result.reading
        );
        assert!(
            result
                .reading
                .contains("SMT-Part saves 88.9 ms (published 89)")
        );
        assert!(result.reading.contains("rest_watts 40 W"));
    }
}
