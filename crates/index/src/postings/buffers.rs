//! Where a block of postings is decoded to, and how searches come by such room without allocating.

use super::BLOCK;
use codec::docs::Chain;
use codec::packed;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Buffers that a thread keeps for the next search.
const SPARE_MAX: usize = 64;

/// A decoded block. No vector of it lies in two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Buffers {
    pub(super) frequencies: [u32; BLOCK],
    pub(super) position_gaps: [u32; BLOCK],
    /// Documents, increasing; behind them `u32::MAX`.
    pub(super) docs: [u32; BLOCK + 1],
    pub(super) chain: Chain,
}

/// Room for one block, given back to its thread's store when dropped.
#[derive(Debug)]
pub(super) struct Room(Option<Box<Buffers>>);

thread_local! {
    // Boxed, so that taking and giving back moves a pointer and not five kilobytes.
    #[allow(clippy::vec_box)]
    static SPARE: RefCell<Vec<Box<Buffers>>> = const { RefCell::new(Vec::new()) };
}

impl Room {
    /// Room with anything in it.
    pub(super) fn take() -> Room {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
        Room(Some(spare.ok().flatten().unwrap_or_else(|| {
            Box::new(Buffers {
                docs: [u32::MAX; BLOCK + 1],
                frequencies: [1; BLOCK],
                position_gaps: [0; packed::BLOCK],
                chain: Chain::default(),
            })
        })))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let Some(buffers) = self.0.take() else {
            return;
        };
        // A thread that ends has no store any more.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_MAX {
                spare.push(buffers);
            }
        });
    }
}

impl Deref for Room {
    type Target = Buffers;
    #[inline]
    fn deref(&self) -> &Buffers {
        // Taken only when dropped.
        self.0.as_ref().expect("room until dropped")
    }
}

impl DerefMut for Room {
    #[inline]
    fn deref_mut(&mut self) -> &mut Buffers {
        self.0.as_mut().expect("room until dropped")
    }
}
