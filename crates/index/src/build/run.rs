//! The documents of a chunk that are in memory.

use super::inverter::{Inverter, RunTerm};
use crate::segment::write::{DocumentRow, SegmentWriter};
use crate::store::Location;
use crate::{IndexError, length, segment::details};
use codec::vint;
use corpus::Document;
use std::collections::HashMap;

/// Memory that the table of replaced documents takes for each document, about.
const HASH_ENTRY_BYTES: usize = 24;
const GONE: u32 = u32::MAX;

/// What a run keeps of each document besides its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunRow {
    pub(crate) url_hash: u64,
    pub(crate) site_hash: u64,
    pub(crate) lengths: [u32; 2],
    pub(crate) location: Location,
}

/// Documents by increasing id, and the postings of their words.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) inverter: Inverter,
    rows: Vec<RunRow>,
    /// URL, id, title of every document, one after another.
    details: Vec<u8>,
    details_at: Vec<u64>,
    newest: HashMap<u64, u32>,
    replaced: Vec<u32>,
}

impl Run {
    pub(crate) fn documents_count(&self) -> u32 {
        self.rows.len() as u32
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.inverter.memory_bytes()
            + self.rows.capacity() * size_of::<RunRow>()
            + self.details.capacity()
            + self.details_at.capacity() * 8
            + self.newest.capacity() * HASH_ENTRY_BYTES
    }

    pub(crate) fn is_full(&self) -> bool {
        self.inverter.is_full()
    }

    /// Adds a document; whether it replaces an earlier one of the run.
    pub(crate) fn push(&mut self, row: RunRow, document: &Document) -> bool {
        let doc = self.rows.len() as u32;
        self.rows.push(row);
        self.details_at.push(self.details.len() as u64);
        for text in [
            &document.url,
            document.id.as_deref().unwrap_or(""),
            &document.title,
        ] {
            details::write_text(&mut self.details, text);
        }
        let before = self.newest.insert(row.url_hash, doc);
        // Two URLs of one hash do not replace each other. The later one takes the place in the table, so
        // a third version of the earlier one would be kept beside it: one chance in 10^19 per pair.
        let replaces = before.filter(|&before| self.details_of(before).0 == document.url);
        self.replaced.extend(replaces);
        replaces.is_some()
    }

    fn details_of(&self, doc: u32) -> (&str, &str, &str) {
        let mut at = self.details_at[doc as usize] as usize;
        let mut next = || details::read_text(&self.details, &mut at).unwrap_or("");
        (next(), next(), next())
    }

    /// Writes the run as a segment, replaced documents left out; `each_kept` gets the row of every
    /// document written. Returns hashes and documents in the order of `by_hash`.
    pub(crate) fn write(
        mut self,
        out: &mut SegmentWriter,
        mut each_kept: impl FnMut(&RunRow) -> Result<(), IndexError>,
    ) -> Result<Vec<(u64, u32)>, IndexError> {
        self.newest = HashMap::new();
        let new_ids = self.new_ids();
        let inverter = std::mem::take(&mut self.inverter);
        let lengths = [0, 1].map(|field| -> Vec<u8> {
            self.rows
                .iter()
                .map(|row| length::quantize(row.lengths[field]))
                .collect()
        });
        inverter.drain(|term| {
            push_postings(&term, &lengths, new_ids.as_deref(), out);
            out.end_term(term.field, term.term)
        })?;
        let mut by_hash = Vec::with_capacity(self.rows.len());
        for (doc, row) in self.rows.iter().enumerate() {
            let new_id = new_ids.as_ref().map_or(doc as u32, |ids| ids[doc]);
            if new_id == GONE {
                continue;
            }
            let (url, id, title) = self.details_of(doc as u32);
            out.push_document(DocumentRow {
                url,
                id: Some(id).filter(|id| !id.is_empty()),
                title,
                url_hash: row.url_hash,
                site_hash: row.site_hash,
                lengths: row.lengths,
            })?;
            each_kept(row)?;
            by_hash.push((row.url_hash, new_id));
        }
        by_hash.sort_unstable();
        for &(_, doc) in &by_hash {
            out.push_by_hash(doc)?;
        }
        Ok(by_hash)
    }

    /// Ids without the replaced documents; `None` when there are none.
    fn new_ids(&mut self) -> Option<Vec<u32>> {
        if self.replaced.is_empty() {
            return None;
        }
        let mut ids = vec![0; self.rows.len()];
        for &doc in &self.replaced {
            ids[doc as usize] = GONE;
        }
        for (next, id) in (0..).zip(ids.iter_mut().filter(|id| **id != GONE)) {
            *id = next;
        }
        Some(ids)
    }
}

/// Decodes what the inverter wrote and pushes it into the segment's encoder.
fn push_postings(
    term: &RunTerm<'_>,
    lengths: &[Vec<u8>; 2],
    new_ids: Option<&[u32]>,
    out: &mut SegmentWriter,
) {
    let encoder = out.postings();
    let lengths = lengths.get(term.field as usize);
    let (mut at, mut position_at, mut next_doc) = (0, 0, 0);
    while at < term.documents.len() {
        // Both streams were written by this program a moment ago: they cannot be cut short.
        let gap = vint::read_u32(term.documents, &mut at).unwrap_or(1);
        let frequency = if gap & 1 == 1 {
            1
        } else {
            vint::read_u32(term.documents, &mut at).unwrap_or(1)
        };
        let doc = next_doc + (gap >> 1) - 1;
        next_doc = doc + 1;
        let new_id = new_ids.map_or(doc, |ids| ids[doc as usize]);
        if new_id != GONE {
            let length = lengths.map_or(0, |lengths| lengths[doc as usize]);
            encoder.push_document(new_id, frequency, length);
        }
        if term.positions.is_empty() {
            continue;
        }
        for _ in 0..frequency {
            let gap = vint::read_u32(term.positions, &mut position_at).unwrap_or(0);
            if new_id != GONE {
                encoder.push_position_gap(gap);
            }
        }
    }
}
