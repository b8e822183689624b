//! Execution of a run, from settings to samples.
use crate::clock::Clock;
use crate::examine::{Outbox, examine};
use crate::noise::{Noise, NoiseMeter};
use crate::open::{self, Schedule};
use crate::settings::Load;
use crate::{Live, LoadError, Sample, Settings, closed};
use std::time::{Duration, SystemTime};

/// Delay in ns between drawing the schedule and its first instant, so that all threads are ready.
const LEAD_NS: u64 = 2_000_000;

/// Result of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// All requests including the warm-up, by intended instant.
    pub samples: Vec<Sample>,
    /// Start of the run.
    pub started_at: SystemTime,
    /// Duration of the warm-up.
    pub warm_up: Duration,
    /// Duration of the measurement; shorter than requested if the run was stopped.
    pub measured: Duration,
    /// Whether the run lasted to its end. A stopped run keeps the samples so far.
    pub is_complete: bool,
    /// Interference by other programs on the machine during the run.
    pub noise: Noise,
}

impl Outcome {
    /// Returns the samples without the warm-up.
    pub fn measured(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.warm_up)
    }
}

/// Offers the load and waits until every request has ended.
///
/// # Errors
/// Invalid settings, or threads or sockets that the system refuses. A target that does not answer is
/// not an error: the samples record it.
pub fn run(settings: &Settings) -> Result<Outcome, LoadError> {
    run_watched(settings, &Live::default())
}

/// Does the same as [`run`]; `live` reports its progress and can stop it.
///
/// # Errors
/// The errors of [`run`].
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
            // An open loop has its schedule already.
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

/// Raises the limit on open files, one per connection. If that fails, connections fail and are counted.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
