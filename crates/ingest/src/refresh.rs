//! Refresh: pending changes become a generation, on a thread of low priority. Small segments are merged after a refresh,
//! in a generation of their own, so that no change waits for the merge of its own segment.

use crate::pending::Pending;
use crate::shared::{Shared, State};
use index::{BuildOptions, Index, IndexError, LogRecord, Writer};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of changes from which on several threads build the segment.
const MANY_BYTES: u64 = 16 << 20;
/// Segments of a partition above which small ones are merged.
const SEGMENTS_MAX: usize = 24;
/// Pause after a failed refresh; it doubles with every further failure, up to the second.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Changes of one refresh.
struct Round {
    changes: Arc<Pending>,
    /// Number of the last change.
    last_change: u64,
    /// Last log with any of them.
    log: u64,
}

/// Refreshes until the writer ends.
pub(crate) fn run(shared: &Shared) {
    vfs::thread::lower_priority();
    while let Some(round) = next_round(shared) {
        let begun = Instant::now();
        let committed = commit(shared, &round);
        if let Err(error) = &committed {
            tracing::error!(%error, "changes are safe in the log, but cannot be committed; the next refresh tries again");
        }
        if let Ok(snapshot) = &committed {
            show(shared, snapshot);
        }
        let mut state = shared.state();
        match committed {
            Ok(snapshot) => {
                state.snapshot = snapshot;
                state.committing = None;
                state.searchable = round.last_change;
                state.refreshes += 1;
                state.last_refresh = begun.elapsed();
                (state.refresh_failures, state.refresh_failure) = (0, None);
                state.retry_at = None;
            }
            Err(error) => {
                let doubled = RETRY_MIN * 2u32.pow(state.refresh_failures.min(5) as u32);
                state.retry_at = Some(Instant::now() + doubled.min(RETRY_MAX));
                state.refresh_failures += 1;
                state.refresh_failure = Some(error.to_string());
            }
        }
        drop(state);
        shared.refreshed.notify_all();
        merge(shared);
    }
}

/// Has a generation searched.
fn show(shared: &Shared, snapshot: &Index) {
    let after = shared.after_refresh.lock();
    let after = after.unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(after) = after {
        after(snapshot.generation());
    }
}

/// Merges small segments where a partition has many.
fn merge(shared: &Shared) {
    let state = shared.state();
    let (snapshot, is_ending) = (Arc::clone(&state.snapshot), state.is_ending);
    drop(state);
    if is_ending || !has_many_segments(&snapshot) {
        return;
    }
    match commit_changes(shared, &Pending::default(), None, SEGMENTS_MAX) {
        Ok(merged) => {
            show(shared, &merged);
            shared.state().snapshot = merged;
        }
        Err(error) => {
            tracing::warn!(%error, "segments cannot be merged; the next refresh tries again");
        }
    }
}

fn has_many_segments(index: &Index) -> bool {
    let layout = index.layout();
    (0..layout.partitions)
        .any(|partition| index.segments(layout.chunks_of(partition)).count() > SEGMENTS_MAX)
}

/// Waits until a refresh is due and takes its changes; `None` at the end.
fn next_round(shared: &Shared) -> Option<Round> {
    let mut state = shared.state();
    loop {
        if state.log_failure.is_some() {
            return None;
        }
        let is_idle = state.pending.is_empty() && state.committing.is_none();
        if is_idle && state.is_ending {
            return None;
        }
        let wait = match is_idle {
            true => Duration::from_secs(3600),
            false => due_in(shared, &state),
        };
        if wait.is_zero() {
            return Some(take(state));
        }
        // A failed refresh is not tried again for ever at the end: the log has its changes.
        if state.is_ending && state.retry_at.is_some() {
            return None;
        }
        state = shared.wait(&shared.refresh_waits, state, wait);
    }
}

fn take(mut state: MutexGuard<'_, State>) -> Round {
    let mut changes = std::mem::take(&mut state.pending);
    if let Some(before) = state.committing.take() {
        let mut all = Arc::unwrap_or_clone(before);
        all.append(changes);
        changes = all;
    }
    let changes = Arc::new(changes);
    state.committing = Some(Arc::clone(&changes));
    let round = Round {
        changes,
        last_change: state.accepted,
        log: state.log,
    };
    state.log += 1;
    round
}

/// Returns the time until the next refresh is due.
fn due_in(shared: &Shared, state: &State) -> Duration {
    if let Some(retry_at) = state.retry_at {
        return retry_at.saturating_duration_since(Instant::now());
    }
    let options = &shared.options;
    let is_asked = state.refresh_asked > state.searchable;
    if is_asked || state.is_ending || state.pending.bytes() > options.pending_bytes_max / 4 {
        return Duration::ZERO;
    }
    let waited = state
        .pending
        .since()
        .map_or(Duration::ZERO, |at| at.elapsed());
    // It begins earlier by what the last one took, so that it ends in time.
    let lead = state.last_refresh.min(options.refresh / 2);
    options.refresh.saturating_sub(waited + lead)
}

/// Commits the changes of a round, and opens the new generation.
fn commit(shared: &Shared, round: &Round) -> Result<Arc<Index>, IndexError> {
    commit_changes(shared, &round.changes, Some(round.log), usize::MAX)
}

/// Commits changes, which are all of the logs up to `log`, and opens the new generation.
fn commit_changes(
    shared: &Shared,
    changes: &Pending,
    log: Option<u64>,
    segments_max: usize,
) -> Result<Arc<Index>, IndexError> {
    let is_large = changes.bytes() > MANY_BYTES;
    let options = BuildOptions {
        threads: if is_large { shared.options.threads } else { 1 },
        memory_bytes: shared.options.memory_bytes,
        segments_max: Some(segments_max),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open_locked(shared.storage.clone(), shared.lock.clone(), options)?;
    if let Some(log) = log {
        writer.include_logs(log);
    }
    for change in changes.iter() {
        match change {
            LogRecord::Put(document) => writer.add(document.clone())?,
            LogRecord::Delete(url) => writer.delete(url),
        }
    }
    writer.commit()?;
    let before = Arc::clone(&shared.state().snapshot);
    Index::open_after(shared.storage.clone(), &before).map(Arc::new)
}
