//! What an experiment found, as files: `RESULTS/lab.json` about the machine and the session, and
//! `RESULTS/EXPERIMENT/result.json` for each experiment. The report is made of nothing else.
use crate::experiment::Experiment;
use crate::{Capability, LabError};
use load::Machine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// About all experiments of a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Of the program.
    pub shorttail: String,
    /// Milliseconds since 1970, at the latest run into this folder.
    pub started_unix_ms: u64,
    /// `quick` or `full`.
    pub depth: String,
    /// Where.
    pub machine: Machine,
    /// What it can measure and control.
    pub capabilities: Vec<Capability>,
    /// The index, and a checksum of its manifests.
    pub index: String,
    /// See `index`.
    pub index_checksum: String,
    /// The file of queries.
    pub queries: String,
    /// Of the queries as they stand.
    pub queries_checksum: String,
    /// What one client after the other can be answered in a closed loop, in queries a second; what
    /// rates are shares of. None where no experiment needed it.
    pub capacity_qps: Option<f64>,
}

/// What became of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// Where a figure was published.
    pub figure: String,
    /// What that figure says.
    pub published: String,
    /// What the machine lacks for it; then nothing was measured.
    pub lacking: Vec<String>,
    /// Ours first, then what was published.
    pub panels: Vec<Panel>,
    /// What is better read than seen.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Arms against the first one.
    pub comparisons: Vec<ComparisonRow>,
    /// Two sentences or so, made from the numbers.
    pub reading: String,
    /// Words of warning of its runs, each with how many runs had it.
    pub warnings: Vec<String>,
    /// Runs that it took.
    pub runs_count: usize,
    /// Figures that this machine does not give, and arms that it cannot run, each with its reason.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// One diagram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Below.
    pub x: Axis,
    /// At its side.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Whether it shows what others published.
    pub is_published: bool,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub is_log: bool,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<Point>,
}

/// One point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Along.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// 95 % interval of y, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// Rows of cells; the first column to the left, the others to the right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Above it.
    pub title: String,
    /// Of the columns.
    pub headings: Vec<String>,
    /// Each as long as the headings.
    pub rows: Vec<Vec<String>>,
}

/// An arm against the first one, at one rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The arm.
    pub arm: String,
    /// The first arm.
    pub baseline: String,
    /// Offered queries a second.
    pub rate_qps: f64,
    /// `mean`, `p99`.
    pub figure: String,
    /// The arm's time over the baseline's.
    pub ratio: f64,
    /// 95 %.
    pub interval: Option<(f64, f64)>,
    /// `slower`, `faster`, `no difference`.
    pub verdict: String,
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
    /// Of an experiment of which nothing is known yet.
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

    /// Appends what was published, one panel a title.
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

/// Writes JSON whole or not at all.
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

/// Everything in a folder, experiments in the order in which they are listed.
///
/// # Errors
/// No results are there, or damaged ones.
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
