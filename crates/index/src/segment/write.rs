//! Writing a segment: terms in order and documents in order, in; one sealed file, out.

use super::details::DetailsWriter;
use super::{META, RECORDS_IN_BLOCK, SECTIONS, SegmentMeta};
use crate::postings::{PostingsCodec, PostingsEncoder};
use crate::sealed::{Identity, Kind, Seal, SealedWriter};
use crate::spill::Spill;
use crate::{Field, IndexError};
use codec::vint;
use vfs::SharedStorage;

/// What a segment knows of each of its documents besides words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentRow<'a> {
    pub(crate) url: &'a str,
    /// `None`: the URL is the id.
    pub(crate) id: Option<&'a str>,
    pub(crate) title: &'a str,
    pub(crate) url_hash: u64,
    pub(crate) site_hash: u64,
    /// Words by field of `Field::WITH_LENGTHS`.
    pub(crate) lengths: [u32; 2],
}

/// Writes one segment file: first the terms, then the documents, then the order by URL hash.
pub(crate) struct SegmentWriter {
    out: SealedWriter,
    encoder: PostingsEncoder,
    terms: fst::MapBuilder<Vec<u8>>,
    key: Vec<u8>,
    record: Vec<u8>,
    records: Spill,
    record_blocks: Spill,
    positions: Spill,
    lengths: [Spill; 2],
    url_hashes: Spill,
    site_hashes: Spill,
    by_hash: Spill,
    details: DetailsWriter,
    meta: SegmentMeta,
}

impl SegmentWriter {
    pub(crate) fn create(
        storage: &SharedStorage,
        name: &str,
        index_id: u128,
        chunk: u32,
        segment: u32,
        codec: PostingsCodec,
    ) -> Result<SegmentWriter, IndexError> {
        let identity = Identity {
            kind: Kind::Segment,
            index_id,
            number: segment.into(),
        };
        let spill = |part: &str| Spill::new(storage, format!("tmp-{name}-{part}"));
        Ok(SegmentWriter {
            out: SealedWriter::create(storage, name, identity)?,
            encoder: PostingsEncoder::new(codec),
            terms: fst::MapBuilder::memory(),
            key: Vec::new(),
            record: Vec::new(),
            records: spill("records"),
            record_blocks: spill("record-blocks"),
            positions: spill("positions"),
            lengths: [spill("text-lengths"), spill("title-lengths")],
            url_hashes: spill("url-hashes"),
            site_hashes: spill("site-hashes"),
            by_hash: spill("by-hash"),
            details: DetailsWriter::new(spill("details"), spill("details-offsets")),
            meta: SegmentMeta {
                chunk,
                codec,
                ..SegmentMeta::default()
            },
        })
    }

    /// The encoder to push the next term's postings into, before `end_term`.
    pub(crate) fn postings(&mut self) -> &mut PostingsEncoder {
        &mut self.encoder
    }

    /// Ends the postings of a term. Terms come in order of (field, term); one without postings is left out.
    pub(crate) fn end_term(&mut self, field: Field, term: &[u8]) -> Result<(), IndexError> {
        let chunk = self.meta.chunk;
        let SegmentWriter {
            out,
            encoder,
            terms,
            key,
            record,
            records,
            record_blocks,
            positions,
            meta,
            ..
        } = self;
        encoder.finish(|list| {
            if list.documents_count == 0 {
                return Ok(());
            }
            if list.occurrences_count > u64::from(u32::MAX) {
                return Err(IndexError::TooManyDocuments {
                    chunk,
                    max: u32::MAX,
                });
            }
            key.clear();
            key.push(field as u8);
            key.extend_from_slice(term);
            terms
                .insert(&*key, meta.terms_count)
                .map_err(super::not_in_order)?;
            record.clear();
            if meta.terms_count.is_multiple_of(RECORDS_IN_BLOCK) {
                let start =
                    u32::try_from(records.bytes()).map_err(|_| IndexError::TooManyDocuments {
                        chunk,
                        max: u32::MAX,
                    })?;
                record_blocks.write(&start.to_le_bytes())?;
                vint::write_u64(record, out.position());
                vint::write_u64(record, positions.bytes());
            }
            let more = list.occurrences_count - u64::from(list.documents_count);
            vint::write_u32(record, list.documents_count << 1 | u32::from(more == 0));
            if more > 0 {
                vint::write_u64(record, more);
            }
            vint::write_u64(
                record,
                (list.postings[0].len() + list.postings[1].len()) as u64,
            );
            vint::write_u64(
                record,
                (list.positions[0].len() + list.positions[1].len()) as u64,
            );
            records.write(record)?;
            for piece in list.postings {
                out.write(piece)?;
            }
            for piece in list.positions {
                positions.write(piece)?;
            }
            meta.terms_count += 1;
            meta.postings_count += u64::from(list.documents_count);
            Ok(())
        })
    }

    /// Adds the next document.
    pub(crate) fn push_document(&mut self, row: DocumentRow<'_>) -> Result<(), IndexError> {
        self.details.push(row)?;
        for (spill, length) in self.lengths.iter_mut().zip(row.lengths) {
            spill.write(&[crate::length::quantize(length)])?;
        }
        for (sum, length) in self.meta.words_counts.iter_mut().zip(row.lengths) {
            *sum += u64::from(length);
        }
        self.url_hashes.write(&row.url_hash.to_le_bytes())?;
        self.site_hashes.write(&row.site_hash.to_le_bytes())?;
        self.meta.documents_count += 1;
        Ok(())
    }

    /// Adds the next document id in order of (URL hash, id).
    pub(crate) fn push_by_hash(&mut self, doc: u32) -> Result<(), IndexError> {
        self.by_hash.write(&doc.to_le_bytes())
    }

    /// Says how many words the documents have, where the rows pushed had quantised lengths.
    pub(crate) fn set_words_counts(&mut self, words_counts: [u64; 2]) {
        self.meta.words_counts = words_counts;
    }

    /// Writes the remaining sections and their table, and syncs the file.
    pub(crate) fn finish(self) -> Result<(Seal, SegmentMeta), IndexError> {
        let (out, meta) = self.write_sections()?;
        Ok((out.finish()?, meta))
    }

    /// As `finish`, for a temporary file.
    pub(crate) fn finish_unsynced(self) -> Result<Seal, IndexError> {
        self.write_sections()?.0.finish_unsynced()
    }

    fn write_sections(self) -> Result<(SealedWriter, SegmentMeta), IndexError> {
        let mut out = self.out;
        let terms = self.terms.into_inner().map_err(super::not_in_order)?;
        let (details, details_offsets) = self.details.finish()?;
        let mut table = vec![(0, out.position())];
        let [text_lengths, title_lengths] = self.lengths;
        let spills = [
            self.positions,
            self.records,
            self.record_blocks,
            text_lengths,
            title_lengths,
            self.url_hashes,
            self.site_hashes,
            self.by_hash,
            details,
            details_offsets,
        ];
        for spill in spills {
            table.push(spill.copy_to(&mut out)?);
        }
        table.push((out.position(), terms.len() as u64));
        out.write(&terms)?;
        let meta = serde_json::to_vec(&self.meta).unwrap_or_default();
        table.push((out.position(), meta.len() as u64));
        out.write(&meta)?;
        debug_assert_eq!((table.len(), table.len() - 1), (SECTIONS, META));
        for (start, bytes) in table {
            out.write(&start.to_le_bytes())?;
            out.write(&bytes.to_le_bytes())?;
        }
        Ok((out, self.meta))
    }
}
