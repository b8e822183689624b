//! A run from its settings to its samples.
use crate::clock::Clock;
use crate::examine::{Outbox, examine};
use crate::noise::{Noise, NoiseMeter};
use crate::open::{self, Schedule};
use crate::settings::Load;
use crate::{Live, LoadError, Sample, Settings, closed};
use std::time::{Duration, SystemTime};

/// Between drawing the schedule and its first instant, so that threads are up when it comes.
const LEAD_NS: u64 = 2_000_000;

/// What a run gave.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Every request, warm-up included, by its intended instant.
    pub samples: Vec<Sample>,
    /// When the run began.
    pub started_at: SystemTime,
    /// How long the warm-up was.
    pub warm_up: Duration,
    /// How long requests were measured: shorter than asked for where the run was stopped.
    pub measured: Duration,
    /// Whether the run went on to its end. Where it was stopped, the samples so far are here.
    pub is_complete: bool,
    /// What else happened on this machine meanwhile.
    pub noise: Noise,
}

impl Outcome {
    /// The samples that count.
    pub fn measured(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.warm_up)
    }
}

/// Offers the load and waits until everything has ended.
///
/// # Errors
/// Settings that make no sense, and threads or sockets that the machine refuses. A target that does
/// not answer is no error: its samples say so.
pub fn run(settings: &Settings) -> Result<Outcome, LoadError> {
    run_watched(settings, &Live::default())
}

/// As [`run`], watched and stopped through `live`.
///
/// # Errors
/// As [`run`].
pub fn run_watched(settings: &Settings, live: &Live) -> Result<Outcome, LoadError> {
    settings.validate()?;
    raise_file_limit();
    let schedule = match &settings.load {
        Load::Open { arrivals } => Some(Schedule::draw(settings, arrivals)?),
        Load::Closed { .. } => None,
    };
    let started_at = SystemTime::now();
    let noise = NoiseMeter::start();
    let clock = Clock::start().later(LEAD_NS);
    let (outbox, inbox) = Outbox::new(live);
    let (ran, samples) = std::thread::scope(|scope| {
        let examiner = scope.spawn(|| examine(&inbox));
        let ran = match (&settings.load, &schedule) {
            (Load::Closed { clients, think }, _) => {
                closed::run(settings, (*clients, *think), clock, live, &outbox)
            }
            (_, Some(schedule)) => open::run(settings, schedule, clock, live, outbox.clone()),
            // An open loop has its schedule.
            (_, None) => Ok(()),
        };
        drop(outbox);
        (ran, examiner.join())
    });
    ran?;
    let samples = samples.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let elapsed = Duration::from_nanos(clock.now_ns());
    Ok(Outcome {
        samples,
        started_at,
        warm_up: settings.warm_up,
        measured: elapsed
            .saturating_sub(settings.warm_up)
            .min(settings.duration),
        is_complete: !live.is_stopped(),
        noise: noise.stop(),
    })
}

/// Every connection is a file. Where the limit cannot be raised, connections fail and are counted.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
