//! Terms of several segments: one look-up returns the document frequency of a term and its lists in every segment.
//!
//! ```text
//! payload := rows terms term_starts term_table table
//! table   := { start:u64le bytes:u64le }{4} terms_count:u64le    in the order above, counted from the payload
//! row     := documents:vint place{}                              to the end of the row
//! place   := skipped:vint documents<<1 | (occurrences == documents) : vint  [occurrences-documents : vint]
//!            postings_start:vint postings_bytes:vint positions_start:vint positions_bytes:vint
//! ```
//!
//! `terms` and the sections after it are a dictionary (see [`crate::terms`]). Its records have no documents; their
//! postings are rows. A row begins with the document frequency in the whole index. `skipped` is the number of segments
//! without the term, in the manifest's order, before the next one with it.
//!
//! Why: without it, a search of eight segments would look up each of its words nine times.

use super::place::{TermPlace, TermPlaces};
use crate::live::LiveFile;
use crate::sealed::SealedWriter;
use crate::section::Section;
use crate::spill::Spill;
use crate::terms::write::{ListPlace, TermsWriter};
use crate::terms::{TermKey, TermStream, Terms};
use crate::{IndexError, LookUpStep, TermHash, TermRecord};
use codec::{memory, vint};
use std::sync::Arc;
use vfs::SharedStorage;

const SECTIONS: usize = 4;
const TABLE_BYTES: usize = SECTIONS * 16 + 8;
const UNREADABLE: &str = "statistics of a term unreadable";

/// Terms of a statistics file.
#[derive(Debug)]
pub(crate) struct SharedTerms {
    rows: Section,
    terms: Terms,
}

/// Document frequency of a term, and its lists by segment, in the manifest's order.
pub(crate) type Row = (u64, TermPlaces);

impl SharedTerms {
    pub(crate) fn open(payload: &Section) -> Result<SharedTerms, IndexError> {
        let read = || {
            let table_at = payload.len().checked_sub(TABLE_BYTES)?;
            let section = |number: usize| {
                let start = usize::try_from(payload.read_u64(table_at + number * 16)).ok()?;
                let bytes = usize::try_from(payload.read_u64(table_at + number * 16 + 8)).ok()?;
                payload.part(start, bytes)
            };
            let count = payload.read_u64(table_at + SECTIONS * 16);
            let terms = Terms::open(section(1)?, section(2)?, section(3)?, count)?;
            Some((section(0)?, terms))
        };
        match read() {
            Some((rows, terms)) => Ok(SharedTerms { rows, terms }),
            None => Err(payload.damaged(0, "statistics: sections do not fit the file")),
        }
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.rows.file()
    }

    /// Returns the error that the entry of a term is inconsistent.
    pub(crate) fn unreadable(&self) -> IndexError {
        self.rows.damaged(0, UNREADABLE)
    }

    /// Returns the number of terms in the file.
    pub(crate) fn terms_count(&self) -> u64 {
        self.terms.count()
    }

    /// Prefetches the memory that the next step of a look-up reads.
    #[inline]
    pub(crate) fn prefetch(&self, hash: TermHash, step: LookUpStep) {
        self.terms.prefetch(hash, step);
    }

    /// Returns the row of a key; `None` where it is not in the file.
    pub(crate) fn find(&self, key: TermKey<'_>) -> Result<Option<Row>, IndexError> {
        match self.terms.find(key) {
            Ok(None) => Ok(None),
            Ok(Some(record)) => self.row(&record).map(Some),
            Err(bad) => Err(self.terms.damaged(bad, UNREADABLE)),
        }
    }

    /// Returns all terms in order.
    pub(crate) fn stream(&self) -> TermStream<'_> {
        self.terms.stream()
    }

    /// Returns the row of the term with the ordinal `ordinal`.
    pub(crate) fn at(&self, ordinal: u64) -> Result<Row, IndexError> {
        match self.terms.record(ordinal) {
            Ok(record) => self.row(&record),
            Err(bad) => Err(self.terms.damaged(bad, UNREADABLE)),
        }
    }

    fn row(&self, record: &TermRecord) -> Result<Row, IndexError> {
        let read = || {
            let start = usize::try_from(record.postings_start).ok()?;
            let bytes = usize::try_from(record.postings_bytes).ok()?;
            let row = self.rows.get(start..start.checked_add(bytes)?)?;
            for line in (64..bytes).step_by(64) {
                memory::prefetch(row, line);
            }
            read_row(row)
        };
        read().ok_or_else(|| self.rows.damaged(record.postings_start, UNREADABLE))
    }
}

fn read_row(row: &[u8]) -> Option<Row> {
    let mut at = 0;
    let mut next = || vint::read_u64(row, &mut at).ok();
    let documents_count = next()?;
    let mut places = TermPlaces::with_capacity(row.len() / 12 + 1);
    let mut segment = 0u32;
    while let Some(skipped) = next() {
        segment = segment.checked_add(u32::try_from(skipped).ok()?)?;
        let documents = u32::try_from(next()?).ok()?;
        let more = if documents & 1 == 1 { 0 } else { next()? };
        let documents_count = documents >> 1;
        let record = TermRecord {
            documents_count,
            occurrences_count: more.checked_add(documents_count.into())?,
            postings_start: next()?,
            postings_bytes: next()?,
            positions_start: next()?,
            positions_bytes: next()?,
        };
        places.push(TermPlace { segment, record });
        segment = segment.checked_add(1)?;
    }
    (at == row.len()).then_some((documents_count, places))
}

/// Writer of the terms of a statistics file.
pub(crate) struct SharedTermsWriter {
    rows: Spill,
    terms: TermsWriter,
    terms_count: u64,
    row: Vec<u8>,
}

impl SharedTermsWriter {
    /// Creates a writer for the file `name`.
    pub(crate) fn new(storage: &SharedStorage, name: &str) -> SharedTermsWriter {
        SharedTermsWriter {
            rows: Spill::new(storage, format!("tmp-{name}-rows")),
            terms: TermsWriter::new(storage, &format!("tmp-{name}")),
            terms_count: 0,
            row: Vec::new(),
        }
    }

    /// Adds the next term. Keys increase, and so do the segments of `places`.
    pub(crate) fn push(
        &mut self,
        key: &[u8],
        documents_count: u64,
        places: &[TermPlace],
    ) -> Result<(), IndexError> {
        let row = &mut self.row;
        row.clear();
        vint::write_u64(row, documents_count);
        let mut next = 0;
        for TermPlace { segment, record } in places {
            vint::write_u32(row, segment - next);
            next = segment + 1;
            let more = record.occurrences_count - u64::from(record.documents_count);
            vint::write_u32(row, record.documents_count << 1 | u32::from(more == 0));
            if more > 0 {
                vint::write_u64(row, more);
            }
            let list = [
                record.postings_start,
                record.postings_bytes,
                record.positions_start,
                record.positions_bytes,
            ];
            list.iter().for_each(|&number| vint::write_u64(row, number));
        }
        let list = ListPlace {
            documents_count: 0,
            occurrences_count: 0,
            postings_start: self.rows.bytes(),
            postings_bytes: row.len() as u64,
            positions_start: 0,
            positions_bytes: 0,
        };
        self.rows.write(row)?;
        self.terms_count += 1;
        match self.terms.push(key, &list)? {
            true => Ok(()),
            false => Err(IndexError::TooManyDocuments {
                chunks: 0..=0,
                max: u32::MAX,
            }),
        }
    }

    pub(crate) fn finish(self, out: &mut SealedWriter) -> Result<(), IndexError> {
        let rows = self.rows.copy_to(out)?;
        let [terms, starts, table] = self.terms.finish(out)?;
        for (start, bytes) in [rows, terms, starts, table] {
            out.write(&start.to_le_bytes())?;
            out.write(&bytes.to_le_bytes())?;
        }
        out.write(&self.terms_count.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places() -> impl Strategy<Value = Vec<TermPlace>> {
        let numbers = (0u32..4, 0u32..1 << 31, 0u64..3, any::<[u32; 4]>());
        prop::collection::vec(numbers, 0..9).prop_map(|rows| {
            let mut next = 0;
            rows.into_iter()
                .map(|(skipped, documents_count, more, list)| {
                    let segment = next + skipped;
                    next = segment + 1;
                    let [
                        postings_start,
                        postings_bytes,
                        positions_start,
                        positions_bytes,
                    ] = list.map(u64::from);
                    let record = TermRecord {
                        documents_count,
                        occurrences_count: u64::from(documents_count) + more,
                        postings_start,
                        postings_bytes,
                        positions_start,
                        positions_bytes,
                    };
                    TermPlace { segment, record }
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn rows_come_back(documents in any::<u64>(), places in places(), cut in any::<prop::sample::Index>()) {
            let storage: SharedStorage = std::sync::Arc::new(vfs::MemoryStorage::new());
            let mut writer = SharedTermsWriter::new(&storage, "test");
            writer.push(b"\0a", documents, &places).unwrap();
            let row = writer.row;
            prop_assert_eq!(read_row(&row), Some((documents, places.into())));
            let cut = cut.index(row.len());
            if let Some((_, fewer)) = read_row(&row[..cut]) {
                prop_assert!(fewer.len() < 9);
            }
        }

        #[test]
        fn any_bytes_give_a_row_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = read_row(&bytes);
        }
    }
}
