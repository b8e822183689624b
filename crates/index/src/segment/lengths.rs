//! Quantised lengths of all documents of a segment in one field, verified whole when they are first asked for.

use crate::section::Section;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A byte for each document, or nothing where the field has no word.
#[derive(Debug)]
pub(super) struct Lengths {
    section: Section,
    is_verified: AtomicBool,
    /// In the place of damaged ones.
    zeros: OnceLock<Vec<u8>>,
}

impl Lengths {
    pub(super) fn new(section: Section) -> Lengths {
        Lengths {
            section,
            is_verified: AtomicBool::new(false),
            zeros: OnceLock::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.section.len()
    }

    /// The lengths. Zeros, as many, where they are damaged: their file is then, and so no answer counts.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self.is_verified.load(Ordering::Acquire) {
            true => self.section.unverified(),
            false => self.verify(),
        }
    }

    #[cold]
    fn verify(&self) -> &[u8] {
        match self.section.whole() {
            Some(bytes) => {
                self.is_verified.store(true, Ordering::Release);
                bytes
            }
            None => self.zeros.get_or_init(|| vec![0; self.section.len()]),
        }
    }
}
