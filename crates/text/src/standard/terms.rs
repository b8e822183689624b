//! Terms that share a place, each once, and terms that follow each other.

use crate::token::TERM_BYTES_MAX;
use smallvec::{SmallVec, smallvec};

/// Terms that follow each other in a document.
pub type Way = SmallVec<[String; 1]>;

/// Ways of which a document holds any. Most words have one, of one term.
pub type Ways = SmallVec<[Way; 1]>;

/// Cuts a text to `bytes_max` bytes at most, at a character boundary.
pub(super) fn cut(text: &mut String, bytes_max: usize) {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

/// List of terms in one buffer.
#[derive(Debug, Default)]
pub(super) struct Terms {
    bytes: String,
    ends: SmallVec<[u32; 24]>,
}

impl Terms {
    /// Adds the term that `write` appends to a buffer, unless it is empty or known. Returns whether it was added.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) -> bool {
        let from = self.bytes.len();
        write(&mut self.bytes);
        cut(&mut self.bytes, from + TERM_BYTES_MAX);
        let added = &self.bytes[from..];
        let is_known = self.iter().any(|term| term == added);
        if added.is_empty() || is_known {
            self.bytes.truncate(from);
            return false;
        }
        self.ends.push(self.bytes.len() as u32);
        true
    }

    /// Returns each term as a way of its own.
    pub(super) fn single_forms(&self) -> Ways {
        let own = |term: &str| smallvec![term.to_owned()];
        self.iter().map(own).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.bytes[start as usize..end as usize])
    }
}
