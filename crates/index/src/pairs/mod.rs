//! Stored pairs: where two very frequent words stand one after the other.
//!
//! A phrase of words that nearly every document holds ("to be or not to be") would have the positions of nearly
//! every document read. So of some pairs of such words a segment keeps the documents in which the second stands
//! right behind the first, how often, and bounds: a posting list like that of a word, without positions. A phrase
//! looks its pairs up and reads positions only in documents that hold them all; a phrase that is one pair is
//! answered by its list alone (Williams, Zobel & Bahle, "Fast phrase querying with combined indexes", 2004, whose
//! nextword index this is for the few words where it pays).
//!
//! They are a file of their own, made of the segment when that is written (see `write`), because which words are
//! frequent is known only then. An index without them gives the same answers.
//!
//! ```text
//! payload    := list{pairs} words pairs table_start:u64le
//! list       := see `postings`; in the order of the pairs
//! words      := count:vint { bytes:vint text[bytes] }{count}        words of the default field, 128 at most
//! pairs      := count:vint pair{count}                              in order of (first, second)
//! pair       := first:u8 second:u8 documents:vint more_occurrences:vint list_bytes:vint
//! ```
//!
//! `first` and `second` number words; `more_occurrences` are those beyond one a document.

mod choose;
mod table;
mod walk;
mod write;

pub use table::PairRecord;
pub(crate) use walk::count_in_each;
pub(crate) use write::write_missing;

use crate::live::LiveFile;
use crate::postings::{ListBytes, Origin};
use crate::sealed::{Identity, Seal};
use crate::section::{LazyBytes, Section, open_live};
use crate::segment::SegmentCore;
use crate::{Blocks, IndexError, Postings, TermRecord};
use std::sync::{Arc, OnceLock};
use table::{PairTable, StoredPair};
use vfs::SharedStorage;

/// Which pairs of frequent words an index keeps. A named property of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairs {
    /// Those that save most for their bytes, up to a share of the index.
    #[default]
    Frequent,
    /// Every pair of the 128 most frequent words, whatever it takes.
    All,
    /// None.
    None,
}

impl Pairs {
    /// The name in manifests and options.
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

/// The pairs of one segment. Their table is read when a pair is first looked for.
#[derive(Debug)]
pub(crate) struct PairLists {
    payload: Section,
    /// `None` where it is damaged, or the segment is.
    table: OnceLock<Option<PairTable>>,
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
            table: OnceLock::new(),
        })
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.payload.file()
    }

    /// The table of the pairs of `segment`, whose pairs these are; `None` where one of the two is damaged, as their files
    /// say from then on.
    #[inline]
    fn table(&self, segment: &SegmentCore) -> Option<&PairTable> {
        let table = self.table.get_or_init(|| self.read_table(segment));
        table.as_ref()
    }

    #[cold]
    fn read_table(&self, segment: &SegmentCore) -> Option<PairTable> {
        PairTable::read(&self.payload, segment)
            .map_err(|(at, what)| {
                if segment.file().is_trusted() && self.file().is_trusted() {
                    let offset = self.payload.file_offset() + at as u64;
                    self.file().found_false(offset, what);
                }
            })
            .ok()
    }

    /// The pair of two words, by their records in the segment, where it is stored.
    #[inline]
    pub(crate) fn find(
        &self,
        segment: &SegmentCore,
        first: &TermRecord,
        second: &TermRecord,
    ) -> Option<PairRecord> {
        self.table(segment)?.find(first, second)
    }

    /// The words, and all pairs by the numbers of their words.
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

    /// That a pair's list makes no sense.
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
        let table = self.table.get().and_then(Option::as_ref);
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

    /// The documents of a pair of `segment`, whose pairs these are, block by block.
    #[inline]
    pub(crate) fn blocks(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<Blocks<'_>, IndexError> {
        let (bytes, origin) = self.list(segment, pair)?;
        Ok(Blocks::new(bytes, origin))
    }

    /// The same, document by document.
    pub(crate) fn postings(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<Postings<'_>, IndexError> {
        let (bytes, origin) = self.list(segment, pair)?;
        Ok(Postings::new(bytes, origin))
    }
}

#[cfg(test)]
mod tests;
