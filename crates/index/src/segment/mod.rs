//! Open immutable segment: terms, postings, lengths and details of some documents of a partition.
//!
//! ```text
//! payload := postings positions terms term_starts term_table text_lengths title_lengths hashes sites
//!            details details_offsets meta table
//! table   := { start:u64le bytes:u64le }{12}          in the order above, counted from the payload
//! *_lengths := byte{documents}                        nothing where the field has no word
//! meta    := JSON, with the places of the hashes of texts and of the words as written before it, where there are any
//! ```
//!
//! The modules of `postings`, `terms`, `written`, `hashes`, `text_hashes` and `details` document those sections.

mod begun;
mod core;
pub(crate) mod details;
mod documents;
mod further_lengths;
mod hashes;
mod lengths;
mod letters;
mod matching;
mod meta;
pub(crate) mod pairs;
mod scan;
mod site_names;
pub(crate) mod text_hashes;
mod titles;
mod titles_beginning;
mod values;
mod words;
mod words_begun;
mod words_listed;
pub(crate) mod write;

pub(crate) use self::core::SegmentCore;
pub use crate::terms::TermRecord;
pub use details::{Details, DetailsReader};
pub(crate) use meta::{DOCUMENTS_MAX, SegmentMeta};
pub use site_names::SiteNames;
pub use titles::{TITLES_MAX, TitleFound};
pub(crate) use words_begun::BegunWords;

use crate::columns::Columns;
use crate::deletions::Deletions;
use crate::postings::{ListBytes, Origin};
use crate::sealed::Seal;
use crate::segment::pairs::{PairLists, PairRecord};
use crate::terms::{self, BadTerms, LookUpStep, TermHash, TermKey, TermStream};
use crate::{Blocks, Field, IndexError, Postings};
use std::ops::RangeInclusive;
use std::sync::Arc;
use vfs::SharedStorage;

/// Number of cache lines of a list that are prefetched before it is opened.
const LIST_LINES: usize = 4;

/// Open immutable segment: some documents of the chunks of a partition.
///
/// Deletions, which commits change, are kept beside the file. So indexes of several generations share the file as it
/// was opened once.
#[derive(Debug)]
pub struct Segment {
    pub(crate) number: u32,
    pub(crate) core: Arc<SegmentCore>,
    pub(crate) deletions: Option<Arc<Deletions>>,
    pub(crate) pairs: Option<Arc<PairLists>>,
    pub(crate) columns: Option<Arc<Columns>>,
}

impl Segment {
    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        index_id: u128,
        id: u32,
        seal: Seal,
    ) -> Result<Segment, IndexError> {
        let core = SegmentCore::open(storage, name, index_id, id, seal)?;
        Ok(Segment::over(Arc::new(core)))
    }

    /// Creates a segment without deletions, pairs and columns.
    pub(crate) fn over(core: Arc<SegmentCore>) -> Segment {
        Segment {
            number: 0,
            core,
            deletions: None,
            pairs: None,
            columns: None,
        }
    }

    /// Returns its file, which indexes may share.
    pub(crate) fn core(&self) -> &Arc<SegmentCore> {
        &self.core
    }

    /// Returns the chunks of its documents.
    pub fn chunks(&self) -> RangeInclusive<u32> {
        self.core.meta.chunks.range()
    }

    /// Returns its id, unique in the index.
    pub fn id(&self) -> u32 {
        self.core.id
    }

    /// Returns its index among the segments of its index, in the manifest's order, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the number of its documents, deleted ones included. Document ids are below it.
    pub fn documents_count(&self) -> u32 {
        self.core.meta.documents_count
    }

    pub(crate) fn meta(&self) -> &SegmentMeta {
        &self.core.meta
    }

    /// Returns the quantised lengths (see [`crate::length`]) by document; empty for `Field::Site` and for a field
    /// without words.
    pub fn lengths(&self, field: Field) -> &[u8] {
        match field {
            Field::Text => self.core.lengths[0].bytes(),
            Field::Title => self.core.lengths[1].bytes(),
            Field::Site => &[],
            Field::Further(number) => self.further_lengths(number),
        }
    }

    /// Returns the record of a term; `None` where it does not occur in the segment.
    pub fn term(&self, field: Field, term: &str) -> Result<Option<TermRecord>, IndexError> {
        terms::with_key(field, term, |key| self.find(key))
    }

    /// Returns the record of a key; `None` where it does not occur in the segment.
    pub(crate) fn find(&self, key: TermKey<'_>) -> Result<Option<TermRecord>, IndexError> {
        (self.core.terms.find(key)).map_err(|bad| self.bad_terms(bad))
    }

    /// Prefetches the memory that the next step of a look-up reads.
    #[inline]
    pub fn prefetch_term(&self, hash: TermHash, step: LookUpStep) {
        self.core.terms.prefetch(hash, step);
    }

    /// Prefetches the beginning of a list.
    #[inline]
    pub fn prefetch_list(&self, record: &TermRecord) {
        let start = record.postings_start as usize;
        for line in 0..LIST_LINES {
            codec::memory::prefetch(self.core.postings.unverified(), start + line * 64);
        }
    }

    /// Returns all terms in order (a field's byte, then the term), with their ordinals.
    pub(crate) fn terms(&self) -> TermStream<'_> {
        self.core.terms.stream()
    }

    /// Returns the terms of a field in order, with their ordinals.
    pub(crate) fn terms_of(&self, field: Field) -> TermStream<'_> {
        let number = field.number();
        let next = number.checked_add(1);
        let next = next.as_ref().map(std::slice::from_ref);
        self.core.terms.range(&[number], next)
    }

    /// Returns the record of the term with the ordinal `ordinal`.
    pub(crate) fn record(&self, ordinal: u64) -> Result<TermRecord, IndexError> {
        self.core
            .terms
            .record(ordinal)
            .map_err(|bad| self.bad_terms(bad))
    }

    fn bad_terms(&self, bad: BadTerms) -> IndexError {
        self.core.terms.damaged(bad, "terms unreadable")
    }

    /// Returns the postings of a term, document by document.
    pub fn postings(&self, record: &TermRecord) -> Result<Postings<'_>, IndexError> {
        let (bytes, origin) = self.list(record)?;
        Ok(Postings::new(bytes, origin))
    }

    /// Returns the postings of a term, block by block.
    #[inline]
    pub fn blocks(&self, record: &TermRecord) -> Result<Blocks<'_>, IndexError> {
        let (bytes, origin) = self.list(record)?;
        Ok(Blocks::new(bytes, origin))
    }

    #[inline]
    fn list(&self, record: &TermRecord) -> Result<(ListBytes<'_>, Origin<'_>), IndexError> {
        let core = &*self.core;
        let range = |start: u64, bytes: u64| {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            start..start.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX))
        };
        let postings = core
            .postings
            .get(range(record.postings_start, record.postings_bytes));
        let positions_at = range(record.positions_start, record.positions_bytes);
        let (Some(postings), Some(positions)) = (postings, core.positions.lazy(positions_at))
        else {
            return Err(self.damaged_list(record));
        };
        let bytes = ListBytes {
            codec: core.meta.codec,
            documents_count: record.documents_count,
            occurrences_count: record.occurrences_count,
            docs_limit: core.meta.documents_count,
            postings,
            positions,
        };
        let origin = Origin {
            path: core.postings.file().path(),
            postings_offset: core.postings.file_offset() + record.postings_start,
            positions_offset: core.positions.file_offset() + record.positions_start,
        };
        Ok((bytes, origin))
    }

    #[cold]
    fn damaged_list(&self, record: &TermRecord) -> IndexError {
        self.core
            .postings
            .damaged(record.postings_start, "a list lies outside")
    }

    /// Returns the stored pair of two words of the default field, given their records: the documents in which the
    /// second word follows the first. `None` where the pair is not stored, even if it occurs.
    #[inline]
    pub fn pair(&self, first: &TermRecord, second: &TermRecord) -> Option<PairRecord> {
        self.pairs.as_ref()?.find(&self.core, first, second)
    }

    /// Returns the documents of a stored pair, block by block; they have no positions.
    #[inline]
    pub fn pair_blocks(&self, pair: &PairRecord) -> Result<Blocks<'_>, IndexError> {
        match &self.pairs {
            Some(pairs) => pairs.blocks(&self.core, pair),
            None => Err(self.damaged_at_terms("a pair of another segment was asked for")),
        }
    }

    /// Tells the system that postings and positions before those of `record` are no longer needed. A merge reads a
    /// segment once, from front to back.
    pub(crate) fn release_before(&self, record: &TermRecord) {
        self.core.postings.release(record.postings_start as usize);
        self.core.positions.release(record.positions_start as usize);
    }

    /// Returns the error that the segment's contents are inconsistent, or the known damage of its file.
    pub(crate) fn damaged_at_terms(&self, what: &str) -> IndexError {
        self.core.terms.damaged(BadTerms { offset: 0 }, what)
    }
}

impl AsRef<Segment> for Segment {
    fn as_ref(&self) -> &Segment {
        self
    }
}
