//! Rows of a partition's documents in a form that can be read in any order.
//!
//! ```text
//! fixed := { text_start:u64le url_hash:u64le site_hash:u64le text_hash:u64le text_length:u8 title_length:u8 }{documents}
//! texts := { url id title }{documents}          each bytes:vint utf8; an empty id means the URL
//! ```
//!
//! Segments of before have details in compressed blocks of 128 documents, and reading them in another order would decompress each
//! block many times. They are decompressed once, in the order of arrival, into temporary files.

use super::live::{GONE, Live};
use crate::row_text::{read_text, write_text};
use crate::sealed::read_u64;
use crate::segment::text_hashes;
use crate::segment::write::{DocumentRow, SegmentWriter};
use crate::spill::Spill;
use crate::{DocId, Field, IndexError, Segment, length};
use vfs::{Region, SharedStorage};

const FIXED_BYTES: usize = 34;
/// Documents after which the pages read are released.
const RELEASE_DOCUMENTS: usize = 1 << 16;

/// Rows of the live documents of a partition, by arrival.
pub(super) struct Rows {
    fixed: Region,
    texts: Region,
}

impl Rows {
    /// Decompresses the rows of all live documents. Names of temporary files begin with `prefix`.
    pub(super) fn unpack(
        storage: &SharedStorage,
        prefix: &str,
        segments: &[Segment],
        live: &Live,
    ) -> Result<Rows, IndexError> {
        let mut fixed = Spill::new(storage, format!("{prefix}-rows"));
        let mut texts = Spill::new(storage, format!("{prefix}-texts"));
        let mut row_texts = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let lengths = Field::WITH_LENGTHS.map(|field| segment.lengths(field));
            let mut details = segment.details_reader();
            for doc in 0..segment.documents_count() {
                if live.arrival(number, doc) == GONE {
                    continue;
                }
                let doc_id = DocId(doc);
                let row = details.read(doc_id)?;
                for hash in [
                    texts.bytes(),
                    segment.url_hash(doc_id),
                    segment.site_hash(doc_id),
                    segment.text_hash(doc_id).unwrap_or(text_hashes::NONE),
                ] {
                    fixed.write(&hash.to_le_bytes())?;
                }
                let length = |bytes: &[u8]| bytes.get(doc as usize).copied().unwrap_or(0);
                fixed.write(&lengths.map(length))?;
                row_texts.clear();
                let id = if row.id == row.url { "" } else { &row.id };
                for text in [&row.url, id, &row.title] {
                    write_text(&mut row_texts, text);
                }
                texts.write(&row_texts)?;
            }
        }
        Ok(Rows {
            fixed: fixed.into_region()?,
            texts: texts.into_region()?,
        })
    }

    fn row(&self, arrival: u32) -> DocumentRow<'_> {
        let at = arrival as usize * FIXED_BYTES;
        let mut text_at = read_u64(&self.fixed, at) as usize;
        // Written by this program before, so it is not cut short.
        let mut text = || read_text(&self.texts, &mut text_at).unwrap_or("");
        let (url, id, title) = (text(), text(), text());
        let lengths = [at + 32, at + 33].map(|at| length::dequantize(self.fixed[at]));
        DocumentRow {
            url,
            id: Some(id).filter(|id| !id.is_empty()),
            title,
            url_hash: read_u64(&self.fixed, at + 8),
            site_hash: read_u64(&self.fixed, at + 16),
            text_hash: read_u64(&self.fixed, at + 24),
            lengths,
        }
    }

    pub(super) fn url(&self, arrival: u32) -> &str {
        self.row(arrival).url
    }

    /// Pushes the rows in the order of `arrivals`.
    pub(super) fn write(
        &self,
        order: impl Iterator<Item = u32>,
        out: &mut SegmentWriter,
    ) -> Result<(), IndexError> {
        for (number, arrival) in order.enumerate() {
            out.push_document(self.row(arrival))?;
            if number % RELEASE_DOCUMENTS == RELEASE_DOCUMENTS - 1 {
                self.release();
            }
        }
        Ok(())
    }

    /// Releases the pages read, so that they do not count against the memory limit.
    pub(super) fn release(&self) {
        self.fixed.release(0..self.fixed.len());
        self.texts.release(0..self.texts.len());
    }
}
