//! Open file of a segment, which no commit changes.

use super::begun::Begun;
use super::details::StoredDetails;
use super::hashes::Hashes;
use super::lengths::{FurtherLengths, Lengths};
use super::meta::{DOCUMENTS_MAX, META, SECTIONS, SegmentMeta};
use super::site_names::SiteNames;
use super::text_hashes::TextHashes;
use super::titles::Titles;
use super::words::Words;
use crate::IndexError;
use crate::live::{Derived, LiveFile};
use crate::sealed::{Identity, Kind, Seal};
use crate::section::{Section, open_live};
use crate::terms::Terms;
use crate::written::Written;
use std::sync::{Arc, OnceLock};
use vfs::SharedStorage;

/// Sections of a segment's file, shared by the indexes of several generations.
#[derive(Debug)]
pub(crate) struct SegmentCore {
    pub(super) id: u32,
    pub(super) meta: SegmentMeta,
    pub(super) postings: Section,
    pub(super) positions: Section,
    pub(super) lengths: [Lengths; 2],
    pub(super) hashes: Hashes,
    pub(super) details: StoredDetails,
    pub(crate) terms: Terms,
    /// Words as written that are not their term.
    pub(crate) written: Option<Written>,
    pub(super) text_hashes: Option<TextHashes>,
    /// Names of sites, once they are asked for.
    pub(super) site_names: Derived<SiteNames>,
    /// Titles in order, once suggestions are asked for.
    pub(super) titles: Derived<Titles>,
    /// Documents in the order of the hashes of their URLs.
    pub(super) by_hash: Derived<Vec<u32>>,
    /// Words of the text; `None` where they are too many.
    pub(super) words: Derived<Option<Words>>,
    /// Counts of their terms, once a beginning is asked for; `None` where they are not listed.
    pub(super) begun: Derived<Option<Begun>>,
    /// Lengths in further fields, once they are asked for.
    pub(super) further_lengths: OnceLock<FurtherLengths>,
}

impl SegmentCore {
    pub(super) fn open(
        storage: &SharedStorage,
        name: &str,
        index_id: u128,
        id: u32,
        seal: Seal,
    ) -> Result<SegmentCore, IndexError> {
        let identity = Identity {
            kind: Kind::Segment,
            index_id,
            number: id.into(),
        };
        let payload = open_live(storage, name, identity, seal)?;
        let damaged = |what: &str| payload.damaged(payload.len() as u64, what);
        let table_at = payload.len().checked_sub(SECTIONS * 16);
        let table_at = table_at.ok_or_else(|| damaged("the table of sections is missing"))?;
        let section = |number: usize| {
            let start = payload.read_u64(table_at + number * 16) as usize;
            let bytes = payload.read_u64(table_at + number * 16 + 8) as usize;
            let part = payload.part(start, bytes);
            part.ok_or_else(|| damaged("a section lies outside the file"))
        };
        let meta: SegmentMeta = serde_json::from_slice(section(META)?.whole().unwrap_or_default())
            .map_err(|error| damaged(&format!("counts unreadable: {error}")))?;
        let core = SegmentCore {
            id,
            postings: section(0)?,
            positions: section(1)?,
            terms: Terms::open(section(2)?, section(3)?, section(4)?, meta.terms_count)
                .ok_or_else(|| damaged("the dictionary is not as long as its terms make it"))?,
            lengths: [Lengths::new(section(5)?), Lengths::new(section(6)?)],
            hashes: Hashes::open(section(7)?, section(8)?, &meta).ok_or_else(|| {
                damaged("the hashes are not as long as documents and sites make them")
            })?,
            written: (meta.written)
                .map(|place| {
                    let written = Written::open(&payload, place);
                    written.ok_or_else(|| damaged("the words as written lie outside the file"))
                })
                .transpose()?,
            text_hashes: (meta.text_hashes)
                .map(|place| {
                    let hashes = TextHashes::open(&payload, place, meta.documents_count);
                    hashes.ok_or_else(|| damaged("the hashes of texts lie outside the file"))
                })
                .transpose()?,
            details: StoredDetails::open(
                meta.details,
                [section(9)?, section(10)?],
                meta.documents_count,
            )
            .ok_or_else(|| damaged("the offsets of details do not fit the document count"))?,
            meta,
            site_names: Derived::default(),
            titles: Derived::default(),
            by_hash: Derived::default(),
            words: Derived::default(),
            begun: Derived::default(),
            further_lengths: OnceLock::new(),
        };
        // Damage of the table would have been read as zeros.
        payload.file().ensure_trusted()?;
        match core.fits() {
            true => Ok(core),
            false => Err(damaged("section lengths do not fit the document count")),
        }
    }

    /// Returns whether the lengths of sections fit the number of documents.
    fn fits(&self) -> bool {
        let documents = self.meta.documents_count as usize;
        let mut lengths = self.lengths.iter().zip(self.meta.words_counts);
        lengths.all(|(lengths, words)| lengths.len() == if words == 0 { 0 } else { documents })
            && self.meta.documents_count <= DOCUMENTS_MAX
    }

    pub(crate) fn meta(&self) -> &SegmentMeta {
        &self.meta
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.postings.file()
    }
}
