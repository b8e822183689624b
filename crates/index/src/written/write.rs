//! Writer of a dictionary of words as written, from entries in order.

use super::read::WrittenPlace;
use super::{BLOCK_ENTRIES, read_entry};
use crate::IndexError;
use crate::sealed::SealedWriter;
use crate::spill::Spill;
use crate::terms::common_bytes;
use codec::vint;
use std::collections::HashSet;
use vfs::SharedStorage;
use xxhash_rust::xxh3::xxh3_64;

/// Writer of the dictionary of a segment.
pub(crate) struct WrittenWriter {
    words: Spill,
    starts: Spill,
    count: u64,
    before: Vec<u8>,
    key: Vec<u8>,
    /// Hashes of the keys of all terms, where some terms of the entries may be left out.
    terms: Option<HashSet<u64>>,
}

impl WrittenWriter {
    /// Creates a writer; names of temporary files begin with `name`.
    pub(crate) fn new(storage: &SharedStorage, name: &str) -> WrittenWriter {
        WrittenWriter {
            words: Spill::new(storage, format!("{name}-written")),
            starts: Spill::new(storage, format!("{name}-written-starts")),
            count: 0,
            before: Vec::new(),
            key: Vec::new(),
            terms: None,
        }
    }

    /// Leaves out the entries of terms that the segment does not have. Called before its first term.
    pub(crate) fn expect_lost_terms(&mut self) {
        self.terms = Some(HashSet::new());
    }

    /// Notes a term of the segment, by its key.
    #[inline]
    pub(crate) fn note_term(&mut self, key: &[u8]) {
        if let Some(terms) = &mut self.terms {
            terms.insert(xxh3_64(key));
        }
    }

    /// Adds the next entry, after all terms. Entries increase, and begin with their field.
    pub(crate) fn push(&mut self, entry: &[u8]) -> Result<(), IndexError> {
        if let Some(terms) = &self.terms {
            let Some((&field, rest)) = entry.split_first() else {
                return Ok(());
            };
            let mut term = std::mem::take(&mut self.key);
            let is_sound = read_entry(rest, &mut term).is_some();
            term.insert(0, field);
            let is_left = is_sound && terms.contains(&xxh3_64(&term));
            self.key = term;
            if !is_left {
                return Ok(());
            }
        }
        if self.count.is_multiple_of(BLOCK_ENTRIES) {
            // A dictionary of more than 4 GiB ends here: patterns then do not know the rest.
            let Ok(start) = u32::try_from(self.words.bytes()) else {
                return Ok(());
            };
            self.starts.write(&start.to_le_bytes())?;
            self.before.clear();
        }
        let shared = common_bytes(&self.before, entry);
        let own = &entry[shared..];
        let mut lengths = Vec::with_capacity(4);
        vint::write_u64(&mut lengths, shared as u64);
        vint::write_u64(&mut lengths, own.len() as u64);
        self.words.write(&lengths)?;
        self.words.write(own)?;
        self.before.clear();
        self.before.extend_from_slice(entry);
        self.count += 1;
        Ok(())
    }

    /// Appends the dictionary to `out`; returns its place, `None` where it has no entry.
    pub(crate) fn finish(self, out: &mut SealedWriter) -> Result<Option<WrittenPlace>, IndexError> {
        if self.count == 0 {
            return Ok(None);
        }
        let (words_start, words_bytes) = self.words.copy_to(out)?;
        let (starts_start, starts_bytes) = self.starts.copy_to(out)?;
        Ok(Some(WrittenPlace {
            entries: self.count,
            words: [words_start, words_bytes],
            starts: [starts_start, starts_bytes],
        }))
    }
}
