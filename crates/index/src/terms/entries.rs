//! Entries of a dictionary's blocks, and the records of terms in them.

use codec::vint;

/// Terms of a block.
pub(crate) const BLOCK_TERMS: u64 = 8;

/// Record of a term: the place of its postings, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermRecord {
    /// Documents that hold the term.
    pub documents_count: u32,
    /// Occurrences in all documents.
    pub occurrences_count: u64,
    pub(crate) postings_start: u64,
    pub(crate) postings_bytes: u64,
    pub(crate) positions_start: u64,
    pub(crate) positions_bytes: u64,
}

/// Inconsistent bytes in the block that starts at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadTerms {
    pub(crate) offset: u64,
}

/// Reader of the entries of a block.
pub(super) struct Entries<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) at: usize,
    pub(super) left: u64,
    pub(super) postings_start: u64,
    pub(super) positions_start: u64,
}

pub(super) struct Entry<'a> {
    pub(super) shared: usize,
    pub(super) own: &'a [u8],
    pub(super) record: TermRecord,
}

impl<'a> Entries<'a> {
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Entry<'a>>, BadTerms> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let offset = self.start as u64;
        self.read().map(Some).ok_or(BadTerms { offset })
    }

    #[inline]
    fn read(&mut self) -> Option<Entry<'a>> {
        let lengths = *self.bytes.get(self.at)?;
        self.at += 1;
        let (mut shared, mut own) = (usize::from(lengths >> 4), usize::from(lengths & 15));
        for length in [&mut shared, &mut own] {
            if *length == 15 {
                *length += usize::try_from(self.read_vint()?).ok()?.min(1 << 31);
            }
        }
        let own = self.bytes.get(self.at..self.at + own)?;
        self.at += own.len();
        let documents = u32::try_from(self.read_vint()?).ok()?;
        let more = match documents & 1 {
            1 => 0,
            _ => self.read_vint()?,
        };
        let documents_count = documents >> 1;
        let (postings_bytes, positions_bytes) = (self.read_vint()?, self.read_vint()?);
        let record = TermRecord {
            documents_count,
            occurrences_count: more.checked_add(documents_count.into())?,
            postings_start: self.postings_start,
            postings_bytes,
            positions_start: self.positions_start,
            positions_bytes,
        };
        self.postings_start = self.postings_start.checked_add(postings_bytes)?;
        self.positions_start = self.positions_start.checked_add(positions_bytes)?;
        Some(Entry {
            shared,
            own,
            record,
        })
    }

    #[inline]
    pub(super) fn read_vint(&mut self) -> Option<u64> {
        vint::read_u64(self.bytes, &mut self.at).ok()
    }
}

#[inline]
pub(crate) fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}
