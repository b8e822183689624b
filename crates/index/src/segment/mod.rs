//! One immutable segment, opened: terms, postings, lengths and details of some documents of a partition.
//!
//! ```text
//! payload := postings positions terms term_starts term_table text_lengths title_lengths hashes sites
//!            details details_offsets meta table
//! table   := { start:u64le bytes:u64le }{12}          in the order above, counted from the payload
//! *_lengths := byte{documents}                        nothing where the field has no word
//! meta    := JSON
//! ```
//!
//! `postings`, `terms`, `hashes` and `details` are documented in their modules.

mod core;
pub(crate) mod details;
mod documents;
mod hashes;
mod lengths;
mod meta;
pub(crate) mod write;

pub(crate) use self::core::SegmentCore;
pub use crate::terms::TermRecord;
pub use details::Details;
pub(crate) use meta::{DOCUMENTS_MAX, SegmentMeta};

use crate::deletions::Deletions;
use crate::pairs::{PairLists, PairRecord};
use crate::postings::{ListBytes, Origin};
use crate::sealed::Seal;
use crate::terms::{self, BadTerms, LookUpStep, TermHash, TermStream};
use crate::{Blocks, Field, IndexError, Postings};
use fst::Streamer;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use vfs::SharedStorage;

/// Lines of memory that are asked for of a list about to be opened.
const LIST_LINES: usize = 4;

/// One immutable segment: some documents of the chunks of a partition.
///
/// What commits change, which of its documents are deleted, stands beside its file: indexes of several generations share
/// the file as it was opened once.
#[derive(Debug)]
pub struct Segment {
    pub(crate) number: u32,
    core: Arc<SegmentCore>,
    pub(crate) deletions: Option<Arc<Deletions>>,
    pub(crate) pairs: Option<Arc<PairLists>>,
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

    /// A segment without deletions and pairs.
    pub(crate) fn over(core: Arc<SegmentCore>) -> Segment {
        Segment {
            number: 0,
            core,
            deletions: None,
            pairs: None,
        }
    }

    /// Its file, which indexes may share.
    pub(crate) fn core(&self) -> &Arc<SegmentCore> {
        &self.core
    }

    /// The chunks that it has documents of.
    pub fn chunks(&self) -> RangeInclusive<u32> {
        self.core.meta.chunks.range()
    }

    /// Its number, unique in the index.
    pub fn id(&self) -> u32 {
        self.core.id
    }

    /// Which of the segments of its index it is, counted from 0 in the manifest's order.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Documents in it, deleted ones included; ids run from 0 to this.
    pub fn documents_count(&self) -> u32 {
        self.core.meta.documents_count
    }

    pub(crate) fn meta(&self) -> &SegmentMeta {
        &self.core.meta
    }

    /// Quantised lengths (see [`crate::length`]) by document; empty for `Field::Site`, and for a field
    /// without a word.
    pub fn lengths(&self, field: Field) -> &[u8] {
        match field {
            Field::Text => self.core.lengths[0].bytes(),
            Field::Title => self.core.lengths[1].bytes(),
            Field::Site => &[],
        }
    }

    /// The record of a term, if it occurs here.
    pub fn term(&self, field: Field, term: &str) -> Result<Option<TermRecord>, IndexError> {
        terms::with_key(field, term, |key| self.core.terms.find(key))
            .map_err(|bad| self.bad_terms(bad))
    }

    /// Asks for what the next step of looking up a term will read, without waiting for it.
    #[inline]
    pub fn prefetch_term(&self, hash: TermHash, step: LookUpStep) {
        self.core.terms.prefetch(hash, step);
    }

    /// Asks for the beginning of a list that will be opened soon.
    #[inline]
    pub fn prefetch_list(&self, record: &TermRecord) {
        let start = record.postings_start as usize;
        for line in 0..LIST_LINES {
            codec::memory::prefetch(self.core.postings.unverified(), start + line * 64);
        }
    }

    /// Calls `each` for every term that starts with `prefix`, in order.
    pub fn terms_with_prefix(
        &self,
        field: Field,
        prefix: &str,
        mut each: impl FnMut(&str, TermRecord),
    ) -> Result<(), IndexError> {
        self.visit_prefix(field, prefix, |term, record| {
            each(term, record);
            ControlFlow::Continue(())
        })
    }

    /// As [`Segment::terms_with_prefix`], until `each` breaks.
    pub fn visit_prefix(
        &self,
        field: Field,
        prefix: &str,
        mut each: impl FnMut(&str, TermRecord) -> ControlFlow<()>,
    ) -> Result<(), IndexError> {
        let key = terms::with_key(field, prefix, <[u8]>::to_vec);
        let mut stream = self.core.terms.range(&key, None);
        while let Some((found, ordinal)) = stream.next() {
            if !found.starts_with(&key) {
                break;
            }
            let record = self.record(ordinal)?;
            if let Ok(term) = std::str::from_utf8(&found[1..])
                && each(term, record).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// All terms in order (a field's byte, then the term), with their ordinals.
    pub(crate) fn terms(&self) -> TermStream<'_> {
        self.core.terms.stream()
    }

    /// The terms of a field, likewise.
    pub(crate) fn terms_of(&self, field: Field) -> TermStream<'_> {
        let field = field as u8;
        self.core.terms.range(&[field], Some(&[field + 1]))
    }

    /// The record of the term with this ordinal.
    pub(crate) fn record(&self, ordinal: u64) -> Result<TermRecord, IndexError> {
        self.core
            .terms
            .record(ordinal)
            .map_err(|bad| self.bad_terms(bad))
    }

    fn bad_terms(&self, bad: BadTerms) -> IndexError {
        self.core.terms.damaged(bad, "terms unreadable")
    }

    /// The postings of a term, document by document.
    pub fn postings(&self, record: &TermRecord) -> Result<Postings<'_>, IndexError> {
        let (bytes, origin) = self.list(record)?;
        Ok(Postings::new(bytes, origin))
    }

    /// The postings of a term, block by block.
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

    /// The stored pair of two words of the default field, by their records: the documents in which the second
    /// follows the first. `None` where it is not stored, whether the pair stands anywhere or not.
    #[inline]
    pub fn pair(&self, first: &TermRecord, second: &TermRecord) -> Option<PairRecord> {
        self.pairs.as_ref()?.find(&self.core, first, second)
    }

    /// The documents of a stored pair, block by block; they have no positions.
    #[inline]
    pub fn pair_blocks(&self, pair: &PairRecord) -> Result<Blocks<'_>, IndexError> {
        match &self.pairs {
            Some(pairs) => pairs.blocks(&self.core, pair),
            None => Err(self.damaged_at_terms("a pair of another segment was asked for")),
        }
    }

    /// Tells the system that postings and positions before those of `record` are done with:
    /// a merge reads a segment once, front to back.
    pub(crate) fn release_before(&self, record: &TermRecord) {
        self.core.postings.release(record.postings_start as usize);
        self.core.positions.release(record.positions_start as usize);
    }

    /// That what the segment says makes no sense; its damage where some was found.
    pub(crate) fn damaged_at_terms(&self, what: &str) -> IndexError {
        self.core.terms.damaged(BadTerms { offset: 0 }, what)
    }
}

impl AsRef<Segment> for Segment {
    fn as_ref(&self) -> &Segment {
        self
    }
}
