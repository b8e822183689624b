//! Writer of a segment file, from terms and documents in order.

pub(crate) use super::details::DocumentRow;
use super::details::{DetailsForm, DetailsWriter};
use super::hashes::HashesWriter;
use super::meta::{META, SECTIONS, SegmentMeta};
use crate::chunks::Chunks;
use crate::postings::encode::EncodedList;
use crate::postings::{PostingsCodec, PostingsEncoder};
use crate::sealed::{Identity, Kind, Seal, SealedWriter};
use crate::spill::Spill;
use crate::terms::write::{ListPlace, TermsWriter};
use crate::written::WrittenWriter;
use crate::{Field, IndexError};
use codec::vint;
use vfs::SharedStorage;

/// Writer of a segment file: first the terms, then the documents.
pub(crate) struct SegmentWriter {
    encoder: PostingsEncoder,
    key: Vec<u8>,
    lists: ListsWriter,
    lengths: [Spill; 2],
    details: DetailsWriter,
}

/// Writer of lists and dictionary, and of hashes, because the sites of documents are terms.
struct ListsWriter {
    out: SealedWriter,
    terms: TermsWriter,
    written: WrittenWriter,
    positions: Spill,
    hashes: HashesWriter,
    text_hashes: Spill,
    meta: SegmentMeta,
}

/// Counts of a list for its dictionary record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListCounts {
    documents_count: u32,
    occurrences_count: u64,
    pub(crate) postings_bytes: usize,
    pub(crate) positions_bytes: usize,
}

impl ListCounts {
    pub(crate) fn of(list: &EncodedList<'_>) -> ListCounts {
        ListCounts {
            documents_count: list.documents_count,
            occurrences_count: list.occurrences_count,
            postings_bytes: list.postings.map(<[u8]>::len).iter().sum(),
            positions_bytes: list.positions.map(<[u8]>::len).iter().sum(),
        }
    }

    /// Appends the counts of a list without positions, which follows the list before it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let more = self.occurrences_count - u64::from(self.documents_count);
        vint::write_u32(out, self.documents_count);
        vint::write_u64(out, more);
        vint::write_u64(out, self.postings_bytes as u64);
    }
}

impl SegmentWriter {
    pub(crate) fn create(
        storage: &SharedStorage,
        name: &str,
        index_id: u128,
        chunks: Chunks,
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
            encoder: PostingsEncoder::new(codec),
            key: Vec::new(),
            lists: ListsWriter {
                out: SealedWriter::create(storage, name, identity)?,
                terms: TermsWriter::new(storage, &format!("tmp-{name}")),
                written: WrittenWriter::new(storage, &format!("tmp-{name}")),
                positions: spill("positions"),
                hashes: HashesWriter::new(storage, &format!("tmp-{name}")),
                text_hashes: spill("text-hashes"),
                meta: SegmentMeta {
                    chunks,
                    codec,
                    details: DetailsForm::Rows,
                    ..SegmentMeta::default()
                },
            },
            lengths: [spill("text-lengths"), spill("title-lengths")],
            details: DetailsWriter::new(spill("details"), spill("details-offsets")),
        })
    }

    /// Returns the encoder for the next term's postings, for use before `end_term`.
    pub(crate) fn postings(&mut self) -> &mut PostingsEncoder {
        &mut self.encoder
    }

    /// Ends the postings of a term. Terms come in the order of (field, term); a term without postings is left out.
    pub(crate) fn end_term(&mut self, field: Field, term: &[u8]) -> Result<(), IndexError> {
        let SegmentWriter {
            encoder,
            key,
            lists,
            ..
        } = self;
        key.clear();
        key.push(field.number());
        key.extend_from_slice(term);
        encoder
            .finish(|list| lists.push(key, &ListCounts::of(&list), list.postings, list.positions))
    }

    /// Adds the list of the next term, encoded elsewhere; `key` holds field and term.
    pub(crate) fn push_list(
        &mut self,
        key: &[u8],
        counts: &ListCounts,
        postings: [&[u8]; 2],
        positions: [&[u8]; 2],
    ) -> Result<(), IndexError> {
        self.lists.push(key, counts, postings, positions)
    }

    /// Leaves out words as written whose term has no list. Called before the first term.
    pub(crate) fn expect_lost_terms(&mut self) {
        self.lists.written.expect_lost_terms();
    }

    /// Adds the next word as written, an entry of [`crate::written`]. They come after all terms, and increase.
    pub(crate) fn push_written(&mut self, entry: &[u8]) -> Result<(), IndexError> {
        self.lists.written.push(entry)
    }

    /// Adds the next document.
    pub(crate) fn push_document(&mut self, row: DocumentRow<'_>) -> Result<(), IndexError> {
        self.details.push(row)?;
        for (spill, length) in self.lengths.iter_mut().zip(row.lengths) {
            spill.write(&[crate::length::quantize(length)])?;
        }
        for (sum, length) in self.lists.meta.words_counts.iter_mut().zip(row.lengths) {
            *sum += u64::from(length);
        }
        if !self
            .lists
            .hashes
            .push_document(row.url_hash, row.site_hash)?
        {
            let what = format!("the site of {} is no term", row.url);
            return Err(self.lists.out.damaged(&what));
        }
        self.lists.text_hashes.write(&row.text_hash.to_le_bytes())?;
        self.lists.meta.documents_count += 1;
        Ok(())
    }

    /// Sets the words of all documents by field, for rows that had quantised lengths.
    pub(crate) fn set_words_counts(&mut self, words_counts: [u64; 2]) {
        self.lists.meta.words_counts = words_counts;
    }

    /// Writes the remaining sections and their table, and syncs the file.
    pub(crate) fn finish(self) -> Result<(Seal, SegmentMeta), IndexError> {
        let (out, meta) = self.write_sections()?;
        Ok((out.finish()?, meta))
    }

    fn write_sections(self) -> Result<(SealedWriter, SegmentMeta), IndexError> {
        let ListsWriter {
            mut out,
            terms,
            written,
            positions,
            hashes,
            text_hashes,
            mut meta,
        } = self.lists;
        let (details, details_offsets) = self.details.finish()?;
        let mut table = vec![(0, out.position())];
        table.push(positions.copy_to(&mut out)?);
        table.extend(terms.finish(&mut out)?);
        for (lengths, words) in self.lengths.into_iter().zip(meta.words_counts) {
            // Lengths of a field without words are never read.
            table.push(match words {
                0 => (out.position(), 0),
                _ => lengths.copy_to(&mut out)?,
            });
        }
        table.extend(hashes.finish(&mut out)?);
        table.push(details.copy_to(&mut out)?);
        table.push(details_offsets.copy_to(&mut out)?);
        let (text_hashes_start, text_hashes_bytes) = text_hashes.copy_to(&mut out)?;
        meta.text_hashes = Some([text_hashes_start, text_hashes_bytes]);
        meta.written = written.finish(&mut out)?;
        let meta_bytes = serde_json::to_vec(&meta).unwrap_or_default();
        table.push((out.position(), meta_bytes.len() as u64));
        out.write(&meta_bytes)?;
        debug_assert_eq!((table.len(), table.len() - 1), (SECTIONS, META));
        for (start, bytes) in table {
            out.write(&start.to_le_bytes())?;
            out.write(&bytes.to_le_bytes())?;
        }
        Ok((out, meta))
    }
}

impl ListsWriter {
    fn push(
        &mut self,
        key: &[u8],
        counts: &ListCounts,
        postings: [&[u8]; 2],
        positions: [&[u8]; 2],
    ) -> Result<(), IndexError> {
        let too_many = IndexError::TooManyDocuments {
            chunks: self.meta.chunks.range(),
            max: u32::MAX,
        };
        if counts.documents_count == 0 {
            return Ok(());
        }
        if counts.occurrences_count > u64::from(u32::MAX) {
            return Err(too_many);
        }
        let list = ListPlace {
            documents_count: counts.documents_count,
            occurrences_count: counts.occurrences_count,
            postings_start: self.out.position(),
            postings_bytes: counts.postings_bytes as u64,
            positions_start: self.positions.bytes(),
            positions_bytes: counts.positions_bytes as u64,
        };
        if !self.terms.push(key, &list)? {
            return Err(too_many);
        }
        self.written.note_term(key);
        for piece in postings {
            self.out.write(piece)?;
        }
        for piece in positions {
            self.positions.write(piece)?;
        }
        if let Some((Field::Site, site)) = Field::split(key) {
            self.hashes.push_site(site);
        }
        self.meta.terms_count += 1;
        self.meta.postings_count += u64::from(counts.documents_count);
        Ok(())
    }
}
