//! Parts of ranges that workers gave away, for whoever takes them.

use crate::exec::walk::{ALIGNED, Piece};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts given away and not taken, the one given last on top.
#[derive(Debug, Default)]
pub(super) struct Given {
    parts: Mutex<Parts>,
    /// Parts not taken; read without the lock.
    left_count: AtomicUsize,
    /// Parts ever given.
    all_count: AtomicUsize,
    /// Whether several workers may take ranges.
    is_open: AtomicBool,
}

#[derive(Debug, Default)]
struct Parts {
    list: Vec<Piece>,
    /// Whether parts stay unsearched from now on.
    is_closed: bool,
}

impl Given {
    /// Notes that several workers may take ranges from now on.
    pub(super) fn open(&self) {
        self.is_open.store(true, Relaxed);
    }

    /// Returns whether several workers may take ranges.
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Relaxed)
    }

    /// Gives a part away.
    pub(super) fn give(&self, part: Piece) {
        let mut parts = self.parts();
        self.all_count.fetch_add(1, Relaxed);
        if !parts.is_closed {
            parts.list.push(part);
            self.left_count.store(parts.list.len(), Relaxed);
        }
    }

    /// Takes the part given last.
    pub(super) fn take(&self) -> Option<Piece> {
        if self.is_empty() {
            return None;
        }
        let mut parts = self.parts();
        let part = parts.list.pop();
        self.left_count.store(parts.list.len(), Relaxed);
        part
    }

    /// Leaves what is left unsearched.
    pub(super) fn close(&self) {
        let mut parts = self.parts();
        *parts = Parts {
            list: Vec::new(),
            is_closed: true,
        };
        self.left_count.store(0, Relaxed);
    }

    /// Returns whether no part is left.
    pub(super) fn is_empty(&self) -> bool {
        self.left_count() == 0
    }

    /// Returns the number of parts not taken.
    pub(super) fn left_count(&self) -> usize {
        self.left_count.load(Relaxed)
    }

    /// Returns the number of parts ever given.
    pub(super) fn all_count(&self) -> usize {
        self.all_count.load(Relaxed)
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the document that halves a range; its end where it is too short.
pub(super) fn middle(range: &Range<u32>) -> u32 {
    let half = range.start + range.len() as u32 / 2;
    half.next_multiple_of(ALIGNED).min(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_given_last_is_taken_first_until_all_is_closed() {
        let part = |start| Piece {
            segment: 0,
            documents: start..start + 64,
            bound: 1.0,
        };
        let given = Given::default();
        assert!(given.take().is_none());
        given.give(part(64));
        given.give(part(128));
        assert_eq!((given.left_count(), given.all_count()), (2, 2));
        assert_eq!(given.take().unwrap().documents.start, 128);
        given.close();
        assert!(given.is_empty() && given.take().is_none());
        given.give(part(0));
        assert!(given.take().is_none());
    }

    #[test]
    fn halves_begin_with_a_word() {
        assert_eq!(middle(&(0..1000)), 512);
        assert_eq!(middle(&(100..1000)), 576);
        assert_eq!(middle(&(10..20)), 20);
    }
}
