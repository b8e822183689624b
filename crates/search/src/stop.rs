//! May a search go on?
//!
//! A search that runs past its deadline, or that nobody waits for any more, gives its handler back. The
//! loops say how far they came and how much they did since; only now and then is the question put, so
//! that asking (reading a clock, mostly) costs less than a hundredth of the work between.

use std::cell::Cell;
use std::fmt;

/// Work between two questions: the unit is a block of postings, about a microsecond.
const WORK_BETWEEN: u32 = 64;
/// What a window of documents counts for, in blocks.
pub(crate) const WINDOW: u32 = 16;
/// What one document that is looked at by itself counts for, in blocks.
pub(crate) const DOCUMENT: u32 = 1;

/// Asks whether a search must end before it is done.
#[derive(Default)]
pub struct Stop<'a> {
    is_due: Option<&'a dyn Fn() -> bool>,
    work: Cell<u32>,
    /// Once due, always due.
    due: Cell<bool>,
    /// The first document of the segment entered last that was not looked at for hits.
    stopped_at: Cell<Option<u32>>,
    /// Whether counting ended early.
    count_is_cut: Cell<bool>,
}

impl<'a> Stop<'a> {
    /// Ends searches when `is_due` says so. It is asked at the beginning of each segment and then every
    /// few dozen microseconds.
    pub fn when(is_due: &'a dyn Fn() -> bool) -> Stop<'a> {
        Stop {
            is_due: Some(is_due),
            ..Stop::default()
        }
    }

    /// Whether the search for hits must end before the document `next`, after so much more work.
    #[inline]
    pub(crate) fn ends_hits(&self, next: u32, work: u32) -> bool {
        if !self.ends(work) {
            return false;
        }
        self.stopped_at.set(Some(next));
        true
    }

    /// Whether counting must end, after so much more work.
    #[inline]
    pub(crate) fn ends_count(&self, work: u32) -> bool {
        if !self.ends(work) {
            return false;
        }
        self.count_is_cut.set(true);
        true
    }

    /// Counts work within what a search does whole, and so gives way meanwhile. What is answered is known to
    /// whoever asks next whether to end.
    #[inline]
    pub(crate) fn counts(&self, work: u32) {
        let _ = self.ends(work);
    }

    /// Asks at once.
    pub(crate) fn is_due_now(&self) -> bool {
        self.work.set(WORK_BETWEEN);
        self.ends(0)
    }

    /// Whether the search for hits ended early in the segment entered last.
    pub(crate) fn has_ended_hits(&self) -> bool {
        self.stopped_at.get().is_some()
    }

    /// Where the search for hits ended in the segment entered last, if early; forgets it.
    pub(crate) fn take_stopped_at(&self) -> Option<u32> {
        self.stopped_at.take()
    }

    /// Says that counting ended early.
    pub(crate) fn cut_count(&self) {
        self.count_is_cut.set(true);
    }

    /// Whether counting ended early anywhere.
    pub(crate) fn count_is_cut(&self) -> bool {
        self.count_is_cut.get()
    }

    #[inline]
    fn ends(&self, work: u32) -> bool {
        let done = self.work.get() + work;
        if done < WORK_BETWEEN {
            self.work.set(done);
            return self.due.get();
        }
        self.ask()
    }

    #[cold]
    fn ask(&self) -> bool {
        self.work.set(0);
        if let Some(is_due) = self.is_due
            && !self.due.get()
        {
            self.due.set(is_due());
        }
        self.due.get()
    }
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop")
            .field("due", &self.due.get())
            .field("stopped_at", &self.stopped_at.get())
            .finish_non_exhaustive()
    }
}
