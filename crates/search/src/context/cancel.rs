//! Cancellation of a search, and requests for a part of it.
//!
//! A search past its deadline, or without a client, releases its handler. Every loop over postings,
//! positions, terms or documents counts its work in units of about a microsecond. The clock is read
//! once in [`WORK_BETWEEN`] units, so reading it costs less than a hundredth of the work between.
//!
//! Two kinds of loops check for cancellation:
//!
//! - Loops between two documents or blocks ([`StopRef::ends_hits`], [`StopRef::ends_count`]) end where they are.
//!   What they found is part of the whole result.
//! - Loops within one clause ([`StopRef::aborts`]: prefix expansion, phrases, nested clauses) leave the clause
//!   unevaluated. Its result is void then, so its caller must ask [`StopRef::is_aborted`] before
//!   offering or counting a document.
//!
//! Loops of the first kind also end where another handler asks for a part ([`Stop::asked_by`]): whoever runs the algorithm
//! gives away some of the documents from there on, and runs it on the rest. A search that nobody asks pays nothing for it,
//! since both reasons are bits of one cell.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Units of work between two tests for cancellation. A unit is a block of postings, about a microsecond.
const WORK_BETWEEN: u32 = 32;
/// Work units for a window of documents.
pub(crate) const WINDOW: u32 = 16;
/// Work units for one document that is evaluated by itself.
pub(crate) const DOCUMENT: u32 = 1;
/// Work units for probing a clause for a block of candidates.
pub(crate) const PROBE: u32 = 1;
/// Number of clauses that are evaluated in about a unit.
const CLAUSES_PER_UNIT: usize = 16;

/// Returns the work units for evaluating one document in `count` clauses.
pub(crate) fn clauses_work(count: usize) -> u32 {
    1 + (count / CLAUSES_PER_UNIT) as u32
}

/// Cancellation state of a search.
///
/// One thread searches with it at a time. Its cells are atomic, loaded and stored in relaxed order,
/// because what a search has opened may move to another thread.
pub struct Stop<'a> {
    is_due: Option<&'a (dyn Fn() -> bool + Sync)>,
    is_asked: Option<&'a (dyn Fn() -> bool + Sync)>,
    work: AtomicU32,
    /// [`DUE`] and [`SPLIT`].
    reasons: AtomicU8,
    /// Whether requests for a part are not heard now.
    is_held: AtomicBool,
    /// The first document that was not searched because of a request for a part, or [`NOWHERE`].
    split_at: AtomicU64,
    /// Whether a clause was left unevaluated.
    is_aborted: AtomicBool,
    /// The first document of the segment entered last that was not searched for hits, or [`NOWHERE`].
    stopped_at: AtomicU64,
    /// Whether counting ended early.
    count_is_cut: AtomicBool,
}

/// The search was cancelled; never reset.
const DUE: u8 = 1;
/// A part of what is left is asked for.
const SPLIT: u8 = 2;

/// Value of `stopped_at` while the search for hits has not ended early.
const NOWHERE: u64 = u64::MAX;

impl Default for Stop<'_> {
    fn default() -> Self {
        Stop {
            is_due: None,
            is_asked: None,
            work: AtomicU32::new(0),
            reasons: AtomicU8::new(0),
            is_held: AtomicBool::new(false),
            split_at: AtomicU64::new(NOWHERE),
            is_aborted: AtomicBool::new(false),
            stopped_at: AtomicU64::new(NOWHERE),
            count_is_cut: AtomicBool::new(false),
        }
    }
}

impl<'a> Stop<'a> {
    /// Makes the state of a search that is cancelled when `is_due` returns true. It is called at the beginning of each
    /// segment and then every few dozen microseconds.
    pub fn when(is_due: &'a (dyn Fn() -> bool + Sync)) -> Stop<'a> {
        Stop {
            is_due: Some(is_due),
            ..Stop::default()
        }
    }

    /// Has the search end its walk, without being cancelled, where `is_asked` returns true: another handler asks for a part
    /// of what is left. It is called after every few dozen microseconds.
    pub fn asked_by(self, is_asked: &'a (dyn Fn() -> bool + Sync)) -> Stop<'a> {
        Stop {
            is_asked: Some(is_asked),
            ..self
        }
    }

    /// Returns whether the search was cancelled. Explanations and counts that were being computed are void then.
    pub fn is_cancelled(&self) -> bool {
        self.reasons.load(Relaxed) & DUE != 0
    }

    /// Tests for cancellation now.
    pub fn is_due_now(&self) -> bool {
        self.work.store(0, Relaxed);
        self.ask_whether_due() & DUE != 0
    }

    fn clear_split(&self) {
        let reasons = self.reasons.load(Relaxed);
        if reasons & SPLIT != 0 {
            self.reasons.store(reasons & !SPLIT, Relaxed);
        }
    }

    fn ask_whether_due(&self) -> u8 {
        let mut reasons = self.reasons.load(Relaxed);
        if let Some(is_due) = self.is_due
            && reasons & DUE == 0
            && is_due()
        {
            reasons |= DUE;
            self.reasons.store(reasons, Relaxed);
        }
        reasons
    }

    #[cold]
    fn ask(&self) -> u8 {
        self.work.store(0, Relaxed);
        let mut reasons = self.ask_whether_due();
        if let Some(is_asked) = self.is_asked
            && reasons == 0
            && !self.is_held.load(Relaxed)
            && is_asked()
        {
            reasons |= SPLIT;
            self.reasons.store(reasons, Relaxed);
        }
        reasons
    }
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop")
            .field("reasons", &self.reasons)
            .field("is_aborted", &self.is_aborted)
            .field("stopped_at", &self.stopped_at)
            .finish_non_exhaustive()
    }
}

/// Reference to the [`Stop`] of a search; the default is a search that is never cancelled.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StopRef<'a>(Option<&'a Stop<'a>>);

impl<'a> StopRef<'a> {
    pub(crate) fn new(stop: &'a Stop<'a>) -> StopRef<'a> {
        StopRef(Some(stop))
    }

    /// Returns whether the search for hits must end before the document `next`, after `work` more
    /// units.
    #[inline]
    pub(crate) fn ends_hits(self, next: u32, work: u32) -> bool {
        if !self.ends(work, DUE | SPLIT) {
            return false;
        }
        match self.is_cancelled() {
            true => self.stop_hits_at(next),
            false => self.split_at(next),
        }
        true
    }

    /// Returns whether counting must end before the document `next`, after `work` more units.
    #[inline]
    pub(crate) fn ends_count(self, next: u32, work: u32) -> bool {
        if !self.ends(work, DUE | SPLIT) {
            return false;
        }
        match self.is_cancelled() {
            true => self.cut_count(),
            false => self.split_at(next),
        }
        true
    }

    /// Returns whether counting must end between two documents of a window, which leaves the window uncounted, after `work`
    /// more units.
    #[inline]
    pub(crate) fn ends_window(self, work: u32) -> bool {
        if !self.ends(work, DUE) {
            return false;
        }
        self.cut_count();
        true
    }

    /// Returns whether a clause must be left unevaluated, after `work` more units.
    #[inline]
    pub(crate) fn aborts(self, work: u32) -> bool {
        if !self.ends(work, DUE) {
            return false;
        }
        self.abort();
        true
    }

    /// Tests for cancellation now.
    pub(crate) fn is_due_now(self) -> bool {
        self.0.is_some_and(Stop::is_due_now)
    }

    /// Returns whether the search was cancelled.
    pub(crate) fn is_cancelled(self) -> bool {
        self.0.is_some_and(Stop::is_cancelled)
    }

    /// Runs a walk that is one of several over the same documents: requests for a part are not heard meanwhile.
    pub(crate) fn whole<T>(self, walk: impl FnOnce() -> T) -> T {
        let Some(stop) = self.0 else { return walk() };
        stop.clear_split();
        let was_held = stop.is_held.swap(true, Relaxed);
        let walked = walk();
        stop.is_held.store(was_held, Relaxed);
        walked
    }

    #[cold]
    fn split_at(self, next: u32) {
        if let Some(stop) = self.0 {
            stop.split_at.store(next.into(), Relaxed);
        }
    }

    /// Returns the document before which the walk ended because a part is asked for.
    pub(crate) fn is_split_at(self) -> Option<u32> {
        u32::try_from(self.0?.split_at.load(Relaxed)).ok()
    }

    /// Takes the document before which the walk ended because a part is asked for.
    pub(crate) fn take_split(self) -> Option<u32> {
        let stop = self.0?;
        stop.clear_split();
        let split_at = self.is_split_at()?;
        stop.split_at.store(NOWHERE, Relaxed);
        Some(split_at)
    }

    /// Returns whether a clause was left unevaluated: its result is void.
    #[inline]
    pub(crate) fn is_aborted(self) -> bool {
        self.0.is_some_and(|stop| stop.is_aborted.load(Relaxed))
    }

    /// Records that documents of the segment from `next` on were not searched for hits.
    #[cold]
    pub(crate) fn stop_hits_at(self, next: u32) {
        if let Some(stop) = self.0 {
            let before = stop.stopped_at.load(Relaxed);
            stop.stopped_at.store(before.min(next.into()), Relaxed);
        }
    }

    /// Returns whether the search for hits ended early in the segment entered last.
    pub(crate) fn has_ended_hits(self) -> bool {
        self.0.is_some_and(|stop| {
            stop.stopped_at.load(Relaxed) != NOWHERE || stop.split_at.load(Relaxed) != NOWHERE
        })
    }

    /// Takes the document before which the search for hits ended early in the segment entered last.
    pub(crate) fn take_stopped_at(self) -> Option<u32> {
        let stop = self.0?;
        let stopped_at = stop.stopped_at.load(Relaxed);
        stop.stopped_at.store(NOWHERE, Relaxed);
        u32::try_from(stopped_at).ok()
    }

    /// Records that counting ended early.
    pub(crate) fn cut_count(self) {
        if let Some(stop) = self.0 {
            stop.count_is_cut.store(true, Relaxed);
        }
    }

    /// Returns whether counting ended early in any segment.
    pub(crate) fn count_is_cut(self) -> bool {
        self.0.is_some_and(|stop| stop.count_is_cut.load(Relaxed))
    }

    #[inline]
    fn ends(self, work: u32, reasons: u8) -> bool {
        let Some(stop) = self.0 else { return false };
        let done = stop.work.load(Relaxed) + work;
        if done < WORK_BETWEEN {
            stop.work.store(done, Relaxed);
            return stop.reasons.load(Relaxed) & reasons != 0;
        }
        stop.ask() & reasons != 0
    }

    #[cold]
    fn abort(self) {
        if let Some(stop) = self.0 {
            stop.is_aborted.store(true, Relaxed);
        }
    }
}
