//! Terms that share a place, each once.

use smallvec::SmallVec;

/// List of terms in one buffer.
#[derive(Debug, Default)]
pub(super) struct Terms {
    bytes: String,
    ends: SmallVec<[u32; 24]>,
}

impl Terms {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the term that `write` appends to a buffer, unless it is empty or known. Returns whether it was added.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) -> bool {
        let from = self.bytes.len();
        write(&mut self.bytes);
        let bytes_max = crate::TERM_BYTES_MAX;
        if self.bytes.len() - from > bytes_max {
            let end = self.bytes.floor_char_boundary(from + bytes_max);
            self.bytes.truncate(end);
        }
        let added = &self.bytes[from..];
        let is_known = self.iter().any(|term| term == added);
        if added.is_empty() || is_known {
            self.bytes.truncate(from);
            return false;
        }
        self.ends.push(self.bytes.len() as u32);
        true
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.bytes[start as usize..end as usize])
    }
}
