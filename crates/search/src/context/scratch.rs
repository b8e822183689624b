//! Working memory that a thread keeps from search to search, so that none is allocated per query.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// Working memory of a kind that each thread keeps.
pub(crate) trait Scratch: Default + 'static {
    /// Returns the store of a thread.
    fn store() -> &'static LocalKey<RefCell<Vec<Box<Self>>>>;
}

/// Declares the store of a type.
macro_rules! kept_by_thread {
    ($type:ty) => {
        impl crate::context::scratch::Scratch for $type {
            fn store() -> &'static std::thread::LocalKey<std::cell::RefCell<Vec<Box<Self>>>> {
                thread_local! {
                    static STORE: std::cell::RefCell<Vec<Box<$type>>> =
                        const { std::cell::RefCell::new(Vec::new()) };
                }
                &STORE
            }
        }
    };
}
pub(crate) use kept_by_thread;

/// Number of a kind that a thread keeps: queries are seldom nested deeper.
const KEPT_MAX: usize = 8;

/// Takes one from a store; a thread that ends has no store any more.
#[inline]
fn kept_in<T>(store: &'static LocalKey<RefCell<Vec<T>>>) -> Option<T> {
    store
        .try_with(|store| store.borrow_mut().pop())
        .ok()
        .flatten()
}

/// Gives one back, unless the store is full.
#[inline]
fn keep_in<T>(store: &'static LocalKey<RefCell<Vec<T>>>, kept: T) {
    let _ = store.try_with(|store| {
        let mut store = store.borrow_mut();
        if store.len() < KEPT_MAX {
            store.push(kept);
        }
    });
}

/// A value aligned to a cache line, so that no vector of an array in it crosses one and its speed does not depend on
/// where memory was allocated.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Working memory that goes back to the store of its thread when dropped. Its contents are those that the last user
/// left.
#[derive(Debug)]
pub(crate) struct Lent<T: Scratch>(Option<Box<T>>);

impl<T: Scratch> Lent<T> {
    pub(crate) fn take() -> Lent<T> {
        Lent(Some(kept_in(T::store()).unwrap_or_default()))
    }
}

impl<T: Scratch> Drop for Lent<T> {
    fn drop(&mut self) {
        // A panic may leave any contents.
        if std::thread::panicking() {
            return;
        }
        if let Some(kept) = self.0.take() {
            keep_in(T::store(), kept);
        }
    }
}

impl<T: Scratch> Deref for Lent<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // The value is taken only on drop.
        self.0.as_ref().expect("there until dropped")
    }
}

impl<T: Scratch> DerefMut for Lent<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("there until dropped")
    }
}

/// A type that borrows from a search, and vectors of which each thread keeps.
pub(crate) trait InRow: Sized {
    /// The type without borrows, for empty vectors.
    type Free: 'static;
    /// Returns the store of a thread.
    fn store() -> &'static LocalKey<RefCell<Vec<Vec<Self::Free>>>>;
}

/// Declares the store of vectors of a type.
macro_rules! rows_kept_by_thread {
    ($($type:ident)::+) => {
        impl crate::context::scratch::InRow for $($type)::+<'_> {
            type Free = $($type)::+<'static>;
            fn store() -> &'static std::thread::LocalKey<std::cell::RefCell<Vec<Vec<Self::Free>>>> {
                thread_local! {
                    static STORE: std::cell::RefCell<Vec<Vec<$($type)::+<'static>>>> =
                        const { std::cell::RefCell::new(Vec::new()) };
                }
                &STORE
            }
        }
    };
}
pub(crate) use rows_kept_by_thread;

/// Upper limit on the capacity of a kept row: queries of more words are rare.
const ROW_MAX: usize = 64;

/// A vector whose memory goes back to its thread when dropped.
#[derive(Debug)]
pub(crate) struct Row<T: InRow>(Vec<T>);

impl<T: InRow> Row<T> {
    /// Takes an empty vector.
    pub(crate) fn take() -> Row<T> {
        Row(reused(kept_in(T::store()).unwrap_or_default()))
    }
}

impl<T: InRow> Drop for Row<T> {
    fn drop(&mut self) {
        let row: Vec<T::Free> = reused(std::mem::take(&mut self.0));
        if (1..=ROW_MAX).contains(&row.capacity()) {
            keep_in(T::store(), row);
        }
    }
}

impl<T: InRow> Deref for Row<T> {
    type Target = Vec<T>;
    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: InRow> DerefMut for Row<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

/// Returns an empty vector of another type in the memory of this one, if elements have the same size: the standard
/// library collects in place.
fn reused<T, U>(mut row: Vec<T>) -> Vec<U> {
    row.clear();
    row.into_iter()
        .map(|_| unreachable!("the row is empty"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Word<'a>(&'a str);
    rows_kept_by_thread!(Word);

    #[test]
    fn a_row_is_handed_on() {
        let text = String::from("gone soon");
        let mut row: Row<Word<'_>> = Row::take();
        row.push(Word(&text));
        let (at, capacity) = (row.as_ptr() as usize, row.capacity());
        assert_eq!(row[0].0, "gone soon");
        drop(row);
        drop(text);
        let row: Row<Word<'_>> = Row::take();
        assert_eq!((row.as_ptr() as usize, row.capacity()), (at, capacity));
        assert!(row.is_empty());
    }

    #[test]
    fn a_long_row_is_let_go() {
        let mut row: Row<Word<'_>> = Row::take();
        row.extend((0..=ROW_MAX).map(|_| Word("long")));
        drop(row);
        assert_eq!(Row::<Word<'_>>::take().capacity(), 0);
    }
}
