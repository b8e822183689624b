//! Group commit: one thread writes the log. What arrives during a sync becomes the next group, so there is no timer, and
//! the more writers, the more changes share a sync.

use crate::shared::{QueuedBatch, Shared};
use index::{IndexError, LogWriter};
use std::sync::Arc;
use std::time::Duration;

/// Pause after which the last group gets its proof.
const IDLE: Duration = Duration::from_millis(100);
/// Interval at which a wait for a refresh looks again, should a wake-up be lost with its thread.
const LOOK: Duration = Duration::from_secs(1);

/// Writes batches until the writer ends.
pub(crate) fn run(shared: &Arc<Shared>) {
    let mut open = None;
    if let Err(error) = write_batches(shared, &mut open) {
        shared.fail(error.to_string());
    }
}

/// Log that is open, and whether its last group has its proof.
struct Open {
    number: u64,
    log: LogWriter,
    is_proved: bool,
}

fn write_batches(shared: &Shared, open: &mut Option<Open>) -> Result<(), IndexError> {
    while let Some(next) = next_batch(shared, open)? {
        let is_other = open.as_ref().is_some_and(|open| open.number != next.log);
        if is_other && let Some(before) = open.take() {
            before.log.end()?;
        }
        let current = match open {
            Some(current) => current,
            None => open.insert(Open {
                number: next.log,
                log: LogWriter::create(&shared.storage, &shared.index_id, next.log)?,
                is_proved: true,
            }),
        };
        match current.log.write(&next.batch) {
            Ok(()) => current.is_proved = false,
            Err(error @ IndexError::Removed { .. }) => {
                *open = None;
                commit_removed(shared, next.log, &error)?;
                continue;
            }
            Err(error) => return Err(error),
        }
        let mut state = shared.state();
        state.durable = next.last_change;
        drop(state);
        shared.durable.notify_all();
    }
    match open.take() {
        Some(open) => open.log.end(),
        None => Ok(()),
    }
}

/// Commits all changes of the log `removed` at once, from memory: its file, which had them, was removed by another
/// program. No other log begins before, since without this one it would prove a loss.
fn commit_removed(shared: &Shared, removed: u64, error: &IndexError) -> Result<(), IndexError> {
    tracing::error!(%error, "its changes are committed from memory");
    let mut state = shared.state();
    let last = state.accepted;
    state.refresh_asked = last;
    state.log_removed = Some(error.to_string());
    shared.refresh_waits.notify_one();
    while state.searchable < last {
        // The refresh that fails is tried again, but not at the end.
        if state.log_failure.is_some() || state.is_ending && state.retry_at.is_some() {
            return Err(IndexError::Mismatch {
                path: shared.storage.location(),
                reason: error.to_string(),
            });
        }
        state = shared.wait(&shared.refreshed, state, LOOK);
    }
    // The refresh took all batches of this log.
    state.queue.retain(|batch| batch.log > removed);
    state.durable = state.durable.max(state.searchable);
    state.log_removed = None;
    drop(state);
    shared.durable.notify_all();
    Ok(())
}

/// Waits for a batch; `None` at the end.
fn next_batch(shared: &Shared, open: &mut Option<Open>) -> Result<Option<QueuedBatch>, IndexError> {
    let mut state = shared.state();
    loop {
        if let Some(next) = state.queue.pop_front() {
            return Ok(Some(next));
        }
        if state.is_ending {
            return Ok(None);
        }
        // A refresh has taken the changes of the log, and may remove it.
        if let Some(before) = open.take_if(|open| open.number < state.log) {
            drop(state);
            before.log.end()?;
            state = shared.state();
            continue;
        }
        match open {
            Some(open) if !open.is_proved => {
                state = shared.wait(&shared.batch_waits, state, IDLE);
                if state.queue.is_empty() && !state.is_ending {
                    drop(state);
                    open.log.mark()?;
                    open.is_proved = true;
                    state = shared.state();
                }
            }
            _ => state = shared.wait(&shared.batch_waits, state, Duration::from_secs(3600)),
        }
    }
}
