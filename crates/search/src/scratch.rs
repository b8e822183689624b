//! Working memory that a thread keeps from search to search, so that none is allocated per query.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// Something that each thread keeps some of.
pub(crate) trait Scratch: Default + 'static {
    /// Where a thread keeps them.
    fn store() -> &'static LocalKey<RefCell<Vec<Box<Self>>>>;
}

/// Says where a type is kept.
macro_rules! kept_by_thread {
    ($type:ty) => {
        impl crate::scratch::Scratch for $type {
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

/// How many of a kind a thread keeps: queries are seldom nested deeper.
const KEPT_MAX: usize = 8;

/// Begins with a cache line, so that no vector of an array in it lies in two: where a process happens to get
/// its memory must not decide how fast it is.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// One of a kind, given back when dropped. What it holds is what its last user left in it.
#[derive(Debug)]
pub(crate) struct Lent<T: Scratch>(Option<Box<T>>);

impl<T: Scratch> Lent<T> {
    pub(crate) fn take() -> Lent<T> {
        // A thread that ends has no store any more.
        let kept = T::store().try_with(|store| store.borrow_mut().pop());
        Lent(Some(kept.ok().flatten().unwrap_or_default()))
    }
}

impl<T: Scratch> Drop for Lent<T> {
    fn drop(&mut self) {
        // A search that a panic cut short may leave anything.
        if std::thread::panicking() {
            return;
        }
        if let Some(kept) = self.0.take() {
            let _ = T::store().try_with(|store| {
                let mut store = store.borrow_mut();
                if store.len() < KEPT_MAX {
                    store.push(kept);
                }
            });
        }
    }
}

impl<T: Scratch> Deref for Lent<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // Taken only when dropped.
        self.0.as_ref().expect("there until dropped")
    }
}

impl<T: Scratch> DerefMut for Lent<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("there until dropped")
    }
}
