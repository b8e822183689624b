//! The handlers of a server and the admission to their board.
//!
//! Few requests wait: what waits longer than searches take is better refused while its client can still do something
//! about it. Admission counts predicted handler time, so that the wait at a full board stays about the same whatever
//! the index and the queries.

use crate::api::error::ServeError;
use crate::handlers::figures::Figures;
use crate::handlers::life::Life;
use crate::handlers::options::HandlerOptions;
use crate::handlers::pinning;
use crate::handlers::shared_board::{Job, SharedBoard};
use crossbeam_channel::bounded;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Requests that wait at most.
const WAITING_MAX: usize = 1024;
/// Requests that may wait for each handler, however long they take.
const WAITING_MIN_PER_HANDLER: usize = 4;
/// Predicted handler time that may wait for each handler, in ns: 50 ms.
const WAIT_MAX_NS: u64 = 50_000_000;

/// Threads that search, and their board.
pub(crate) struct Handlers {
    board: Arc<SharedBoard>,
    threads: Vec<JoinHandle<()>>,
    /// Swaps queries between fast and slow handlers.
    sampler: Option<JoinHandle<()>>,
    /// 0: by predicted time.
    queue_length: usize,
    cut_off: Option<Duration>,
    figures: Arc<Figures>,
}

impl Handlers {
    /// Starts handlers; `name` and their number name their threads.
    pub(crate) fn start(name: &str, options: &HandlerOptions) -> Result<Handlers, ServeError> {
        let board = Arc::new(SharedBoard::new(options));
        let (started, starts) = bounded(options.handlers);
        let mut figures = Arc::new(Figures {
            handlers: options.handlers,
            signals: Some(Arc::clone(board.signals())),
            ..Figures::default()
        });
        let (give_figures, take_figures) = bounded::<Arc<Figures>>(options.handlers);
        let mut threads = Vec::with_capacity(options.handlers);
        for handler in 0..options.handlers {
            let (started, take_figures) = (started.clone(), take_figures.clone());
            let board = Arc::clone(&board);
            let place = options.places.get(handler).cloned();
            let thread = thread::Builder::new()
                .name(format!("{name}-{handler}"))
                .spawn(move || {
                    // Sending fails only if another handler could not be started.
                    let _ = started.send((handler, pinning::pin(place.as_ref())));
                    if let Ok(figures) = take_figures.recv() {
                        Life::new(handler, &board, &figures).live();
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
        board.run_by(threads.iter().map(|one| one.thread().clone()).collect());
        // Before the handlers begin: without it they end.
        let sampler = match board.sampling() {
            None => None,
            Some(interval) => {
                let board = Arc::clone(&board);
                let thread = thread::Builder::new().name(format!("{name}-swaps"));
                let thread = thread.spawn(move || board.swap_at(interval));
                Some(thread.map_err(|source| ServeError::System {
                    operation: "start the thread that swaps queries",
                    source,
                })?)
            }
        };
        for _ in &threads {
            let _ = give_figures.send(Arc::clone(&figures));
        }
        Ok(Handlers {
            board,
            threads,
            sampler,
            queue_length: options.queue_length,
            cut_off: options.cut_off,
            figures,
        })
    }

    /// Returns the counters of the handlers and the queue.
    pub(crate) fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Returns the limit on the time of a search, which holds beside its deadline.
    pub(crate) fn cut_off(&self) -> Option<Duration> {
        self.cut_off
    }

    /// Puts a job on the board. Searches are refused earlier ([`Handlers::full`]); jobs that continue an accepted
    /// request are not.
    pub(crate) fn enqueue(&self, job: Arc<dyn Job>) {
        self.board.enqueue(job);
    }

    /// Works on a job on the calling thread where a handler idles and nothing waits, for a millisecond at most; else puts it on
    /// the board.
    pub(crate) fn work_as_guest(&self, job: Arc<dyn Job>) {
        Life::work_as_guest(&self.board, &self.figures, job);
    }

    /// Returns the number of waiting requests if the queue has no capacity for another search. It is
    /// called before any other work, because a refusal must be cheap.
    pub(crate) fn full(&self) -> Option<usize> {
        let signals = self.board.signals();
        let waiting = signals.claimable() as usize;
        let is_full = match self.queue_length {
            0 => is_full(self.figures.handlers, waiting, signals.claimable_ns()),
            length => waiting >= length,
        };
        is_full.then_some(waiting)
    }

    /// Counts and logs a refused request.
    pub(crate) fn note_refusal(&self, query: u64, index: Option<&str>, waiting: usize) {
        tracing::debug!(query, index, waiting, "refused: too much waits");
        self.figures.refused.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        self.board.close();
        for thread in self.threads.drain(..).chain(self.sampler.take()) {
            // Handlers catch panics, so the result of the thread holds no information.
            let _ = thread.join();
        }
    }
}

/// Returns whether `waiting` requests of a predicted handler time are too many for another search.
fn is_full(handlers: usize, waiting: usize, waiting_ns: u64) -> bool {
    let least = WAITING_MIN_PER_HANDLER * handlers;
    let is_long = waiting_ns > WAIT_MAX_NS * handlers as u64;
    // Very many handlers have the least for each, though it is over the most of all.
    waiting >= least && (is_long || waiting >= WAITING_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_may_wait_as_takes_fifty_milliseconds() {
        assert!(!is_full(2, 7, u64::MAX));
        assert!(is_full(2, 8, 100_000_001));
        assert!(!is_full(2, 1023, 100_000_000));
        assert!(is_full(2, WAITING_MAX, 0));
        // More than the most of all.
        assert!(!is_full(4096, 4 * 4096 - 1, u64::MAX));
        assert!(is_full(4096, 4 * 4096, 0));
    }
}
