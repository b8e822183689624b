//! Results of experiments as files, from which alone the report is made.
//!
//! `RESULTS/lab.json` describes the session and the machine, `RESULTS/EXPERIMENT/result.json` an experiment.
use crate::experiment::Experiment;
use crate::{Capability, LabError};
use load::{Machine, SelfCheck, holm};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// p value from which on chance explains a difference.
const P_MAX: f64 = 0.05;

/// Properties common to all experiments in a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Version of the program.
    pub shorttail: String,
    /// Start of the latest run into this folder, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// `quick` or `full`.
    pub depth: String,
    /// Machine of the runs.
    pub machine: Machine,
    /// Capabilities of the machine.
    pub capabilities: Vec<Capability>,
    /// Path of the index.
    pub index: String,
    /// Checksum of the manifests of the index.
    pub index_checksum: String,
    /// The file of queries.
    pub queries: String,
    /// Checksum of the queries in order.
    pub queries_checksum: String,
    /// Closed-loop throughput in queries per second, to which rates are relative. `None` if no
    /// experiment needed it.
    pub capacity_qps: Option<f64>,
    /// Search times of the queries, where they were made for a wanted one.
    #[serde(default)]
    pub search_time: Option<String>,
    /// Limits of this client, measured at twice the highest rate that an experiment asked of it.
    #[serde(default)]
    pub self_check: Option<SelfCheck>,
}

/// Result of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// Name of the experiment.
    pub name: String,
    /// Question that it answers.
    pub question: String,
    /// Source of the published figure.
    pub figure: String,
    /// Finding of the published figure.
    pub published: String,
    /// Missing capabilities; if there are any, nothing was measured.
    pub lacking: Vec<String>,
    /// Diagrams: the measured ones first, then the published ones.
    pub panels: Vec<Panel>,
    /// Results shown as tables.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Comparisons of arms with the first one.
    pub comparisons: Vec<ComparisonRow>,
    /// Interpretation in about two sentences, generated from the numbers.
    pub reading: String,
    /// Warnings of its runs, each with the number of affected runs.
    pub warnings: Vec<String>,
    /// Number of runs in the experiment.
    pub runs_count: usize,
    /// Figures that this machine does not provide and arms that it cannot run, each with its reason.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// A diagram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Title above the diagram.
    pub title: String,
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// Series of points.
    pub series: Vec<Series>,
    /// Whether the diagram shows published values.
    pub is_published: bool,
}

/// An axis of a diagram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Label with the unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub is_log: bool,
}

/// A line or set of points in a diagram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points in drawing order.
    pub points: Vec<Point>,
}

/// A point of a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Value on the x axis.
    pub x: f64,
    /// Value on the y axis.
    pub y: f64,
    /// 95 % interval of y, if known.
    pub interval: Option<(f64, f64)>,
}

/// A table; the first column is aligned left, the others right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Title above the table.
    pub title: String,
    /// Column headings.
    pub headings: Vec<String>,
    /// Rows of cells, each as long as the headings.
    pub rows: Vec<Vec<String>>,
}

/// Comparison of an arm with the first one at one rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// Name of the arm.
    pub arm: String,
    /// Name of the first arm.
    pub baseline: String,
    /// Offered load, in queries per second.
    pub rate_qps: f64,
    /// Compared figure: `mean`, `p99`.
    pub figure: String,
    /// The arm's time over the baseline's, or its throughput; `None` without enough samples.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// p value of a ratio of 1, corrected for the number of comparisons of the experiment (Holm).
    #[serde(default)]
    pub p_value: Option<f64>,
    /// Verdict: `slower`, `faster`, `no difference`, or [`ComparisonRow::INVALID`].
    pub verdict: String,
}

impl ComparisonRow {
    /// Verdict where all runs of a side are invalid.
    pub const INVALID: &str = "invalid runs: no verdict";
    /// Verdict where the ratio may be 1.
    pub const NO_DIFFERENCE: &str = "no difference";

    /// Returns the ratio as text: `0.87`, `-` where it is not known.
    pub(crate) fn ratio_text(&self) -> String {
        self.ratio
            .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
    }

    /// Returns the results of comparisons, one clause each: those that differ beyond chance first, then those without a
    /// verdict, with all figures of one pair of arms and one rate together.
    pub(crate) fn clauses<'a>(rows: impl IntoIterator<Item = &'a ComparisonRow>) -> Vec<String> {
        let mut clauses = Vec::new();
        let mut invalid: Vec<(&ComparisonRow, Vec<&str>)> = Vec::new();
        for row in rows {
            let ComparisonRow {
                arm,
                baseline,
                figure,
                verdict,
                ..
            } = row;
            let at = row.at();
            match verdict.as_str() {
                ComparisonRow::NO_DIFFERENCE => {}
                ComparisonRow::INVALID => {
                    let pair = |other: &ComparisonRow| {
                        (&other.arm, &other.baseline) == (arm, baseline)
                            && other.rate_qps == row.rate_qps
                    };
                    match invalid.iter_mut().find(|(first, _)| pair(first)) {
                        Some((_, figures)) => figures.push(figure),
                        None => invalid.push((row, vec![figure])),
                    }
                }
                "higher" | "lower" => clauses.push(format!(
                    "the {figure} of {arm} is {verdict} than that of {baseline}{at} (×{})",
                    row.ratio_text()
                )),
                _ => clauses.push(format!(
                    "{arm} is {verdict} than {baseline}{at} ({figure} ×{})",
                    row.ratio_text()
                )),
            }
        }
        clauses.extend(invalid.into_iter().map(|(row, figures)| {
            format!(
                "no verdict on {} against {}{} ({}): runs are invalid",
                row.arm,
                row.baseline,
                row.at(),
                figures.join(", ")
            )
        }));
        clauses
    }

    /// Returns the rate as a part of a sentence; nothing for saturation, which has none.
    fn at(&self) -> String {
        match self.rate_qps > 0.0 {
            true => format!(" at {:.0} queries a second", self.rate_qps),
            false => String::new(),
        }
    }

    /// Corrects the p values of a family of comparisons, and takes back verdicts that chance explains.
    pub(crate) fn correct(family: &mut [ComparisonRow]) {
        let known: Vec<f64> = family.iter().filter_map(|row| row.p_value).collect();
        let mut corrected = holm(&known).into_iter();
        for row in family.iter_mut().filter(|row| row.p_value.is_some()) {
            row.p_value = corrected.next();
            if row.p_value.is_some_and(|p_value| p_value >= P_MAX) {
                row.verdict = ComparisonRow::NO_DIFFERENCE.into();
            }
        }
    }
}

impl Point {
    pub(crate) fn at(x: f64, y: f64) -> Point {
        Point {
            x,
            y,
            interval: None,
        }
    }
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Axis {
        Axis {
            label: label.into(),
            is_log: false,
        }
    }

    pub(crate) fn log(label: &str) -> Axis {
        Axis {
            label: label.into(),
            is_log: true,
        }
    }
}

impl ExperimentResult {
    /// Returns an empty result of an experiment.
    pub(crate) fn of(experiment: &Experiment) -> ExperimentResult {
        ExperimentResult {
            name: experiment.name.clone(),
            question: experiment.question.clone(),
            figure: experiment.figure.clone(),
            published: experiment.published.clone(),
            lacking: Vec::new(),
            panels: Vec::new(),
            tables: Vec::new(),
            comparisons: Vec::new(),
            reading: String::new(),
            warnings: Vec::new(),
            runs_count: 0,
            missing: Vec::new(),
        }
    }

    /// Returns whether arms were compared and no comparison has valid runs.
    pub fn is_invalid(&self) -> bool {
        let mut rows = self.comparisons.iter();
        !self.comparisons.is_empty() && rows.all(|row| row.verdict == ComparisonRow::INVALID)
    }

    /// Appends the published series, one panel per title.
    pub(crate) fn add_published(&mut self, experiment: &Experiment) {
        for published in &experiment.published_series {
            let series = Series {
                name: published.name.clone(),
                points: published
                    .points
                    .iter()
                    .map(|&(x, y)| Point::at(x, y))
                    .collect(),
            };
            if let Some(panel) = self.panels.iter_mut().find(|p| p.title == published.panel) {
                panel.series.push(series);
                continue;
            }
            let axis = |label: &str, is_log| Axis {
                label: label.into(),
                is_log,
            };
            self.panels.push(Panel {
                title: published.panel.clone(),
                x: axis(&published.x, published.x_log),
                y: axis(&published.y, published.y_log),
                series: vec![series],
                is_published: true,
            });
        }
    }
}

/// Writes JSON atomically, through a temporary file.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let failed = |reason: String| LabError::file(path, reason);
    let json = serde_json::to_string_pretty(value).map_err(|error| failed(error.to_string()))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    }
    let partial = path.with_extension("partial");
    std::fs::write(&partial, json + "\n")
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|error| failed(format!("{error}; make room there and run again")))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, LabError> {
    let bytes = std::fs::read(path)
        .map_err(|error| LabError::file(path, format!("{error}; `lab run --into DIR` makes it")))?;
    serde_json::from_slice(&bytes).map_err(|error| LabError::file(path, error))
}

/// Reads all results of a folder, in the order of the experiments.
///
/// # Errors
/// No results, or damaged ones.
pub fn read(folder: &Path) -> Result<(Session, Vec<ExperimentResult>), LabError> {
    let session = read_json(&folder.join("lab.json"))?;
    let mut results = Vec::new();
    for experiment in crate::experiment::all()? {
        let path = folder.join(&experiment.name).join("result.json");
        if path.exists() {
            results.push(read_json(&path)?);
        }
    }
    Ok((session, results))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_said_by_their_verdicts() {
        let row = |figure: &str, verdict: &str, rate_qps: f64| ComparisonRow {
            arm: "b".into(),
            baseline: "a".into(),
            rate_qps,
            figure: figure.into(),
            ratio: Some(0.85),
            interval: None,
            p_value: None,
            verdict: verdict.into(),
        };
        let said = ComparisonRow::clauses(&[
            row("mean", ComparisonRow::INVALID, 2.0),
            row("p99", ComparisonRow::INVALID, 2.0),
            row("mean", "faster", 5.0),
            row("p99", ComparisonRow::NO_DIFFERENCE, 5.0),
            row("mean", ComparisonRow::INVALID, 5.0),
            row("throughput", "higher", 0.0),
        ]);
        assert_eq!(
            said,
            [
                "b is faster than a at 5 queries a second (mean ×0.85)",
                "the throughput of b is higher than that of a (×0.85)",
                "no verdict on b against a at 2 queries a second (mean, p99): runs are invalid",
                "no verdict on b against a at 5 queries a second (mean): runs are invalid",
            ]
        );
    }

    #[test]
    fn many_comparisons_find_fewer_differences() {
        let row = |p_value: f64| ComparisonRow {
            arm: "b".into(),
            baseline: "a".into(),
            rate_qps: 1.0,
            figure: "p99".into(),
            ratio: Some(0.5),
            interval: Some((0.4, 0.9)),
            p_value: Some(p_value),
            verdict: "faster".into(),
        };
        let mut family = vec![row(0.04), row(0.001), row(0.03)];
        family.push(ComparisonRow {
            p_value: None,
            verdict: ComparisonRow::INVALID.into(),
            ..row(1.0)
        });
        ComparisonRow::correct(&mut family);
        let verdicts: Vec<&str> = family.iter().map(|row| row.verdict.as_str()).collect();
        let none = ComparisonRow::NO_DIFFERENCE;
        assert_eq!(verdicts, [none, "faster", none, ComparisonRow::INVALID]);
        assert_eq!(family[2].p_value, Some(0.06));
        let experiment = &crate::experiment::chosen(&["smt".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        assert!(!result.is_invalid());
        result.comparisons = family.split_off(3);
        assert!(result.is_invalid());
        result.comparisons.append(&mut family);
        assert!(!result.is_invalid());
    }
}
