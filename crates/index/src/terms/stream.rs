//! Stream of the terms of a dictionary, in order.

use super::dictionary::Terms;
use super::entries::{BLOCK_TERMS, Entries, TermRecord};
use fst::Streamer;

/// Stream of terms in order, each with its ordinal. Inconsistent bytes give an ordinal that no term has, so that
/// reading its record fails; then the stream ends.
pub(crate) struct TermStream<'a> {
    terms: &'a Terms,
    block: u64,
    entries: Option<Entries<'a>>,
    key: Vec<u8>,
    /// Ordinal of the next term.
    ordinal: u64,
    /// Record of the term returned last.
    record: Option<TermRecord>,
    /// Whether `key` is already the next term.
    is_ready: bool,
    /// Key before which the stream ends.
    to: Option<Vec<u8>>,
}

impl Terms {
    /// Returns all terms in order, with their ordinals.
    pub(crate) fn stream(&self) -> TermStream<'_> {
        TermStream::new(self, &[], None)
    }

    /// Returns the terms from `from` to before `to`, with their ordinals.
    pub(crate) fn range(&self, from: &[u8], to: Option<&[u8]>) -> TermStream<'_> {
        TermStream::new(self, from, to)
    }
}

impl<'a> TermStream<'a> {
    fn new(terms: &'a Terms, from: &[u8], to: Option<&[u8]>) -> TermStream<'a> {
        let mut stream = TermStream {
            terms,
            block: 0,
            entries: None,
            key: Vec::new(),
            ordinal: 0,
            record: None,
            is_ready: false,
            to: to.map(<[u8]>::to_vec),
        };
        stream.seek(from);
        stream
    }

    /// Returns the key of the term returned last.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns the record of the term returned last; `None` where bytes are inconsistent.
    pub(crate) fn record(&self) -> Option<TermRecord> {
        self.record
    }

    /// Moves to the first key that is at least `from`.
    fn seek(&mut self, from: &[u8]) {
        // Last block that begins at or before `from`.
        let (mut low, mut high) = (0, self.terms.blocks_count());
        while low < high {
            let middle = (low + high) / 2;
            match self.terms.entries(middle).map(|mut entries| entries.next()) {
                Some(Ok(Some(first))) if first.own <= from => low = middle + 1,
                _ => high = middle,
            }
        }
        self.block = low.saturating_sub(1);
        self.ordinal = self.block * BLOCK_TERMS;
        self.entries = self.terms.entries(self.block);
        while self.advance() {
            if self.ordinal == u64::MAX || self.key.as_slice() >= from {
                self.is_ready = true;
                return;
            }
            self.ordinal += 1;
        }
    }

    /// Sets `key` to that of the term `ordinal`; returns false at the end.
    fn advance(&mut self) -> bool {
        loop {
            let Some(entries) = &mut self.entries else {
                return false;
            };
            match entries.next() {
                Ok(Some(entry)) if entry.shared <= self.key.len() => {
                    self.key.truncate(entry.shared);
                    self.key.extend_from_slice(entry.own);
                    self.record = Some(entry.record);
                    return true;
                }
                Ok(None) => {
                    self.block += 1;
                    self.key.clear();
                    self.entries = self.terms.entries(self.block);
                }
                _ => {
                    self.entries = None;
                    self.record = None;
                    self.ordinal = u64::MAX;
                    return true;
                }
            }
        }
    }
}

impl<'s> Streamer<'s> for TermStream<'_> {
    type Item = (&'s [u8], u64);

    fn next(&'s mut self) -> Option<(&'s [u8], u64)> {
        if !self.is_ready && !self.advance() {
            return None;
        }
        self.is_ready = false;
        let is_over = |to: &Vec<u8>| self.key >= *to;
        if self.to.as_ref().is_some_and(is_over) {
            self.entries = None;
            return None;
        }
        let ordinal = self.ordinal;
        self.ordinal = self.ordinal.saturating_add(1);
        Some((&self.key, ordinal))
    }
}
