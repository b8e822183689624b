//! Handlers of an index server and the queue before them.
//!
//! The queue is short: a request that waits longer than a search takes is better refused while its
//! client can still react. The capacity of the queue follows the mean search time, so the wait at a
//! full queue is about the same for every index.

use crate::api::error::ServeError;
use crate::api::server_error::ServerError;
use crate::index_server::figures::Figures;
use crate::index_server::job::Job;
use crate::index_server::options::HandlerOptions;
use crate::index_server::pinning;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Upper limit of the queue capacity, in requests.
const QUEUE_MAX: usize = 1024;
/// Lower limit of the queue capacity, in requests for each handler.
const QUEUE_MIN_PER_HANDLER: usize = 4;
/// Approximate wait of the last request in a full queue, in microseconds.
const WAIT_MAX_US: u64 = 50_000;

/// Threads that search, and their queue.
pub(crate) struct Handlers {
    /// `None` only while dropping: closing the queue is what ends the handlers.
    queue: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// Capacity of the queue, in requests; 0 derives it from the mean search time.
    queue_length: usize,
    cut_off: Option<Duration>,
    figures: Arc<Figures>,
}

impl Handlers {
    /// Starts handlers; `first_chunk` names their threads.
    pub(crate) fn start(
        first_chunk: u32,
        options: &HandlerOptions,
    ) -> Result<Handlers, ServeError> {
        let (sender, receiver) = bounded(
            (options.queue_length)
                .max(QUEUE_MAX)
                .max(QUEUE_MIN_PER_HANDLER * options.handlers),
        );
        let (started, starts) = bounded(options.handlers);
        let mut figures = Arc::new(Figures {
            handlers: options.handlers,
            ..Figures::default()
        });
        let (give_figures, take_figures) = bounded::<Arc<Figures>>(options.handlers);
        let mut threads = Vec::with_capacity(options.handlers);
        for handler in 0..options.handlers {
            let (started, take_figures) = (started.clone(), take_figures.clone());
            let receiver = receiver.clone();
            let place = options.places.get(handler).cloned();
            let thread = thread::Builder::new()
                .name(format!("handler-{first_chunk}-{handler}"))
                .spawn(move || {
                    // Sending fails only if another handler could not be started.
                    let _ = started.send((handler, pinning::pin(place.as_ref())));
                    if let Ok(figures) = take_figures.recv() {
                        handle(&receiver, &figures);
                    }
                })
                .map_err(|source| ServeError::System {
                    operation: "start a handler",
                    source,
                })?;
            threads.push(thread);
        }
        // Wait for the threads: otherwise the first query would count their creation as queueing time.
        let mut places = vec![String::new(); options.handlers];
        for _ in &threads {
            if let Ok((handler, pinned)) = starts.recv() {
                places[handler] = pinned?;
            }
        }
        if let Some(figures) = Arc::get_mut(&mut figures) {
            figures.places = places;
        }
        for _ in &threads {
            let _ = give_figures.send(Arc::clone(&figures));
        }
        Ok(Handlers {
            queue: Some(sender),
            threads,
            queue_length: options.queue_length,
            cut_off: options.cut_off,
            figures,
        })
    }

    /// Returns the counters of the handlers and the queue.
    pub(crate) fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Queues a job for the next free handler. The job is refused only if the channel itself is full:
    /// searches are refused earlier ([`Handlers::full`]), and the later calls of an accepted query are
    /// not refused.
    pub(crate) fn enqueue(&self, mut job: Job) {
        let Some(queue) = &self.queue else { return };
        if let Some(cut_off) = self.cut_off {
            job.cut_off(cut_off);
        }
        match queue.try_send(job) {
            Ok(()) => self.figures.waiting.store(queue.len(), Ordering::Relaxed),
            Err(TrySendError::Full(job)) => {
                let waiting = queue.len();
                self.note_refusal(job.query_id(), waiting);
                job.fail(ServerError::Overloaded { waiting });
            }
            // Without handlers the caller learns of the failure from the dropped reply.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Returns the number of waiting requests if the queue has no capacity for another search. It is
    /// called before any other work, because a refusal must be cheap.
    pub(crate) fn full(&self) -> Option<usize> {
        let waiting = self.queue.as_ref().map_or(0, Sender::len);
        (waiting >= self.queue_length_now()).then_some(waiting)
    }

    fn queue_length_now(&self) -> usize {
        if self.queue_length > 0 {
            return self.queue_length;
        }
        let handlers = self.figures.handlers;
        let mean_us = self.figures.mean_search_us.load(Ordering::Relaxed).max(1);
        queue_length(handlers, mean_us)
    }

    /// Counts and logs a refused request.
    pub(crate) fn note_refusal(&self, query: u64, waiting: usize) {
        tracing::debug!(query, waiting, "refused: the queue is full");
        self.figures.refused.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // Handlers catch panics, so the result of the thread holds no information.
            let _ = thread.join();
        }
    }
}

/// Returns the queue capacity for `handlers` handlers and a mean search time of `mean_us`.
fn queue_length(handlers: usize, mean_us: u64) -> usize {
    let length = (WAIT_MAX_US * handlers as u64 / mean_us) as usize;
    // With many handlers the lower limit for each handler exceeds `QUEUE_MAX`.
    length.min(QUEUE_MAX).max(QUEUE_MIN_PER_HANDLER * handlers)
}

/// Runs one handler: takes jobs until the queue is closed and empty.
fn handle(queue: &Receiver<Job>, figures: &Figures) {
    while let Ok(job) = queue.recv() {
        figures.waiting.store(queue.len(), Ordering::Relaxed);
        figures.busy.fetch_add(1, Ordering::Relaxed);
        // A panic costs one query, whose dropped reply is reported, and not the handler.
        let _ = catch_unwind(AssertUnwindSafe(|| job.run(figures)));
        figures.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_as_long_as_the_wait_allows() {
        assert_eq!(queue_length(2, 1_000), 100);
        assert_eq!(queue_length(2, 1), QUEUE_MAX);
        assert_eq!(queue_length(2, 10_000_000), 8);
        // The lower limit for 4096 handlers exceeds `QUEUE_MAX`.
        assert_eq!(queue_length(4096, 1), 4 * 4096);
        assert_eq!(queue_length(4096, 10_000_000), 4 * 4096);
    }
}
