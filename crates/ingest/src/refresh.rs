//! Refresh: pending changes become a generation, on a thread of low priority. A finished merge is installed with it, or
//! alone where nothing changes.

use crate::merging::{self, SEGMENTS_LIMIT};
use crate::pending::Pending;
use crate::shared::{Shared, State};
use fields::Rules;
use index::{
    BuildOptions, Index, IndexError, LogRecord, MergeReservation, MergedSegments, Merging, Writer,
};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of changes from which on several threads build the segment.
const MANY_BYTES: u64 = 16 << 20;
/// Pause after a failed refresh; it doubles with every further failure, up to the second.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Changes of one refresh.
struct Round {
    changes: Arc<Pending>,
    /// Number of the last change.
    last_change: u64,
    /// Last log with any of them; `None` without changes.
    log: Option<u64>,
    /// New rules of the index.
    rules: Option<Arc<Rules>>,
}

/// Refreshes until the writer ends.
pub(crate) fn run(shared: &Arc<Shared>) {
    vfs::platform::thread::lower_priority();
    while let Some(round) = next_round(shared) {
        let begun = Instant::now();
        let committed = commit(shared, &round);
        if let Err(error) = &committed
            && round.log.is_some()
        {
            tracing::error!(%error, "changes are safe in the log, but cannot be committed; the next refresh tries again");
        }
        if let Ok(snapshot) = &committed {
            show(shared, snapshot);
        }
        let mut state = shared.state();
        let committed_now = committed.is_ok();
        if round.rules.is_some() {
            state.rules = None;
            let outcome = committed.as_ref().map(|snapshot| snapshot.generation());
            state.rules_outcome = Some(outcome.map_err(ToString::to_string));
        }
        match committed {
            Ok(snapshot) => {
                state.snapshot = snapshot;
                state.committing = None;
                state.searchable = round.last_change;
                if round.log.is_some() {
                    let took = begun.elapsed();
                    state.refreshes += 1;
                    state.last_refresh = took;
                    state.refresh_lead = (took + took / 4).max(state.refresh_lead * 7 / 8);
                }
                (state.refresh_failures, state.refresh_failure) = (0, None);
                state.retry_at = None;
            }
            // A merge or rules alone failed, and no change waits for them.
            Err(_) if round.log.is_none() => {}
            Err(error) => {
                let doubled = RETRY_MIN * 2u32.pow(state.refresh_failures.min(5) as u32);
                state.retry_at = Some(Instant::now() + doubled.min(RETRY_MAX));
                state.refresh_failures += 1;
                state.refresh_failure = Some(error.to_string());
            }
        }
        let snapshot = committed_now.then(|| Arc::clone(&state.snapshot));
        drop(state);
        shared.refreshed.notify_all();
        if let Some(snapshot) = snapshot {
            merging::plan(shared, &snapshot);
        }
    }
}

/// Calls the hook after a refresh, which has the new generation searched.
pub(crate) fn show(shared: &Shared, snapshot: &Index) {
    let after = shared.hooks.after_refresh.lock();
    let after = after.unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(after) = after {
        after(snapshot.generation());
    }
}

/// Waits until a refresh is due and takes its changes; `None` at the end.
fn next_round(shared: &Shared) -> Option<Round> {
    let mut state = shared.state();
    loop {
        if state.log_failure.is_some() {
            return None;
        }
        let is_idle = state.pending.is_empty() && state.committing.is_none();
        if is_idle && (state.merging.is_finished() || state.rules.is_some()) {
            return Some(Round {
                changes: Arc::default(),
                last_change: state.searchable,
                log: None,
                rules: state.rules.clone(),
            });
        }
        if is_idle && state.is_ending {
            return None;
        }
        let wait = match is_idle {
            true => Duration::from_secs(3600),
            false if must_wait(shared, &state) => Duration::from_secs(1),
            false => due_in(shared, &state),
        };
        if wait.is_zero() {
            let round = take(state);
            // The log of these changes ends.
            shared.batch_waits.notify_one();
            return Some(round);
        }
        // A failed refresh is not tried again for ever at the end: the log has its changes.
        if state.is_ending && state.retry_at.is_some() {
            return None;
        }
        state = shared.wait(&shared.refresh_waits, state, wait);
    }
}

/// Returns whether segments are too many for another one before the merge under way ends.
fn must_wait(shared: &Shared, state: &State) -> bool {
    let segments = shared.segments.load(Ordering::Relaxed);
    segments >= SEGMENTS_LIMIT && state.merging.is_under_way() && !state.is_ending
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
        log: Some(state.log),
        rules: state.rules.clone(),
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
    let is_asked = state.refresh_asked > state.searchable || state.rules.is_some();
    if is_asked || state.is_ending || state.pending.bytes() > options.pending_bytes_max / 4 {
        return Duration::ZERO;
    }
    let waited = state
        .pending
        .since()
        .map_or(Duration::ZERO, |at| at.elapsed());
    // It begins earlier by what the last ones took and a little more, so that it ends in time.
    let lead = (state.refresh_lead + options.refresh / 20).min(options.refresh / 2);
    options.refresh.saturating_sub(waited + lead)
}

/// Commits the changes of a round and a finished merge, and opens the new generation.
fn commit(shared: &Shared, round: &Round) -> Result<Arc<Index>, IndexError> {
    let mut state = shared.state();
    let merged = state.merging.take_finished();
    let reservation = state.merging.reservation.clone();
    drop(state);
    let mut is_installing = merged.is_some();
    let committed = commit_changes(shared, round, merged, reservation, &mut is_installing);
    match &committed {
        Ok(_) if is_installing => shared.state().merging.installed(),
        Err(error) if is_installing => shared.state().merging.give_up(error.to_string()),
        _ => {}
    }
    committed
}

fn commit_changes(
    shared: &Shared,
    round: &Round,
    merged: Option<MergedSegments>,
    reservation: Option<MergeReservation>,
    is_installing: &mut bool,
) -> Result<Arc<Index>, IndexError> {
    let is_large = round.changes.bytes() > MANY_BYTES;
    let options = BuildOptions {
        threads: if is_large { shared.options.threads } else { 1 },
        memory_bytes: shared.options.memory_bytes,
        merging: Merging::Beside(reservation),
        rules: round.rules.clone(),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open_locked(shared.storage.clone(), shared.lock.clone(), options)?;
    if let Some(merged) = merged
        && !writer.install(merged)
    {
        *is_installing = false;
        let reason = "it is of other segments than the index has; this is a bug, please report it";
        shared.state().merging.give_up(reason.into());
    }
    if let Some(log) = round.log {
        writer.include_logs(log);
    }
    for change in round.changes.iter() {
        match change {
            LogRecord::Put(document) => writer.add(document.clone())?,
            LogRecord::Delete(url) => writer.delete(url),
        }
    }
    writer.commit()?;
    let before = Arc::clone(&shared.state().snapshot);
    Index::open_after(shared.storage.clone(), &before).map(Arc::new)
}
