//! The queues as all calls share them.
use crate::frontier::FrontierError;
use crate::politeness::TimeMs;
use crate::queues::queues::Queues;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

/// Answers of a stream.
pub(super) type Answers<T> = ReceiverStream<Result<T, Status>>;

/// The queues of all calls.
#[derive(Clone)]
pub(super) struct Shared {
    queues: Arc<Mutex<Queues>>,
    failed: mpsc::UnboundedSender<FrontierError>,
}

impl Shared {
    /// `failed` receives every refusal of the disk.
    pub(super) fn new(queues: Queues, failed: mpsc::UnboundedSender<FrontierError>) -> Shared {
        Shared {
            queues: Arc::new(Mutex::new(queues)),
            failed,
        }
    }

    pub(super) fn locked<T>(&self, work: impl FnOnce(&mut Queues) -> T) -> T {
        // After a panic the store is whole, or refuses further changes.
        work(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works on the queues at the present time. A refusal of the disk also ends the server.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&mut Queues, TimeMs) -> Result<T, FrontierError>,
    ) -> Result<T, Status> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = TimeMs(since.map_or(0, |since| since.as_millis() as u64));
        self.locked(|queues| work(queues, now)).map_err(|error| {
            let status = Status::unavailable(error.to_string());
            let _ = self.failed.send(error);
            status
        })
    }
}
