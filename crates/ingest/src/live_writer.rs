//! The writer that callers use.

use crate::change::{ConditionalChange, Outcome};
use crate::consider::consider;
use crate::merge_state::segments_of;
use crate::merging::SEGMENTS_MAX;
use crate::options::LiveOptions;
use crate::shared::{Hooks, LiveStatus, Shared};
use crate::{LiveError, Version, group_commit, merging, refresh};
use document::{Change, Document};
use fields::Rules;
use index::{
    BuildOptions, Index, IndexError, LogBatch, LogRecord, LogWriter, Merging, WriteLock,
    recover_locked,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use vfs::SharedStorage;

/// Writer of an index that is searched meanwhile. It has the writer lock until it is closed or dropped; any number of
/// threads may call it.
pub struct LiveWriter {
    shared: Arc<Shared>,
    /// Held for reading by every change, for writing by a delete by query.
    gate: RwLock<()>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Held while rules are set: one after another.
    rules_gate: Mutex<()>,
}

/// Interval at which waiting callers look again, should a wake-up be lost with its thread.
const LOOK: Duration = Duration::from_secs(1);

impl LiveWriter {
    /// Takes the writer lock, commits the changes of a log that an ended process left, and starts the threads.
    ///
    /// # Errors
    /// No index, another writer, a damaged log or index.
    pub fn open(storage: SharedStorage, options: LiveOptions) -> Result<LiveWriter, IndexError> {
        let lock = WriteLock::take(&storage)?;
        LiveWriter::open_locked(storage, lock, options, Arc::default(), None)
    }

    /// Does what [`LiveWriter::open`] does. Where the device has no room to commit the changes of the log, opens a writer
    /// that accepts none and gives no document, since those of the log are not in it: searches need no writer. A
    /// [`ResumingWriter`](crate::ResumingWriter) opens it again until there is room.
    ///
    /// # Errors
    /// Those of [`LiveWriter::open`], but a full device.
    pub fn open_without_room(
        storage: SharedStorage,
        options: LiveOptions,
    ) -> Result<LiveWriter, IndexError> {
        let lock = WriteLock::take(&storage)?;
        let opened = LiveWriter::open_locked(
            storage.clone(),
            lock.clone(),
            options.clone(),
            Arc::default(),
            None,
        );
        match opened {
            Err(error) if error.is_out_of_room() => {
                // Half-written files would take what room there is.
                let _ = lock.remove_unneeded(&storage);
                let snapshot = Index::open(storage.clone())?;
                let log = LogWriter::next_number(&storage)?;
                let shared = Shared::new(storage, lock, snapshot, log, options, Arc::default());
                let mut state = shared.state();
                state.log_failure = Some(error.to_string());
                state.is_behind_log = true;
                drop(state);
                Ok(LiveWriter {
                    shared: Arc::new(shared),
                    gate: RwLock::default(),
                    threads: Mutex::default(),
                    rules_gate: Mutex::default(),
                })
            }
            opened => opened,
        }
    }

    /// Opens a writer in the place of this one, whose log has failed: what the log has is committed, and searched from
    /// then on. The callbacks are kept, and the figures counted on.
    pub(crate) fn resume(&self) -> Result<LiveWriter, IndexError> {
        self.close();
        let before = &self.shared;
        let resumed = LiveWriter::open_locked(
            before.storage.clone(),
            before.lock.clone(),
            before.options.clone(),
            Arc::clone(&before.hooks),
            Some(before),
        )?;
        let snapshot = Arc::clone(&resumed.shared.state().snapshot);
        refresh::show(&resumed.shared, &snapshot);
        Ok(resumed)
    }

    fn open_locked(
        storage: SharedStorage,
        lock: WriteLock,
        options: LiveOptions,
        hooks: Arc<Hooks>,
        before: Option<&Shared>,
    ) -> Result<LiveWriter, IndexError> {
        let has_too_many = segments_of(&Index::open(storage.clone())?) >= SEGMENTS_MAX;
        let recovering = BuildOptions {
            threads: options.threads,
            memory_bytes: options.memory_bytes,
            // What is due is merged later, beside refreshes: a start waits for it only where segments are too many.
            merging: match has_too_many {
                true => Merging::Within,
                false => Merging::Beside(None),
            },
            ..BuildOptions::default()
        };
        recover_locked(&storage, &lock, &recovering)?;
        let log = LogWriter::next_number(&storage)?;
        let snapshot = Index::open(storage.clone())?;
        let shared = Arc::new(Shared::new(storage, lock, snapshot, log, options, hooks));
        if let Some(before) = before {
            shared.count_on(&before.state());
        }
        let writer = LiveWriter {
            shared,
            gate: RwLock::default(),
            threads: Mutex::default(),
            rules_gate: Mutex::default(),
        };
        // The thread of refreshes, which plans later merges, has not begun.
        let snapshot = Arc::clone(&writer.shared.state().snapshot);
        merging::plan(&writer.shared, &snapshot);
        writer.start("write-log", group_commit::run)?;
        writer.start("refresh", refresh::run)?;
        writer.start("merge", merging::run)?;
        Ok(writer)
    }

    pub(crate) fn location(&self) -> std::path::PathBuf {
        self.shared.storage.location()
    }

    /// Returns the bytes for which the device has room, where it tells.
    pub(crate) fn available_bytes(&self) -> Option<u64> {
        self.shared.storage.available_bytes()
    }

    fn start(&self, name: &str, run: fn(&Arc<Shared>)) -> Result<(), IndexError> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name(name.to_owned());
        let caught = move || {
            if catch_unwind(AssertUnwindSafe(|| run(&shared))).is_err() {
                shared
                    .fail("a thread of the writer stopped; this is a bug, please report it".into());
            }
        };
        let thread = thread.spawn(caught).map_err(|source| {
            let path = self.shared.storage.location();
            vfs::StorageError::from_io("start a thread for", &path, source)
        })?;
        self.threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(thread);
        Ok(())
    }

    /// Sets the callback for the generation of each refresh. A change counts as searchable when it has returned.
    pub fn call_after_refresh(&self, after: impl Fn(u64) + Send + Sync + 'static) {
        let mut kept = self.shared.hooks.after_refresh.lock();
        *kept.as_deref_mut().unwrap_or(&mut None) = Some(Arc::new(after));
    }

    /// Sets the callback for the share of a core that a merge may use, in percent, in place of that of the options: 0
    /// pauses it, 100 lets it run. It is called every few milliseconds of a merge. Where a partition has more than 20
    /// segments, merges run without pauses.
    pub fn call_for_pace(&self, pace: impl Fn() -> u32 + Send + Sync + 'static) {
        let mut kept = self.shared.hooks.pace.write();
        **kept.as_mut().unwrap_or_else(|poisoned| poisoned.get_mut()) = Some(Box::new(pace));
    }

    /// Makes changes in their order, each only if its condition holds, and returns when those made are durable. Later
    /// calls see them at once, searches after the next refresh.
    ///
    /// # Errors
    /// Nothing was made, unless [`LiveError::LogFailed`] says that this is unknown.
    pub fn apply(&self, changes: Vec<ConditionalChange>) -> Result<Vec<Outcome>, LiveError> {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.apply_inside(changes)
    }

    fn apply_inside(&self, changes: Vec<ConditionalChange>) -> Result<Vec<Outcome>, LiveError> {
        let shared = &*self.shared;
        let mut state = shared.state();
        if let Some(refusal) = state.refusal() {
            return Err(refusal);
        }
        let bytes = state.pending_bytes();
        if bytes > shared.options.pending_bytes_max {
            return Err(LiveError::Full { bytes });
        }
        let mut batch = LogBatch::default();
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            let considered = consider(&state, change, shared.has_texts);
            let (outcome, record) = match considered {
                Ok(considered) => considered,
                // What was made before it must become durable all the same.
                Err(error) if outcomes.iter().any(Outcome::is_made) => {
                    (Outcome::Invalid(error.to_string()), None)
                }
                Err(error) => return Err(error),
            };
            outcomes.push(outcome);
            if let Some(record) = record {
                match &record {
                    LogRecord::Put(document) => batch.put(document),
                    LogRecord::Delete(url) => batch.delete(url),
                }
                state.pending.push(record);
                state.accepted += 1;
            }
        }
        if batch.records() == 0 {
            return Ok(outcomes);
        }
        state.enqueue(batch);
        let mine = state.accepted;
        shared.batch_waits.notify_one();
        shared.refresh_waits.notify_one();
        while state.durable < mine {
            if let Some(reason) = state.failure_of_log() {
                return Err(LiveError::LogFailed { reason });
            }
            state = shared.wait(&shared.durable, state, LOOK);
        }
        Ok(outcomes)
    }

    /// Deletes the documents that `find` names, given a generation with all changes so far. No other change is made
    /// meanwhile. Returns how many there were.
    ///
    /// The generation is opened anew, so that every block that `find` reads is verified against its checksum, and its
    /// files are examined before anything is logged: what is deleted is decided by verified bytes alone.
    ///
    /// # Errors
    /// Those of `find`, and [`LiveError::Undecided`]: nothing was deleted. As [`LiveWriter::apply`] once it is decided.
    pub fn delete_found<E: From<LiveError>>(
        &self,
        find: impl FnOnce(&Arc<Index>) -> Result<Vec<String>, E>,
    ) -> Result<usize, E> {
        let _gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(refusal) = self.shared.state().refusal() {
            return Err(refusal.into());
        }
        self.refresh().map_err(undecided)?;
        let opened = Index::open(self.shared.storage.clone()).map_err(undecided)?;
        let opened = Arc::new(opened);
        let since = opened.read_start();
        let found = find(&opened);
        // Errors are verified too: changed bytes may have caused them.
        opened.verify_all_read(since).map_err(undecided)?;
        let urls = found?;
        let count = urls.len();
        let delete = |url| Change::Delete { url }.into();
        self.apply_inside(urls.into_iter().map(delete).collect())?;
        Ok(count)
    }

    /// Makes all changes so far searchable now, and returns the generation.
    ///
    /// # Errors
    /// A refresh that fails: the changes stay in the log.
    pub fn refresh(&self) -> Result<u64, LiveError> {
        let mut state = self.shared.state();
        state.refresh_asked = state.accepted;
        self.shared.refresh_waits.notify_one();
        drop(state);
        self.wait_for_refresh()
    }

    /// Puts other rules of relevance in place of those of the index, and returns the generation that has them, with all changes so
    /// far.
    ///
    /// # Errors
    /// A refresh that fails: the rules are as they were, unless the failure says that this is unknown.
    pub fn set_rules(&self, rules: Rules) -> Result<u64, LiveError> {
        let shared = &*self.shared;
        let _gate = (self.rules_gate.lock()).unwrap_or_else(PoisonError::into_inner);
        let mut state = shared.state();
        if let Some(refusal) = state.refusal() {
            return Err(refusal);
        }
        (state.rules, state.rules_outcome) = (Some(Arc::new(rules)), None);
        shared.refresh_waits.notify_one();
        loop {
            if let Some(outcome) = state.rules_outcome.take() {
                return outcome.map_err(|reason| LiveError::RulesNotSet { reason });
            }
            if let Some(refusal) = state.refusal() {
                state.rules = None;
                return Err(refusal);
            }
            state = shared.wait(&shared.refreshed, state, LOOK);
        }
    }

    /// Waits until all changes so far are searchable, which the next refresh makes them, and returns the generation.
    ///
    /// # Errors
    /// As [`LiveWriter::refresh`].
    pub fn wait_for_refresh(&self) -> Result<u64, LiveError> {
        let shared = &*self.shared;
        let mut state = shared.state();
        if state.is_behind_log
            && let Some(refusal) = state.refusal()
        {
            return Err(refusal);
        }
        let (mine, failures) = (state.accepted, state.refresh_failures);
        while state.searchable < mine {
            if let Some(reason) = state.log_failure.clone() {
                return Err(LiveError::LogFailed { reason });
            }
            if state.refresh_failures > failures || state.is_ending && state.retry_at.is_some() {
                let reason = state.refresh_failure.clone().unwrap_or_default();
                return Err(LiveError::NotRefreshed { reason });
            }
            state = shared.wait(&shared.refreshed, state, LOOK);
        }
        Ok(state.snapshot.generation())
    }

    /// Asks for refreshes until at most `bytes` of changes wait for one.
    ///
    /// # Errors
    /// As [`LiveWriter::refresh`].
    pub fn make_room(&self, bytes: u64) -> Result<(), LiveError> {
        while self.shared.state().pending_bytes() > bytes {
            self.refresh()?;
        }
        Ok(())
    }

    /// Returns the document at a URL with all accepted changes, and its version; `None` where there is none.
    ///
    /// # Errors
    /// An index without texts, or one that cannot be read.
    pub fn document(&self, url: &str) -> Result<Option<(Document, Version)>, LiveError> {
        if !self.shared.has_texts {
            return Err(LiveError::NoTexts);
        }
        let state = self.shared.state();
        if state.is_behind_log
            && let Some(refusal) = state.refusal()
        {
            return Err(refusal);
        }
        let document = state.document(url)?;
        drop(state);
        Ok(document.map(|document| {
            let version = Version::of(&document);
            (document, version)
        }))
    }

    /// Waits for a failure of the log, and returns its reason; `None` when the writer is closed.
    pub(crate) fn wait_for_failure(&self) -> Option<String> {
        self.shared.wait_for_failure()
    }

    /// Returns the failure of the log or of the last refresh, without waiting for changes under way: `None` where these
    /// are considered at this moment.
    pub fn failure_now(&self) -> Option<String> {
        self.shared.try_state()?.failure()
    }

    /// Returns the figures of the writer.
    pub fn status(&self) -> LiveStatus {
        self.shared.state().status()
    }

    /// Refuses further changes, makes those so far searchable, gives up a merge under way, and ends the threads.
    pub fn close(&self) {
        let shared = &*self.shared;
        shared.state().is_ending = true;
        shared.is_stopped.store(true, Ordering::Relaxed);
        let woken = [
            &shared.batch_waits,
            &shared.refresh_waits,
            &shared.merge_waits,
            &shared.refreshed,
        ];
        woken.iter().for_each(|waiting| waiting.notify_all());
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.is_empty() {
            // Another writer may have the index by now.
            return;
        }
        for thread in threads.drain(..) {
            // The threads catch panics, so the result holds no information.
            let _ = thread.join();
        }
        let mut state = shared.state();
        if state.merging.is_abandoned() {
            // The next writer removes what cannot be removed now.
            let _ = shared.lock.remove_unneeded(&shared.storage);
        }
    }
}

impl Drop for LiveWriter {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for LiveWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveWriter").field(&self.status()).finish()
    }
}

/// Returns the error of a deletion that was not decided.
fn undecided(error: impl std::fmt::Display) -> LiveError {
    LiveError::Undecided {
        reason: error.to_string(),
    }
}
