//! What state does a simulation keep, and how is one begun and ended?

use super::arrivals::Arrivals;
use super::earliest::Earliest;
use super::machine::{Layout, Machine};
use super::report::Report;
use super::streams::{Stream, Streams};
use super::times::Times;
use crate::error::{ModelError, not_negative, positive};
use schedule::policy::Policy;
use std::collections::VecDeque;

/// What is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Cores.
    pub machine: Machine,
    /// Queues.
    pub layout: Layout,
    /// When queries arrive.
    pub arrivals: Arrivals,
    /// How long their parts take.
    pub times: Times,
    /// Queries in all.
    pub queries: usize,
    /// How many of them, from the first, are left out of the figures.
    pub warm_up: usize,
    /// Queries that may wait in one queue, `None` for any number. Those that have begun do not count.
    pub queue_max: Option<usize>,
    /// What has not begun so long after its query's arrival is not searched any more.
    pub deadline_ms: Option<f64>,
    /// Added to every response: the front-end, the merge, the network.
    pub fixed_ms: f64,
    /// Of all chance.
    pub seed: u64,
    /// Whether responses are also kept in order of arrival.
    pub keep_order: bool,
}

impl Settings {
    /// Queries on a machine with one queue; the first tenth is warm-up.
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

/// Simulates the whole run, from empty to empty.
///
/// Costs two events a part, each logarithmic in the cores. Overload is not an error: the queue grows
/// and the figures show it.
///
/// # Errors
/// [`ModelError`] where settings are out of range or contradict each other.
pub fn run<P: Policy + ?Sized>(settings: &Settings, policy: &mut P) -> Result<Report, ModelError> {
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
        policy,
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

/// Whether the speed of a running part may change.
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

/// No query.
pub(super) const NONE: u32 = u32::MAX;

/// A core and what runs on it.
#[derive(Debug, Clone)]
pub(super) struct CoreState {
    /// The query's place, or `NONE`.
    pub(super) slot: u32,
    /// Work left at `since_ms`, in ms at speed 1.
    pub(super) left_ms: f64,
    pub(super) since_ms: f64,
    pub(super) speed: f64,
    /// Done with its part, but kept by a gang until the last one is.
    pub(super) held: bool,
    pub(super) disturbed: bool,
    /// When its query began on any core.
    pub(super) query_began_ms: f64,
    /// When the core itself became busy.
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

/// A query in the system.
#[derive(Debug, Clone, Default)]
pub(super) struct Live {
    pub(super) number: u64,
    pub(super) arrived_ms: f64,
    /// When its first part began; NaN before.
    pub(super) began_ms: f64,
    /// Handlers that may still join it.
    pub(super) lanes: u32,
    /// The next part to begin, where parts are not bound to queues.
    pub(super) next_part: u32,
    /// Parts not done and not dropped.
    pub(super) unfinished: u32,
    pub(super) dropped: u32,
}

/// What waits: a query's place, and which part where parts wait by themselves.
pub(super) type Waiting = (u32, u32);

pub(super) struct Engine<'a, P: ?Sized> {
    pub(super) settings: &'a Settings,
    pub(super) policy: &'a mut P,
    pub(super) parts: usize,
    pub(super) coupled: bool,
    pub(super) arrivals: super::arrivals::ArrivalClock<'a>,
    pub(super) arrivals_stream: Stream,
    pub(super) source: super::times::TimeSource<'a>,
    pub(super) times_stream: Stream,
    pub(super) machine_stream: Stream,
    pub(super) now_ms: f64,
    pub(super) cores: Vec<CoreState>,
    /// When each core's part is done.
    pub(super) ends: Earliest,
    pub(super) idle_words: Vec<u64>,
    pub(super) idle: usize,
    /// Cores that search; those held by a gang are neither idle nor busy.
    pub(super) busy: usize,
    pub(super) disturbance_ends: Earliest,
    pub(super) queues: Vec<VecDeque<Waiting>>,
    pub(super) next_core: usize,
    pub(super) live: Vec<Live>,
    pub(super) free: Vec<u32>,
    /// Part times of live queries, `parts` a place.
    pub(super) work_ms: Vec<f64>,
    pub(super) tally: Tally,
}

/// Sums on the way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) report: Report,
    pub(super) in_system: u64,
    pub(super) waits_ms: f64,
    pub(super) found_all_busy: u64,
    /// Whether the warm-up is over and the last query has not arrived.
    pub(super) counting: bool,
    pub(super) counted_ms: f64,
    pub(super) area_ms: f64,
    pub(super) idle_area_ms: f64,
    pub(super) all_busy_ms: f64,
}

impl Tally {
    /// Adds up what held from one instant to the next.
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

    /// The report, when the last query has left.
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
