//! State of a laboratory: its plan, the runs of its cells, and the messages about its progress.

use crate::counting::ThreadsCount;
use crate::energy::Energy;
use crate::knobs::Knob;
use crate::layouts::Layouts;
use crate::sizes::SizeCell;
use crate::{LabError, Session, Tree};
use load::{Live, Outcome, QueryStream, RunRecord, SearchTime, Summary};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder, within the results, of the single-client run.
pub(crate) const ALONE_FOLDER: &str = "one-client";

/// Inputs and effort of experiments.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Program under test.
    pub binary: PathBuf,
    /// Directory of the index.
    pub index: PathBuf,
    /// Number of partitions that the index is laid out for.
    pub partitions: usize,
    /// Name of the query file, as shown in results.
    pub queries_name: String,
    /// Queries in order.
    pub queries: Vec<String>,
    /// Search time wanted of the queries, which are then joined and picked; `None` sends them as they are.
    pub search_time: Option<SearchTime>,
    /// Policies of `query-parallelism`, in place of its arms; the first is the baseline.
    pub policies: Vec<String>,
    /// Handlers of `query-parallelism`; `None` has one a core. Fewer leave cores to the clients.
    pub handlers: Option<usize>,
    /// Documents as JSON lines, for experiments that index parts of them.
    pub corpus: Option<PathBuf>,
    /// Folder for results.
    pub into: PathBuf,
    /// File that records changes of machine settings.
    pub journal: PathBuf,
    /// Effort per experiment.
    pub depth: Depth,
    /// Whether the first arm is also compared with itself.
    pub against_itself: bool,
    /// Seed of all random streams.
    pub seed: u64,
    /// Machine settings that apply to all runs.
    pub settings: Vec<(Knob, String)>,
    /// Root of the machine's settings: [`Tree::here`], or a recorded machine.
    pub tree: Tree,
    /// Whether to simulate caches with Valgrind.
    pub simulate_caches: bool,
}

/// Effort per experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth {
    /// Name: `quick` or `full`.
    pub name: &'static str,
    /// Repetitions of every rate and arm.
    pub repetitions: usize,
    /// Duration of each measurement.
    pub duration: Duration,
    /// Duration of the warm-up before it.
    pub warm_up: Duration,
}

impl Depth {
    /// Effort for a functional check: minutes for all experiments.
    pub const QUICK: Depth = Depth {
        name: "quick",
        repetitions: 3,
        duration: Duration::from_secs(4),
        warm_up: Duration::from_millis(500),
    };
    /// Effort for reliable figures: hours.
    pub const FULL: Depth = Depth {
        name: "full",
        repetitions: 10,
        duration: Duration::from_secs(60),
        warm_up: Duration::from_secs(20),
    };
}

/// All repetitions of one arm at one rate.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) arm: String,
    pub(crate) rate_qps: f64,
    pub(crate) runs: Vec<CellRun>,
}

#[derive(Debug)]
pub(crate) struct CellRun {
    pub(crate) outcome: Outcome,
    pub(crate) summary: Summary,
    /// Mean utilisation of all cores by the server, 0 to 1.
    pub(crate) utilisation: Option<f64>,
    /// Counts of the server's threads, by kind.
    pub(crate) threads: Vec<ThreadsCount>,
    pub(crate) energy: Energy,
}

/// Runner of experiments, one after the other.
#[derive(Debug)]
pub struct Laboratory<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) session: Session,
    pub(crate) stream: QueryStream,
    pub(crate) live: &'a Live,
    pub(crate) cores_count: usize,
    pub(crate) layouts: Layouts,
    /// Single-client run, kept from the first experiment that needs it.
    pub(crate) alone: Option<Outcome>,
    /// Results by corpus size, kept from the first experiment that needs them.
    pub(crate) sizes: Option<Vec<SizeCell>>,
}

/// Progress message of a laboratory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// An experiment starts.
    Begins {
        /// Name of the experiment.
        name: String,
        /// Number of runs in the experiment.
        runs_count: usize,
    },
    /// A run starts.
    Runs {
        /// Description of the run.
        what: String,
    },
    /// An experiment has ended.
    Ends {
        /// Name of the experiment.
        name: String,
        /// Finding of the experiment, or the missing capabilities.
        reading: String,
    },
}

/// Saves a run. Results of an earlier run in the same folder are replaced.
pub(crate) fn save(
    record: &RunRecord,
    folder: &Path,
    samples: &[load::Sample],
) -> Result<(), LabError> {
    let _ = std::fs::remove_dir_all(folder);
    Ok(record.save(folder, samples)?)
}
