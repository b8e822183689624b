//! Scores of a window of documents, into which lists are poured one after another.
//!
//! (Strohman, Turtle & Croft 2005 call it term-at-a-time in document windows.) Between windows everything
//! is zero, so a window costs what is poured into it, not its width.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Documents of the widest window: their scores fit a second-level cache.
pub(crate) const WIDTH_MAX: u32 = 16384;

/// Sums and marks by document.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) sums: Vec<f32>,
    pub(crate) matched: Vec<u64>,
}

/// A window of this thread's store, given back when dropped.
#[derive(Debug)]
pub(crate) struct Lent(Option<Box<Window>>);

thread_local! {
    static SPARE: RefCell<Option<Box<Window>>> = const { RefCell::new(None) };
}

impl Window {
    /// A window that is all zero; whoever takes it leaves it so.
    pub(crate) fn take() -> Lent {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().take());
        Lent(Some(spare.ok().flatten().unwrap_or_else(|| {
            Box::new(Window {
                sums: vec![0.0; WIDTH_MAX as usize],
                matched: vec![0; WIDTH_MAX as usize / 64],
            })
        })))
    }

    /// No window: a place to put one back to.
    pub(crate) fn none() -> Lent {
        Lent(None)
    }

    /// Adds scores of documents from `base` on.
    #[inline]
    pub(crate) fn pour(&mut self, base: u32, docs: &[u32], scores: &[f32]) {
        let Ok(sums): Result<&mut [f32; WIDTH_MAX as usize], _> = (&mut self.sums[..]).try_into()
        else {
            return;
        };
        let Ok(matched): Result<&mut [u64; WIDTH_MAX as usize / 64], _> =
            (&mut self.matched[..]).try_into()
        else {
            return;
        };
        for (&doc, &score) in docs.iter().zip(scores) {
            // A damaged list may name documents out of order; they must not leave the window.
            let at = doc.wrapping_sub(base) as usize % WIDTH_MAX as usize;
            sums[at] += score;
            matched[at / 64] |= 1 << (at % 64);
        }
    }

    /// Calls `each` for the documents that reach `least`, in order, and empties the first `width` places.
    #[inline]
    pub(crate) fn drain(&mut self, width: u32, least: f32, mut each: impl FnMut(u32, f32)) {
        for (number, word) in self.matched[..width.div_ceil(64) as usize]
            .iter_mut()
            .enumerate()
        {
            if *word == 0 {
                continue;
            }
            let sums = &mut self.sums[number * 64..number * 64 + 64];
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let sum = std::mem::take(&mut sums[bit as usize]);
                if sum >= least {
                    each(number as u32 * 64 + bit, sum);
                }
            }
            *word = 0;
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let window = self.0.take();
        // A search that was cut short by a panic leaves no zeros.
        if window.is_some() && !std::thread::panicking() {
            // A thread that ends has no store any more.
            let _ = SPARE.try_with(|spare| *spare.borrow_mut() = window);
        }
    }
}

impl Deref for Lent {
    type Target = Window;
    #[inline]
    fn deref(&self) -> &Window {
        // Taken only when dropped.
        self.0.as_ref().expect("a window until dropped")
    }
}

impl DerefMut for Lent {
    #[inline]
    fn deref_mut(&mut self) -> &mut Window {
        self.0.as_mut().expect("a window until dropped")
    }
}
