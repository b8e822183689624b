//! Dictionary of words as written: search by beginning, and the stream of its entries.

use super::BLOCK_ENTRIES;
use crate::IndexError;
use crate::section::Section;
use codec::vint;

/// Place of a dictionary in the payload of its segment, with the counts of that file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct WrittenPlace {
    pub(crate) entries: u64,
    /// Start and length in bytes.
    pub(crate) words: [u64; 2],
    /// Start and length in bytes.
    pub(crate) starts: [u64; 2],
}

/// Open dictionary.
#[derive(Debug)]
pub(crate) struct Written {
    words: Section,
    starts: Section,
    entries: u64,
}

impl Written {
    /// Opens the dictionary at a place of `payload`; `None` where the place does not fit.
    pub(crate) fn open(payload: &Section, place: WrittenPlace) -> Option<Written> {
        let section = |[start, bytes]: [u64; 2]| {
            payload.part(usize::try_from(start).ok()?, usize::try_from(bytes).ok()?)
        };
        let (words, starts) = (section(place.words)?, section(place.starts)?);
        let blocks = place.entries.div_ceil(BLOCK_ENTRIES);
        (starts.len() as u64 == blocks.checked_mul(4)?).then_some(Written {
            words,
            starts,
            entries: place.entries,
        })
    }

    /// Returns the number of entries.
    pub(crate) fn count(&self) -> u64 {
        self.entries
    }

    /// Returns the entries from the first that is at least `from`.
    pub(crate) fn from(&self, from: &[u8]) -> WrittenStream<'_> {
        let (mut low, mut high) = (0, self.blocks_count());
        while low < high {
            let middle = low + (high - low) / 2;
            let mut first = self.block(middle);
            match first.read() {
                Some(true) if first.entry.as_slice() <= from => low = middle + 1,
                // The stream reports damage where it gets there.
                _ => high = middle,
            }
        }
        let mut stream = self.block(low.saturating_sub(1));
        stream.from = from.to_vec();
        stream
    }

    /// Returns the error for unreadable entries.
    pub(crate) fn damaged(&self, what: &str) -> IndexError {
        self.words.damaged(0, what)
    }

    fn blocks_count(&self) -> u64 {
        self.entries.div_ceil(BLOCK_ENTRIES)
    }

    fn block(&self, block: u64) -> WrittenStream<'_> {
        WrittenStream {
            written: self,
            next: block * BLOCK_ENTRIES,
            bytes: &[],
            at: 0,
            entry: Vec::new(),
            from: Vec::new(),
        }
    }

    fn bytes_of(&self, block: u64) -> Option<&[u8]> {
        let at = usize::try_from(block * 4).ok()?;
        let start = self.starts.read_u32(at) as usize;
        let end = match block + 1 < self.blocks_count() {
            true => self.starts.read_u32(at + 4) as usize,
            false => self.words.len(),
        };
        (start < end).then(|| self.words.get(start..end)).flatten()
    }
}

/// Stream of the entries of a dictionary, in order.
pub(crate) struct WrittenStream<'a> {
    written: &'a Written,
    /// Number of the next entry.
    next: u64,
    /// Bytes of the current block.
    bytes: &'a [u8],
    at: usize,
    entry: Vec<u8>,
    /// Entries before are passed over.
    from: Vec<u8>,
}

impl WrittenStream<'_> {
    /// Returns the next entry, its field first; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, IndexError> {
        loop {
            match self.read() {
                Some(true) if self.entry < self.from => {}
                Some(true) => break,
                Some(false) => return Ok(None),
                None => return Err(self.written.damaged("words as written unreadable")),
            }
        }
        Ok(Some(&self.entry))
    }

    /// Reads the next entry; `Some(false)` after the last, `None` where bytes are inconsistent.
    fn read(&mut self) -> Option<bool> {
        if self.next >= self.written.entries {
            return Some(false);
        }
        if self.next.is_multiple_of(BLOCK_ENTRIES) {
            self.bytes = self.written.bytes_of(self.next / BLOCK_ENTRIES)?;
            self.at = 0;
            self.entry.clear();
        }
        self.next += 1;
        let shared = usize::try_from(vint::read_u64(self.bytes, &mut self.at).ok()?).ok()?;
        let own = usize::try_from(vint::read_u64(self.bytes, &mut self.at).ok()?).ok()?;
        let end = self.at.checked_add(own)?;
        let own = self.bytes.get(self.at..end)?;
        if shared > self.entry.len() {
            return None;
        }
        self.entry.truncate(shared);
        self.entry.extend_from_slice(own);
        self.at = end;
        Some(true)
    }
}
