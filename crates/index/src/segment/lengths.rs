//! Quantised lengths of all documents of a segment in one field, verified as a whole at their first use.

use crate::live::Derived;
use crate::section::Section;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lengths in every further field, by number; fields that were never asked for take no memory.
pub(super) type FurtherLengths = Box<[Derived<Vec<u8>>]>;

/// One byte for each document; empty where the field has no word.
#[derive(Debug)]
pub(super) struct Lengths {
    section: Section,
    is_verified: AtomicBool,
    /// Substitute for damaged lengths.
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

    /// Returns the lengths. Damaged ones are replaced by zeros; their file is then damaged, so no answer with them
    /// counts.
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
