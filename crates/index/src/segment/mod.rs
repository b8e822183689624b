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
mod hashes;
mod lengths;
pub(crate) mod write;

pub(crate) use self::core::SegmentCore;

use crate::deletions::Deletions;
use crate::layout::Chunks;
use crate::pairs::{PairLists, PairRecord};
use crate::postings::{ListBytes, Origin, PostingsCodec};
use crate::sealed::Seal;
use crate::terms::{self, BadTerms, LookUpStep, TermHash, TermStream};
use crate::{Blocks, DocId, Field, IndexError, Postings};
use fst::Streamer;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use vfs::SharedStorage;

pub(crate) const SECTIONS: usize = 12;
pub(crate) const META: usize = 11;

/// Lines of memory that are asked for of a list about to be opened.
const LIST_LINES: usize = 4;

/// Documents that one segment holds at most: a gap and a flag share 32 bits.
pub(crate) const DOCUMENTS_MAX: u32 = (1 << 31) - 2;

/// Where a term's postings are, and how many.
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

/// What a hit shows of its document without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// The document's own id, or its URL.
    pub id: String,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Site.
    pub site: String,
}

/// Counts of a segment, kept in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct SegmentMeta {
    #[serde(rename = "chunk")]
    pub(crate) chunks: Chunks,
    pub(crate) codec: PostingsCodec,
    pub(crate) documents_count: u32,
    pub(crate) terms_count: u64,
    pub(crate) postings_count: u64,
    /// Words in all documents, by field of `Field::WITH_LENGTHS`.
    pub(crate) words_counts: [u64; 2],
}

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

    /// Whether a later document replaced this one.
    #[inline]
    pub fn is_deleted(&self, doc: DocId) -> bool {
        self.deletions
            .as_ref()
            .is_some_and(|deletions| deletions.contains(doc.0))
    }

    /// Whether any document is deleted (so that a search without deletions need not ask for each).
    pub fn has_deletions(&self) -> bool {
        self.deletions.is_some()
    }

    /// Clears the bits of deleted documents in `words`, bits of the documents from `base` on, a multiple of 64.
    #[inline]
    pub fn clear_deleted(&self, base: u32, words: &mut [u64]) {
        if let Some(deletions) = &self.deletions {
            deletions.clear_in(base, words);
        }
    }

    /// Documents that are not deleted.
    pub fn live_documents_count(&self) -> u32 {
        let deleted = self
            .deletions
            .as_ref()
            .map_or(0, |deletions| deletions.count());
        self.core.meta.documents_count.saturating_sub(deleted)
    }

    /// Hash of the URL: breaks ties, and finds the text.
    #[inline]
    pub fn url_hash(&self, doc: DocId) -> u64 {
        self.core.hashes.url(doc)
    }

    /// Hash of the site: limits hits a site before details are known.
    #[inline]
    pub fn site_hash(&self, doc: DocId) -> u64 {
        self.core.hashes.both(doc).1
    }

    /// Both of a document: of its URL, and of its site.
    #[inline]
    pub fn hashes(&self, doc: DocId) -> (u64, u64) {
        self.core.hashes.both(doc)
    }

    /// Asks for the hashes of a document that will be wanted soon, without waiting for them.
    #[inline]
    pub fn prefetch_hashes(&self, doc: DocId) {
        self.core.hashes.prefetch(doc);
    }

    /// What is wrong with the sites, if anything is.
    pub(crate) fn check_sites(&self) -> Result<(), String> {
        self.core.hashes.check(self.core.meta.documents_count)
    }

    /// The documents in order of (URL hash, id): how a later commit finds what it replaces. Sorted when
    /// asked for, since only commits ask.
    pub(crate) fn docs_by_hash(&self) -> Vec<u32> {
        let mut docs: Vec<u32> = (0..self.core.meta.documents_count).collect();
        docs.sort_by_cached_key(|&doc| self.url_hash(DocId(doc)));
        docs
    }

    /// What a hit shows.
    pub fn details(&self, doc: DocId) -> Result<Details, IndexError> {
        let block = doc.0 as usize / details::BLOCK_DOCUMENTS;
        let mut rows = Vec::new();
        let read = |rows: &mut Vec<u8>| {
            if doc.0 >= self.core.meta.documents_count {
                return None;
            }
            details::decompress(self.details_block(block)?, rows)?;
            details::read_row(rows, doc.0 as usize % details::BLOCK_DOCUMENTS)
        };
        read(&mut rows).ok_or_else(|| {
            let offset = block
                .checked_sub(1)
                .map_or(0, |b| self.core.details_offsets.read_u64(b * 8));
            let what = format!("details of document {} unreadable", doc.0);
            self.core.details.damaged(offset, &what)
        })
    }

    /// The details of all documents, one after another.
    pub(crate) fn details_in_order(&self) -> DetailsInOrder<'_> {
        DetailsInOrder {
            segment: self,
            next: 0,
            rows: Vec::new(),
        }
    }

    fn details_block(&self, block: usize) -> Option<&[u8]> {
        let end = self.core.details_offsets.read_u64(block * 8) as usize;
        let start = block
            .checked_sub(1)
            .map_or(0, |b| self.core.details_offsets.read_u64(b * 8));
        self.core.details.get(start as usize..end)
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

/// Walks the details of a segment, decompressing each block once.
pub(crate) struct DetailsInOrder<'a> {
    segment: &'a Segment,
    next: usize,
    rows: Vec<u8>,
}

impl DetailsInOrder<'_> {
    pub(crate) fn next(&mut self) -> Result<Details, IndexError> {
        let (block, row) = (
            self.next / details::BLOCK_DOCUMENTS,
            self.next % details::BLOCK_DOCUMENTS,
        );
        let segment = self.segment;
        let mut read = || {
            if row == 0 {
                details::decompress(segment.details_block(block)?, &mut self.rows)?;
            }
            details::read_row(&self.rows, row)
        };
        let details = read().ok_or_else(|| {
            let what = format!("details of document {} unreadable", self.next);
            segment.core.details.damaged(0, &what)
        })?;
        self.next += 1;
        Ok(details)
    }
}
