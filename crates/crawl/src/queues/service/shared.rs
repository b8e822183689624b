//! The queues as all calls share them, and the turns in which calls work on them.
//!
//! The queues are worked on by one thread at a time, so further threads would only wait. Calls take turns before they take a
//! thread: streams among themselves first, so that a call of one answer waits for at most one step of each kind of stream.
use super::budget::{Budget, server_ends};
use crate::frontier::FrontierError;
use crate::politeness::TimeMs;
use crate::queues::queues::Queues;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, mpsc, watch};
use tonic::Status;

/// Upper limit on calls that work on the queues, or wait for their turn on a thread.
const TURNS: usize = 4;

/// The queues of all calls.
#[derive(Clone)]
pub(super) struct Shared {
    queues: Arc<Mutex<Queues>>,
    failed: mpsc::UnboundedSender<FrontierError>,
    turns: Arc<Semaphore>,
    /// Turns of streams that give URLs, and of streams that put some.
    giving: Arc<Semaphore>,
    putting: Arc<Semaphore>,
    /// Streams and bytes that are left for further ones.
    pub(super) budget: Budget,
    ending: watch::Receiver<bool>,
}

/// Kind of a call, by whom it waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Turn {
    /// A call of one answer.
    Single,
    /// A step of a stream of URLs that are given or listed.
    Giving,
    /// A step of a stream of URLs that are put.
    Putting,
}

impl Shared {
    /// `failed` receives every refusal of the disk, and `ending` tells when the server ends.
    pub(super) fn new(
        queues: Queues,
        failed: mpsc::UnboundedSender<FrontierError>,
        ending: watch::Receiver<bool>,
    ) -> Shared {
        Shared {
            queues: Arc::new(Mutex::new(queues)),
            failed,
            turns: Arc::new(Semaphore::new(TURNS)),
            giving: Arc::new(Semaphore::new(1)),
            putting: Arc::new(Semaphore::new(1)),
            budget: Budget::default(),
            ending,
        }
    }

    pub(super) fn locked<T>(&self, work: impl FnOnce(&mut Queues) -> T) -> T {
        // After a panic the store is whole, or refuses further changes.
        work(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works on the queues at the present time, on a thread that may wait for the disk. A refusal of the disk also ends the
    /// server.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce(&mut Queues, TimeMs) -> Result<T, FrontierError> + Send + 'static,
    ) -> Result<T, Status> {
        let ends = |_| server_ends();
        let _among_streams = match turn {
            Turn::Single => None,
            Turn::Giving => Some(self.giving.acquire().await.map_err(ends)?),
            Turn::Putting => Some(self.putting.acquire().await.map_err(ends)?),
        };
        let turn = self.turns.clone().acquire_owned().await.map_err(ends)?;
        let shared = self.clone();
        let ended = tokio::task::spawn_blocking(move || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = TimeMs(since.map_or(0, |since| since.as_millis() as u64));
            let done = shared.locked(|queues| work(queues, now));
            drop(turn);
            done.map_err(|error| {
                let status = Status::unavailable(error.to_string());
                let _ = shared.failed.send(error);
                status
            })
        });
        ended
            .await
            .map_err(|error| Status::internal(error.to_string()))?
    }

    /// Returns when the server ends.
    pub(super) async fn ended(&self) {
        let mut ending = self.ending.clone();
        // Its sender is gone where the server is.
        let _ = ending.wait_for(|ends| *ends).await;
    }
}
