//! Claims of workers on the ranges of a task: each range is taken once.
//!
//! ```text
//! documents:   [ 0 ][ 1 ][ 2 ][ 3 ][ 4 ][ 5 ][ 6 ][ 7 ]
//! worker A       0 ─► 1 ─► 2                              begins, and walks neighbouring ranges
//! worker B                           5 ─► 6 ─► 7          joins in the middle of the longest run that is left
//! then A                    3 ─► 4                        goes on, until it meets a range that is taken
//! ```
//!
//! Neighbouring ranges share blocks of postings, which a worker decodes and scores once. In order of bounds, highest first,
//! each range would begin anew: unions of 40 to 100 words took 1.2 to 1.35 times as long, and thresholds rose no faster,
//! since the bound of a range that is longer than a block is that of the whole list.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The ranges of a task that were taken. Relaxed: a claim decides who searches a range, and nothing else is shared by it.
#[derive(Debug)]
pub(super) struct Claims {
    /// A bit for each range.
    taken: Vec<AtomicU64>,
    ranges_count: usize,
    /// Workers that take ranges.
    workers: AtomicUsize,
    /// Whether ranges that are left stay unsearched.
    is_closed: AtomicBool,
}

impl Claims {
    /// Returns no claims on any of `ranges_count` ranges.
    pub(super) fn new(ranges_count: usize) -> Claims {
        Claims {
            taken: (0..ranges_count.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            ranges_count,
            workers: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Notes that a worker takes ranges from now on.
    pub(super) fn join(&self) {
        self.workers.fetch_add(1, Relaxed);
    }

    /// Notes that a worker takes no further ranges.
    pub(super) fn leave(&self) {
        self.workers.fetch_sub(1, Relaxed);
    }

    /// Takes the ranges that are left.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Relaxed);
    }

    /// Returns whether every range was taken.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_closed.load(Relaxed) || self.left_count() == 0
    }

    /// Returns the number of ranges that were not taken.
    pub(super) fn left_count(&self) -> usize {
        let words = self.taken.iter();
        let taken: u32 = words.map(|word| word.load(Relaxed).count_ones()).sum();
        self.ranges_count - taken as usize
    }

    /// Returns whether a range was taken.
    pub(super) fn is_taken(&self, range: usize) -> bool {
        self.taken[range / 64].load(Relaxed) >> (range % 64) & 1 != 0
    }

    /// Takes a range, unless another worker has.
    fn claims(&self, range: usize) -> bool {
        let bit = 1 << (range % 64);
        self.taken[range / 64].fetch_or(bit, Relaxed) & bit == 0
    }

    /// Takes a range for a worker whose `last` one is given; `None` when none is left.
    pub(super) fn take(&self, last: Option<usize>) -> Option<usize> {
        let follows = last.map(|last| last + 1);
        let follows = follows.filter(|&next| next < self.ranges_count);
        loop {
            if self.is_closed.load(Relaxed) {
                return None;
            }
            if let Some(next) = follows
                && self.claims(next)
            {
                return Some(next);
            }
            let next = self.start_of(self.longest_run()?);
            if self.claims(next) {
                return Some(next);
            }
        }
    }

    /// Returns the range of a run at which a further worker begins: the middle, where another one may be on its way
    /// into the run.
    fn start_of(&self, run: Range<usize>) -> usize {
        let is_walked = run.start > 0 && self.workers.load(Relaxed) > 1;
        match is_walked {
            true => run.start + run.len() / 2,
            false => run.start,
        }
    }

    /// Returns the longest run of ranges that were not taken, the first one of several; `None` when none is left.
    fn longest_run(&self) -> Option<Range<usize>> {
        let (mut longest, mut start) = (0..0, 0);
        for range in 0..=self.ranges_count {
            if range == self.ranges_count || self.is_taken(range) {
                if range - start > longest.len() {
                    longest = start..range;
                }
                start = range + 1;
            }
        }
        (!longest.is_empty()).then_some(longest)
    }
}
