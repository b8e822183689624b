//! Buffers for decoded blocks, and their reuse without allocation.

use super::BLOCK;
use codec::docs::Chain;
use codec::packed;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Buffers that a thread keeps for the next search.
const SPARE_MAX: usize = 64;

/// Buffers of a decoded block. None of their vectors crosses a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Buffers {
    pub(super) frequencies: [u32; BLOCK],
    pub(super) position_gaps: [u32; BLOCK],
    /// Documents, increasing, padded with `u32::MAX`.
    pub(super) docs: [u32; BLOCK + 1],
    pub(super) chain: Chain,
}

/// Buffers for one block, returned to the thread's pool when dropped.
#[derive(Debug)]
pub(super) struct Room(Option<Box<Buffers>>);

thread_local! {
    // Boxed, so that taking and returning moves a pointer instead of five kilobytes.
    #[allow(clippy::vec_box)]
    static SPARE: RefCell<Vec<Box<Buffers>>> = const { RefCell::new(Vec::new()) };
}

impl Room {
    /// Takes buffers with arbitrary contents.
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
        // A thread that is ending has no pool.
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
        // Empty only after the drop.
        self.0.as_ref().expect("room until dropped")
    }
}

impl DerefMut for Room {
    #[inline]
    fn deref_mut(&mut self) -> &mut Buffers {
        self.0.as_mut().expect("room until dropped")
    }
}
