//! Stored pairs: documents in which one very frequent word directly follows another.
//!
//! A phrase of words that nearly every document holds ("to be or not to be") would read the positions of nearly every
//! document. So a segment stores, for some pairs of such words, the documents in which the second directly follows the
//! first, with frequencies and bounds: a posting list without positions. A phrase search looks its pairs up, and reads
//! positions only in documents that hold them all. The list of a phrase that is one pair is its answer (Williams, Zobel
//! & Bahle, "Fast phrase querying with combined indexes", 2004; this is their nextword index, for the few words where
//! it pays).
//!
//! Pairs have a file of their own, derived from the finished segment (see `pairing`), because only then are the frequent
//! words known. An index without pairs gives the same answers.
//!
//! ```text
//! payload    := list{pairs} words pairs table_start:u64le
//! list       := see `postings`; in the order of the pairs
//! words      := count:vint { bytes:vint text[bytes] }{count}        words of the default field, 128 at most
//! pairs      := count:vint pair{count}                              in order of (first, second)
//! pair       := first:u8 second:u8 documents:vint more_occurrences:vint list_bytes:vint
//! ```
//!
//! `first` and `second` are numbers of words; `more_occurrences` excludes the first occurrence of each document.

pub(crate) mod table;

pub use table::PairRecord;
pub(crate) use table::WORDS_MAX;

use crate::live::{Derived, LiveFile};
use crate::postings::{ListBytes, Origin};
use crate::sealed::{Identity, Seal};
use crate::section::{LazyBytes, Section, open_live};
use crate::segment::SegmentCore;
use crate::{Blocks, IndexError, Postings, TermRecord};
use std::sync::Arc;
use table::{PairTable, StoredPair};
use vfs::SharedStorage;

/// Choice of the stored pairs, a property of the whole index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairs {
    /// Pairs that save most for their bytes, up to a share of the index.
    #[default]
    Frequent,
    /// Every pair of the 128 most frequent words, at any size.
    All,
    /// No pairs.
    None,
}

impl Pairs {
    /// Returns the name in manifests and options.
    pub fn name(self) -> &'static str {
        match self {
            Pairs::Frequent => "frequent",
            Pairs::All => "all",
            Pairs::None => "none",
        }
    }

    pub(crate) fn is_frequent(&self) -> bool {
        *self == Pairs::Frequent
    }
}

/// Stored pairs of one segment. Their table is read at the first look-up.
#[derive(Debug)]
pub(crate) struct PairLists {
    payload: Section,
    table: Derived<PairTable>,
}

impl PairLists {
    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
        seal: Seal,
    ) -> Result<PairLists, IndexError> {
        Ok(PairLists {
            payload: open_live(storage, name, identity, seal)?,
            table: Derived::default(),
        })
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.payload.file()
    }

    /// Returns the table of the pairs, which belong to `segment`; `None` where one of the two files is damaged or
    /// changed, which is then recorded in the file.
    #[inline]
    fn table(&self, segment: &SegmentCore) -> Option<&PairTable> {
        match self.table.get() {
            Some(table) => Some(table),
            None => self.read_table(segment),
        }
    }

    #[cold]
    fn read_table(&self, segment: &SegmentCore) -> Option<&PairTable> {
        let files = [&**self.file(), &**segment.file()];
        let read = || {
            let begun = files.map(|file| file.reading());
            PairTable::read(&self.payload, segment).map_err(|(at, what)| {
                let mut both = files.iter().zip(begun);
                // Of changed bytes nothing follows for those that were verified.
                if both.all(|(file, begun)| file.confirm(begun).is_ok()) {
                    let offset = self.payload.file_offset() + at as u64;
                    self.file().found_false(offset, what);
                }
                self.payload.damaged(at as u64, what)
            })
        };
        self.table.get_or_derive(files, read).ok()
    }

    /// Returns the pair of two words, given their records in the segment; `None` where it is not stored.
    #[inline]
    pub(crate) fn find(
        &self,
        segment: &SegmentCore,
        first: &TermRecord,
        second: &TermRecord,
    ) -> Option<PairRecord> {
        self.table(segment)?.find(first, second)
    }

    /// Returns the words, and all pairs by the numbers of their words.
    pub(crate) fn all(
        &self,
        segment: &SegmentCore,
    ) -> Result<(&[TermRecord], &[StoredPair]), IndexError> {
        match self.table(segment) {
            Some(table) => Ok((&table.words, &table.pairs)),
            None => {
                segment.file().ensure_trusted()?;
                Err(self.payload.damaged(0, "the table of pairs is unreadable"))
            }
        }
    }

    /// Returns the error that the list of a pair is inconsistent.
    pub(crate) fn damaged(&self, pair: &PairRecord, what: &str) -> IndexError {
        self.payload.damaged(pair.0.postings_start, what)
    }

    fn list(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<(ListBytes<'_>, Origin<'_>), IndexError> {
        let PairRecord(record) = pair;
        let start = record.postings_start as usize;
        let end = start.saturating_add(record.postings_bytes as usize);
        let table = self.table.get();
        let postings = table.and_then(|table| table.lists.get(start..end));
        let bytes = ListBytes {
            codec: segment.meta().codec,
            documents_count: record.documents_count,
            occurrences_count: record.occurrences_count,
            docs_limit: segment.meta().documents_count,
            postings: postings.ok_or_else(|| self.damaged(pair, "a list lies outside"))?,
            positions: LazyBytes::default(),
        };
        let offset = self.payload.file_offset() + record.postings_start;
        let origin = Origin {
            path: self.file().path(),
            postings_offset: offset,
            positions_offset: offset,
        };
        Ok((bytes, origin))
    }

    /// Returns the documents of a pair of `segment`, to which the pairs belong, block by block.
    #[inline]
    pub(crate) fn blocks(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<Blocks<'_>, IndexError> {
        let (bytes, origin) = self.list(segment, pair)?;
        Ok(Blocks::new(bytes, origin))
    }

    /// Returns the documents of a pair of `segment`, to which the pairs belong, document by document.
    pub(crate) fn postings(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<Postings<'_>, IndexError> {
        let (bytes, origin) = self.list(segment, pair)?;
        Ok(Postings::new(bytes, origin))
    }
}
