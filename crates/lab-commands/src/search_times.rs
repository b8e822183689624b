//! Measured search times, and what their run tells beside them.

use model::plan::{Checked, Replay};
use model::simulate::Searches;

/// Options of every command that reads search times.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RunArguments {
    /// Labels of a load run despite which its times are taken: contended, client-limited, unstable,
    /// unanswered; with `contradicted`, a result that contradicts its own run ends with exit code 0
    #[arg(long, value_name = "LABEL,...", value_delimiter = ',', value_parser = parse_despite, help_heading = "Measured runs")]
    pub(crate) despite: Vec<String>,
    /// Number of cores that the server of a load run had [default: those of the machine of the load]
    #[arg(long, value_name = "N",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=100_000), help_heading = "Measured runs")]
    pub(crate) run_cores: Option<usize>,
}

/// Value that `--despite` accepts beside labels: for a result that contradicts its own run.
pub(crate) const CONTRADICTED: &str = "contradicted";
/// Labels that make a run unfit for a model of its server; those of crate `load`, which a program without
/// the laboratory lacks.
pub(crate) const UNFIT: [&str; 5] = [
    "client-limited",
    "unanswered",
    "unstable",
    "contended",
    "no-answers",
];

fn parse_despite(text: &str) -> Result<String, String> {
    match UNFIT.contains(&text) || text == CONTRADICTED {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "not one of {}, {CONTRADICTED}",
            UNFIT[..4].join(", ")
        )),
    }
}

/// Search times, and facts of the load run that measured them.
#[derive(Debug, Clone)]
pub(crate) struct SearchTimes {
    /// Core time of the search of each query.
    pub(crate) searches: Searches,
    /// The run, where the times are of one.
    pub(crate) run: Option<MeasuredRun>,
}

/// Facts of a load run beside its search times.
#[derive(Debug, Clone)]
pub(crate) struct MeasuredRun {
    /// Labels despite which it is taken, with their reasons.
    pub(crate) despite: Vec<String>,
    /// Core time of each query beside its search, in ms.
    pub(crate) rest_ms: Vec<f64>,
    /// Time of an answer without work of the server, in ms.
    pub(crate) idle_ms: f64,
    /// Sentences on how the demand was measured.
    pub(crate) assumed: Vec<String>,
    /// Queries as they came, one set a repetition.
    pub(crate) replays: Vec<Replay>,
    /// Measured response times in ms, ascending; infinity for requests without an answer.
    pub(crate) responses_ms: Vec<f64>,
    /// Measured rate, in queries a second.
    pub(crate) rate_per_s: f64,
}

impl MeasuredRun {
    /// Returns the line that says despite which labels the run is taken; `None` without any.
    pub(crate) fn despite_line(&self) -> Option<String> {
        (!self.despite.is_empty()).then(|| {
            format!(
                "despite the labels of its run, so with care: {}",
                self.despite.join("; ")
            )
        })
    }

    /// Compares the measured percentile with that of the model for the rate of the run.
    pub(crate) fn checked(&self, share: f64) -> anyhow::Result<Option<Checked>> {
        Ok(Checked::of(
            &self.replays,
            share,
            self.rate_per_s,
            &self.responses_ms,
        )?)
    }
}
