//! Settings and state of a simulation, its start and its end.

use super::arrivals::Arrivals;
use super::earliest::Earliest;
use super::machine::{Layout, Machine};
use super::report::Report;
use super::streams::{Stream, Streams};
use super::times::Times;
use crate::error::{ModelError, not_negative, positive};
use crate::simulate::assignment::Assignment;
use std::collections::VecDeque;

/// Settings of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Cores and their interference.
    pub machine: Machine,
    /// Layout of queues.
    pub layout: Layout,
    /// Arrival process.
    pub arrivals: Arrivals,
    /// Distribution of part times.
    pub times: Times,
    /// Total number of queries.
    pub queries: usize,
    /// Length of the warm-up: the number of first queries left out of the figures.
    pub warm_up: usize,
    /// Upper limit on queries waiting in one queue, `None` for no limit. Started queries do not count.
    pub queue_max: Option<usize>,
    /// Time limit from a query's arrival, in ms; parts that have not started by then are dropped.
    pub deadline_ms: Option<f64>,
    /// Time added to every response for front-end, merge and network, in ms.
    pub fixed_ms: f64,
    /// Seed of all random streams.
    pub seed: u64,
    /// Whether responses are also kept in order of arrival.
    pub keep_order: bool,
}

impl Settings {
    /// Returns settings with one queue, a warm-up of the first tenth of the queries, and no limits.
    pub fn new(machine: Machine, arrivals: Arrivals, times: Times, queries: usize) -> Settings {
        Settings {
            machine,
            layout: Layout::Shared,
            arrivals,
            times,
            queries,
            warm_up: queries / 10,
            queue_max: None,
            deadline_ms: None,
            fixed_ms: 0.0,
            seed: 1,
            keep_order: false,
        }
    }
}

/// Simulates the whole run, from an empty system to an empty system.
///
/// Costs two events per part, each logarithmic in the number of cores. Overload is not an error: the
/// queue grows and the figures show it.
///
/// # Errors
/// [`ModelError`] if settings are out of range or contradict each other.
pub fn run<A: Assignment + ?Sized>(
    settings: &Settings,
    assignment: &mut A,
) -> Result<Report, ModelError> {
    settings.machine.check()?;
    positive("the number of queries", settings.queries as f64)?;
    not_negative("the fixed time (ms)", settings.fixed_ms)?;
    if let Some(deadline_ms) = settings.deadline_ms {
        positive("the deadline (ms)", deadline_ms)?;
    }
    if settings.warm_up >= settings.queries {
        return Err(ModelError::Conflict(
            "the warm-up must be shorter than the run",
        ));
    }
    let cores = settings.machine.cores.len();
    let queues = settings.layout.queues(cores)?;
    if let Layout::Pinned { groups } = settings.layout
        && groups > settings.times.parts()
    {
        return Err(ModelError::Conflict(
            "there are more groups of cores than partitions: some would never work",
        ));
    }
    let Streams {
        arrivals: arrivals_stream,
        times: times_stream,
        machine: machine_stream,
    } = Streams::of(settings.seed);
    let mut engine = Engine {
        settings,
        assignment,
        parts: settings.times.parts(),
        coupled: is_coupled(&settings.machine),
        arrivals: settings.arrivals.clock(settings.queries)?,
        arrivals_stream,
        source: settings.times.source()?,
        times_stream,
        machine_stream,
        now_ms: 0.0,
        cores: (0..cores).map(|_| CoreState::default()).collect(),
        ends: Earliest::new(cores),
        idle_words: idle_words(cores),
        idle: cores,
        busy: 0,
        disturbance_ends: Earliest::new(cores),
        queues: vec![VecDeque::new(); queues],
        next_core: 0,
        live: Vec::new(),
        free: Vec::new(),
        work_ms: Vec::new(),
        tally: Tally::default(),
    };
    Ok(engine.run())
}

/// Returns whether the speed of a running part may change.
fn is_coupled(machine: &Machine) -> bool {
    let siblings = machine.cores.iter().any(|core| core.sibling.is_some());
    (siblings && machine.smt_slowdown > 1.0)
        || machine.contention > 0.0
        || machine.disturbances.is_some()
}

fn idle_words(cores: usize) -> Vec<u64> {
    let mut words = vec![0u64; cores.div_ceil(64)];
    for core in 0..cores {
        words[core / 64] |= 1 << (core % 64);
    }
    words
}

/// Slot of an idle core.
pub(super) const NONE: u32 = u32::MAX;

/// State of a core and of the part that runs on it.
#[derive(Debug, Clone)]
pub(super) struct CoreState {
    /// Slot of the query, or `NONE`.
    pub(super) slot: u32,
    /// Work left at `since_ms`, in ms at speed 1.
    pub(super) left_ms: f64,
    pub(super) since_ms: f64,
    pub(super) speed: f64,
    /// Whether the part is done but its gang keeps the core until the last part is done.
    pub(super) held: bool,
    pub(super) disturbed: bool,
    /// Time at which the query first started on any core.
    pub(super) query_began_ms: f64,
    /// Time at which the core itself became busy.
    pub(super) busy_since_ms: f64,
}

impl Default for CoreState {
    fn default() -> CoreState {
        CoreState {
            slot: NONE,
            left_ms: 0.0,
            since_ms: 0.0,
            speed: 1.0,
            held: false,
            disturbed: false,
            query_began_ms: 0.0,
            busy_since_ms: 0.0,
        }
    }
}

/// State of a query in the system.
#[derive(Debug, Clone, Default)]
pub(super) struct Live {
    pub(super) number: u64,
    pub(super) arrived_ms: f64,
    /// Start time of the first part; NaN before.
    pub(super) began_ms: f64,
    /// Number of handlers that may still join the query.
    pub(super) lanes: u32,
    /// Next part to start, for parts that are not bound to queues.
    pub(super) next_part: u32,
    /// Parts neither done nor dropped.
    pub(super) unfinished: u32,
    pub(super) dropped: u32,
}

/// Queue entry: the slot of a query, and its part if parts wait separately.
pub(super) type Waiting = (u32, u32);

pub(super) struct Engine<'a, A: ?Sized> {
    pub(super) settings: &'a Settings,
    pub(super) assignment: &'a mut A,
    pub(super) parts: usize,
    pub(super) coupled: bool,
    pub(super) arrivals: super::arrivals::ArrivalClock<'a>,
    pub(super) arrivals_stream: Stream,
    pub(super) source: super::times::TimeSource<'a>,
    pub(super) times_stream: Stream,
    pub(super) machine_stream: Stream,
    pub(super) now_ms: f64,
    pub(super) cores: Vec<CoreState>,
    /// Completion time of each core's part.
    pub(super) ends: Earliest,
    pub(super) idle_words: Vec<u64>,
    pub(super) idle: usize,
    /// Number of searching cores; cores held by a gang are neither idle nor busy.
    pub(super) busy: usize,
    pub(super) disturbance_ends: Earliest,
    pub(super) queues: Vec<VecDeque<Waiting>>,
    pub(super) next_core: usize,
    pub(super) live: Vec<Live>,
    pub(super) free: Vec<u32>,
    /// Part times of live queries, `parts` per slot.
    pub(super) work_ms: Vec<f64>,
    pub(super) tally: Tally,
}

/// Running sums for the report.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) report: Report,
    pub(super) in_system: u64,
    pub(super) waits_ms: f64,
    pub(super) found_all_busy: u64,
    /// Whether the warm-up is over and the last query has not yet arrived.
    pub(super) counting: bool,
    pub(super) counted_ms: f64,
    pub(super) area_ms: f64,
    pub(super) idle_area_ms: f64,
    pub(super) all_busy_ms: f64,
}

impl Tally {
    /// Adds the state that held for `elapsed_ms` to the sums.
    #[inline]
    pub(super) fn pass(&mut self, elapsed_ms: f64, idle: usize) {
        let area_ms = elapsed_ms * self.in_system as f64;
        self.report.system_area_ms += area_ms;
        if self.counting {
            self.counted_ms += elapsed_ms;
            self.area_ms += area_ms;
            self.idle_area_ms += elapsed_ms * idle as f64;
            if idle == 0 {
                self.all_busy_ms += elapsed_ms;
            }
        }
    }

    /// Returns the report; called after the last query has left.
    pub(super) fn finish(mut self, cores: usize) -> Report {
        let report = &mut self.report;
        report.responses_ms.sort_unstable_by(f64::total_cmp);
        report.wait_ms = self.waits_ms / report.responses_ms.len() as f64;
        report.arrivals_finding_all_busy = self.found_all_busy as f64 / report.offered as f64;
        report.time_all_busy = self.all_busy_ms / self.counted_ms;
        report.in_system = self.area_ms / self.counted_ms;
        report.utilisation = 1.0 - self.idle_area_ms / self.counted_ms / cores as f64;
        report.rate_per_s = 1e3 * report.offered as f64 / self.counted_ms;
        self.report
    }
}
