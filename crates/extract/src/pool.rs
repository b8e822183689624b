//! Pool of child processes, as an extractor for the readers of sources.

use crate::children::Children;
use crate::confinement::Limits;
use crate::conversation::Conversation;
use crate::launch::Launch;
use crate::queue::{Put, queue};
use crate::turns::Ticket;
use corpus::{Extract, Extracted, Extraction, Kind};
use std::io::Read;
use std::sync::Arc;

/// Files started for each child, so that a file that takes long does not leave the others without work.
const AHEAD_EACH: usize = 16;

/// Extractor whose work is done by children.
#[derive(Debug, Clone)]
pub struct Pool(Arc<Children>);

impl Pool {
    /// Creates a pool whose children have these limits. The parent waits as long for a document as its processor time.
    pub fn new(launch: Launch, limits: Limits) -> Pool {
        Pool(Arc::new(Children::new(launch, limits)))
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
        self.0.max * AHEAD_EACH
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

/// Reads a file with a child when its turn comes, as long as the results are wanted.
fn converse(
    pool: &Arc<Children>,
    mut ticket: Ticket,
    name: &str,
    bytes: Box<dyn Read + Send>,
    put: &Put,
) {
    ticket.enter(pool.max);
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
