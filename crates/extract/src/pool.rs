//! Pool of child processes, as an extractor for the readers of sources.

use crate::confinement::Limits;
use crate::conversation::Conversation;
use crate::queue::{Put, queue};
use crate::turns::{Ticket, Turns};
use crate::worker::Worker;
use corpus::{Extract, Extracted, Extraction, Kind};
use std::ffi::OsString;
use std::io::Read;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Upper limit on the children at work, and on the idle ones that are kept. Each may hold a long text.
const CHILDREN_MAX: usize = 4;

/// Files started for each child, so that a file that takes long does not leave the others without work.
const AHEAD_EACH: usize = 16;

/// Upper limits on the files that one child reads, and on its processor time: what a leak or an intruder can gather.
const FILES_MAX: u32 = 256;
const CHILD_CPU_MS_MAX: u64 = 10_000;

/// Command that runs [`crate::child::run`], without its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments.
    pub arguments: Vec<OsString>,
}

impl Launch {
    /// Returns the command of this program itself, whose first argument `extract-child` runs the child.
    pub fn own_program() -> Launch {
        Launch {
            // The link names the running program, even where its file was replaced.
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec![crate::child::SUBCOMMAND.into()],
        }
    }
}

/// Children that wait for files, started when they are needed.
#[derive(Debug, Clone)]
pub struct Pool(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    launch: Launch,
    pub(crate) limits: Limits,
    /// Upper limit on the time without a result, while the parent waits.
    pub(crate) wait_max: Duration,
    idle: Mutex<Vec<Worker>>,
    turns: Turns,
    children_max: usize,
}

impl Pool {
    /// Creates a pool whose children have these limits. The parent waits as long for a document as its processor time.
    pub fn new(launch: Launch, limits: Limits) -> Pool {
        Pool(Arc::new(Shared {
            launch,
            limits,
            wait_max: Duration::from_secs(limits.document_s),
            idle: Mutex::new(Vec::new()),
            turns: Turns::default(),
            children_max: std::thread::available_parallelism()
                .map_or(1, NonZero::get)
                .min(CHILDREN_MAX),
        }))
    }
}

impl Shared {
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

impl Extract for Pool {
    fn reads(&self, kind: Kind) -> bool {
        match kind {
            Kind::Archive => cfg!(feature = "archives"),
            Kind::Office => cfg!(feature = "office"),
            Kind::Mail => cfg!(feature = "mail"),
            Kind::Pdf => cfg!(feature = "pdf"),
        }
    }

    fn ahead(&self) -> usize {
        self.0.children_max * AHEAD_EACH
    }

    /// The results of several files must be taken in the order in which these were started.
    fn start(&self, name: &str, bytes: Box<dyn Read + Send>) -> Extraction {
        let (pool, name) = (self.0.clone(), name.to_owned());
        let ticket = pool.turns.ticket();
        let (put, take) = queue();
        let thread = std::thread::Builder::new().name("extract".to_owned());
        match thread.spawn(move || converse(&pool, ticket, &name, bytes, &put)) {
            Ok(_) => Box::new(take),
            Err(error) => Box::new(std::iter::once(bad(format!(
                "cannot start a thread: {error}"
            )))),
        }
    }
}

/// Reads a file with a child when its turn comes, until nobody takes the results.
fn converse(
    pool: &Arc<Shared>,
    mut ticket: Ticket,
    name: &str,
    bytes: Box<dyn Read + Send>,
    put: &Put,
) {
    ticket.enter(pool.children_max);
    if put.is_abandoned() {
        return;
    }
    match pool.worker() {
        Ok(worker) => {
            let mut results = Conversation::new(pool.clone(), worker, name, bytes);
            if results.all(|result| put.put(result)) {
                put.settle();
            }
        }
        Err(reason) => {
            put.put(bad(reason));
        }
    }
}

fn bad(reason: String) -> Extracted {
    let path = String::new();
    Extracted::Bad { path, reason }
}
