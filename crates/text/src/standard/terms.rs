//! Terms that share a place, each once, and terms that follow each other.

use crate::token::{TERM_BYTES_MAX, cut_to_term};
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
    /// Words as written that have another term, each with the index of that term.
    written: Vec<(Box<str>, u32)>,
}

impl Terms {
    /// Adds the term that `write` appends to a buffer, unless it is empty or known. Returns whether it was added.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) -> bool {
        self.push_numbered(write).1
    }

    /// Adds the stem that `write` appends to a buffer, of a word that is written `written`.
    pub(super) fn push_stem(&mut self, written: &str, write: impl FnOnce(&mut String)) {
        let written = cut_to_term(written);
        let (Some(at), _) = self.push_numbered(write) else {
            return;
        };
        if self.iter().nth(at).is_some_and(|term| term != written) {
            let is_known = |(known, of): &(Box<str>, u32)| **known == *written && *of == at as u32;
            if !self.written.iter().any(is_known) {
                self.written.push((written.into(), at as u32));
            }
        }
    }

    /// Adds a term as [`Terms::push`] does. Returns its index among the terms too; `None` for an empty one.
    fn push_numbered(&mut self, write: impl FnOnce(&mut String)) -> (Option<usize>, bool) {
        let from = self.bytes.len();
        write(&mut self.bytes);
        cut(&mut self.bytes, from + TERM_BYTES_MAX);
        let added = &self.bytes[from..];
        let known = self.iter().position(|term| term == added);
        if added.is_empty() || known.is_some() {
            self.bytes.truncate(from);
            return (known, false);
        }
        self.ends.push(self.bytes.len() as u32);
        (Some(self.ends.len() - 1), true)
    }

    /// Returns the words as written that have another term, each with its term.
    pub(super) fn written(&self) -> impl Iterator<Item = (&str, &str)> {
        let term_of = |at: u32| self.iter().nth(at as usize).unwrap_or_default();
        self.written
            .iter()
            .map(move |(written, at)| (&**written, term_of(*at)))
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
