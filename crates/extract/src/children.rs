//! Children that wait for files, started when they are needed.

use crate::confinement::Limits;
use crate::launch::Launch;
use crate::turns::Turns;
use crate::worker::Worker;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper limit on the children at work, and on the idle ones that are kept. Each may hold a long text.
const CHILDREN_MAX: usize = 4;

/// Upper limits on the files that one child reads, and on its processor time: what a leak or an intruder can gather.
const FILES_MAX: u32 = 256;
const CHILD_CPU_MS_MAX: u64 = 10_000;

/// Idle children, and the limits of all.
#[derive(Debug)]
pub(crate) struct Children {
    launch: Launch,
    limits: Limits,
    /// Upper limit on the time without a result, while the parent waits.
    pub(crate) wait_max: Duration,
    idle: Mutex<Vec<Worker>>,
    /// Turns of the files.
    pub(crate) turns: Turns,
    /// Upper limit on the children at work: one for each core.
    pub(crate) max: usize,
}

impl Children {
    /// Creates a store without children.
    pub(crate) fn new(launch: Launch, limits: Limits) -> Children {
        Children {
            launch,
            limits,
            wait_max: Duration::from_secs(limits.document_s),
            idle: Mutex::new(Vec::new()),
            turns: Turns::default(),
            max: std::thread::available_parallelism()
                .map_or(1, NonZero::get)
                .min(CHILDREN_MAX),
        }
    }

    /// Returns an idle child, or a new one.
    pub(crate) fn worker(&self) -> Result<Worker, String> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(worker) => Ok(worker),
            None => Worker::start(&self.launch, self.limits),
        }
    }

    /// Takes a child back that has ended a file, unless it has read enough.
    pub(crate) fn give_back(&self, worker: Worker, cpu_ms: u64) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.files < FILES_MAX && cpu_ms < CHILD_CPU_MS_MAX && idle.len() < CHILDREN_MAX {
            idle.push(worker);
        }
    }
}
