//! State that callers, the log thread and the refresh thread share.

use crate::merge_state::{Merging, segments_of};
use crate::options::LiveOptions;
use crate::pending::Pending;
use crate::{LiveError, Version};
use document::Document;
use fields::Rules;
use index::{Index, LogBatch, LogRecord, WriteLock};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant};
use vfs::SharedStorage;

/// Callback for the share of a core that a merge may use, in percent.
pub(crate) type PaceHook = dyn Fn() -> u32 + Send + Sync;

/// Callback for the number of a generation that a refresh committed. When it returns, the generation is searched.
pub(crate) type AfterRefresh = dyn Fn(u64) + Send + Sync;

/// Callbacks of a writer.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) after_refresh: Mutex<Option<Arc<AfterRefresh>>>,
    pub(crate) pace: RwLock<Option<Box<PaceHook>>>,
}

pub(crate) struct Shared {
    pub(crate) storage: SharedStorage,
    pub(crate) lock: WriteLock,
    pub(crate) index_id: String,
    pub(crate) has_texts: bool,
    pub(crate) options: LiveOptions,
    state: Mutex<State>,
    /// Wakes the log thread: a batch waits, or the writer ends.
    pub(crate) batch_waits: Condvar,
    /// Wakes callers: a batch is durable, or the log failed.
    pub(crate) durable: Condvar,
    /// Wakes the refresh thread: changes wait, a refresh is asked for, or the writer ends.
    pub(crate) refresh_waits: Condvar,
    /// Wakes callers: a refresh ended.
    pub(crate) refreshed: Condvar,
    pub(crate) hooks: Arc<Hooks>,
    /// Wakes the merge thread: a merge is planned, or the writer ends.
    pub(crate) merge_waits: Condvar,
    /// Segments of the partition with the most.
    pub(crate) segments: AtomicUsize,
    /// Whether the writer ends, and with it the merge under way.
    pub(crate) is_stopped: AtomicBool,
}

/// Records for one log.
pub(crate) struct QueuedBatch {
    pub(crate) log: u64,
    pub(crate) batch: LogBatch,
    /// Number of the last change in it.
    pub(crate) last_change: u64,
}

pub(crate) struct State {
    /// Number of the last accepted change, from 1.
    pub(crate) accepted: u64,
    /// Number of the last durable change.
    pub(crate) durable: u64,
    /// Number of the last change that can be searched.
    pub(crate) searchable: u64,
    /// Number of the change up to which a refresh is asked for at once.
    pub(crate) refresh_asked: u64,
    pub(crate) queue: VecDeque<QueuedBatch>,
    /// Log of the next change.
    pub(crate) log: u64,
    pub(crate) pending: Pending,
    /// Rules that the next refresh is to commit.
    pub(crate) rules: Option<Arc<Rules>>,
    /// Generation with the last rules, or the reason why there is none.
    pub(crate) rules_outcome: Option<Result<u64, String>>,
    /// Changes of the refresh under way, or of one that failed.
    pub(crate) committing: Option<Arc<Pending>>,
    /// Snapshot that look-ups read, with all changes but those above.
    pub(crate) snapshot: Arc<Index>,
    /// Refreshes that failed, and the last failure.
    pub(crate) refresh_failures: u64,
    pub(crate) refresh_failure: Option<String>,
    /// Time at which a failed refresh is tried again.
    pub(crate) retry_at: Option<Instant>,
    pub(crate) log_failure: Option<String>,
    /// Whether changes of a log are in neither `snapshot` nor `pending`: the device had no room to commit them.
    pub(crate) is_behind_log: bool,
    /// Removal of the log while its changes are committed from memory.
    pub(crate) log_removed: Option<String>,
    pub(crate) is_ending: bool,
    pub(crate) refreshes: u64,
    pub(crate) last_refresh: Duration,
    /// Time that the next refresh will hardly exceed.
    pub(crate) refresh_lead: Duration,
    pub(crate) merging: Merging,
}

/// Figures of a live writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveStatus {
    /// Generation that the last refresh committed.
    pub generation: u64,
    /// Changes accepted since the start.
    pub changes_accepted: u64,
    /// Changes that cannot be searched yet.
    pub changes_pending: u64,
    /// Approximate memory of these, in bytes.
    pub pending_bytes: u64,
    /// Refreshes since the start.
    pub refreshes: u64,
    /// Time of the last refresh.
    pub last_refresh: Duration,
    /// Segments of the partition with the most.
    pub segments: usize,
    /// Merges since the start.
    pub merges: u64,
    /// Time of the last merge, pauses included.
    pub last_merge: Duration,
    /// Failure of the last merge. It is tried again.
    pub merge_failure: Option<String>,
    /// Failure of the last refresh, or of the log.
    pub failure: Option<String>,
}

impl Shared {
    pub(crate) fn new(
        storage: SharedStorage,
        lock: WriteLock,
        snapshot: Index,
        log: u64,
        options: LiveOptions,
        hooks: Arc<Hooks>,
    ) -> Shared {
        Shared {
            storage,
            lock,
            index_id: snapshot.id().to_owned(),
            has_texts: snapshot.documents().texts() == index::Texts::Stored,
            options,
            state: Mutex::new(State {
                accepted: 0,
                durable: 0,
                searchable: 0,
                refresh_asked: 0,
                queue: VecDeque::new(),
                log,
                pending: Pending::default(),
                rules: None,
                rules_outcome: None,
                committing: None,
                snapshot: Arc::new(snapshot),
                refresh_failures: 0,
                refresh_failure: None,
                retry_at: None,
                log_failure: None,
                is_behind_log: false,
                log_removed: None,
                is_ending: false,
                refreshes: 0,
                last_refresh: Duration::ZERO,
                refresh_lead: Duration::ZERO,
                merging: Merging::default(),
            }),
            batch_waits: Condvar::new(),
            durable: Condvar::new(),
            refresh_waits: Condvar::new(),
            refreshed: Condvar::new(),
            hooks,
            merge_waits: Condvar::new(),
            segments: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, where no other thread has it.
    pub(crate) fn try_state(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Counts on from the figures of a writer whose place this one takes.
    pub(crate) fn count_on(&self, before: &State) {
        let mut state = self.state();
        let accepted = before.accepted;
        (state.accepted, state.durable, state.searchable) = (accepted, accepted, accepted);
        state.refreshes = before.refreshes;
        state.merging.finished = before.merging.finished;
    }

    /// Waits for a failure of the log, and returns its reason; `None` when the writer ends.
    pub(crate) fn wait_for_failure(&self) -> Option<String> {
        let mut state = self.state();
        loop {
            if state.is_ending || state.log_failure.is_some() {
                return state.log_failure.clone().filter(|_| !state.is_ending);
            }
            state = self.wait(&self.refreshed, state, Duration::from_secs(60));
        }
    }

    /// Ends all writing, and notifies waiting callers.
    pub(crate) fn fail(&self, reason: String) {
        tracing::error!(%reason, "the write-ahead log failed; nothing more is written");
        self.state().log_failure.get_or_insert(reason);
        let waiting = [
            &self.merge_waits,
            &self.durable,
            &self.refreshed,
            &self.refresh_waits,
            &self.batch_waits,
        ];
        waiting.iter().for_each(|waiting| waiting.notify_all());
    }

    /// Releases the state until woken, or for at most `timeout`.
    pub(crate) fn wait<'a>(
        &self,
        on: &Condvar,
        state: MutexGuard<'a, State>,
        timeout: Duration,
    ) -> MutexGuard<'a, State> {
        match on.wait_timeout(state, timeout) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }
}

impl State {
    /// Returns the document at a URL with all accepted changes, searchable or not.
    pub(crate) fn document(&self, url: &str) -> Result<Option<Document>, LiveError> {
        let committing = self.committing.as_deref();
        let changed = self.pending.get(url);
        let changed = changed.or_else(|| committing.and_then(|pending| pending.get(url)));
        Ok(match changed {
            Some(LogRecord::Put(document)) => Some(document.clone()),
            Some(LogRecord::Delete(_)) => None,
            None => self.snapshot.document(url)?.map(|stored| Document {
                id: Some(stored.id).filter(|id| *id != stored.url),
                url: stored.url,
                title: stored.title,
                body: stored.body,
                fields: stored.fields,
            }),
        })
    }

    pub(crate) fn version(&self, url: &str) -> Result<Option<Version>, LiveError> {
        Ok(self.document(url)?.as_ref().map(Version::of))
    }

    pub(crate) fn pending_bytes(&self) -> u64 {
        let committing = self.committing.as_deref().map_or(0, Pending::bytes);
        self.pending.bytes() + committing
    }

    /// Returns the failure of changes that wait to be durable: of the log, or of the commit in the place of a removed one.
    pub(crate) fn failure_of_log(&self) -> Option<String> {
        let removed = self.log_removed.as_ref();
        let is_failing = self.retry_at.is_some();
        let removed = removed.filter(|_| is_failing);
        self.log_failure.as_ref().or(removed).cloned()
    }

    /// Returns the failure that ends all writing.
    pub(crate) fn refusal(&self) -> Option<LiveError> {
        if self.log_failure.is_none()
            && let Some(reason) = self.failure_of_log()
        {
            return Some(LiveError::LogFailed { reason });
        }
        match &self.log_failure {
            Some(reason) if self.is_behind_log => Some(LiveError::NoRoom {
                reason: reason.clone(),
            }),
            Some(reason) => Some(LiveError::LogFailed {
                reason: reason.clone(),
            }),
            None if self.is_ending => Some(LiveError::Ending),
            None => None,
        }
    }

    /// Adds records for the current log to the queue.
    pub(crate) fn enqueue(&mut self, batch: LogBatch) {
        let (log, last_change) = (self.log, self.accepted);
        match self.queue.back_mut() {
            Some(last) if last.log == log => {
                last.batch.append(batch);
                last.last_change = last_change;
            }
            _ => self.queue.push_back(QueuedBatch {
                log,
                batch,
                last_change,
            }),
        }
    }

    /// Returns the failure of the log, or of the last refresh.
    pub(crate) fn failure(&self) -> Option<String> {
        let of_log = self.log_failure.clone();
        of_log.or_else(|| self.refresh_failure.clone())
    }

    pub(crate) fn status(&self) -> LiveStatus {
        let committing = self.committing.as_deref().map_or(0, Pending::len);
        LiveStatus {
            generation: self.snapshot.generation(),
            changes_accepted: self.accepted,
            changes_pending: (self.pending.len() + committing) as u64,
            pending_bytes: self.pending_bytes(),
            refreshes: self.refreshes,
            last_refresh: self.last_refresh,
            segments: segments_of(&self.snapshot),
            merges: self.merging.finished,
            last_merge: self.merging.last,
            merge_failure: self.merging.failure.clone(),
            failure: self.failure(),
        }
    }
}
