//! Statistics of the whole index, so that scores do not depend on how it is cut.
//!
//! Only terms of more than one segment, or of deleted documents, are in the file: for every other term
//! the one segment that has it knows its document frequency. Counts and lengths are in the manifest.
//! What the file holds, `shared` documents.

mod shared;

use self::shared::{SharedTerms, SharedTermsWriter};
use crate::deletions::Deletions;
use crate::live::LiveFile;
use crate::manifest::{FileEntry, Manifest};
use crate::sealed::{Identity, Kind, SealedWriter};
use crate::section::open_live;
use crate::{
    DocId, Field, IndexError, LookUpStep, Segment, StoredDocument, TermHash, TermRecord, terms,
};
use fst::{Streamer, map::OpBuilder};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::sync::Arc;
use text::Analyzer;
use vfs::SharedStorage;

/// Counts over all live documents of all chunks.
#[derive(Debug)]
pub struct Statistics {
    documents_count: u64,
    words_counts: [u64; 2],
    shared_terms: Option<SharedTerms>,
    segments: Vec<Arc<Segment>>,
    file: Option<Arc<LiveFile>>,
}

impl Statistics {
    pub(crate) fn open(
        storage: &SharedStorage,
        manifest: &Manifest,
        segments: Vec<Arc<Segment>>,
    ) -> Result<Statistics, IndexError> {
        let (shared_terms, file) = match &manifest.statistics {
            Some(file) => {
                let (terms, file) = open_shared_terms(storage, manifest, file)?;
                (Some(terms), Some(file))
            }
            None => (None, None),
        };
        Ok(Statistics {
            documents_count: manifest.documents_count,
            words_counts: manifest.words_counts,
            shared_terms,
            segments,
            file,
        })
    }

    pub(crate) fn file(&self) -> Option<&Arc<LiveFile>> {
        self.file.as_ref()
    }

    /// Live documents.
    pub fn documents_count(&self) -> u64 {
        self.documents_count
    }

    /// Mean length in words, over all live documents; 0 for an empty index.
    pub fn average_length(&self, field: Field) -> f64 {
        let words = match field {
            Field::Text => self.words_counts[0],
            Field::Title => self.words_counts[1],
            Field::Site => return 1.0,
        };
        if self.documents_count == 0 {
            0.0
        } else {
            words as f64 / self.documents_count as f64
        }
    }

    /// Live documents of the whole index that hold the term.
    pub fn document_frequency(&self, field: Field, term: &str) -> Result<u64, IndexError> {
        Ok(self
            .term(field, term)?
            .map_or(0, |found| found.document_frequency))
    }

    /// Asks for what the next step of looking up a term will read, without waiting for it.
    #[inline]
    pub fn prefetch(&self, hash: TermHash, step: LookUpStep) {
        match (&self.shared_terms, &self.segments[..]) {
            (Some(shared), _) => shared.prefetch(hash, step),
            (None, [segment]) => segment.prefetch_term(hash, step),
            _ => {}
        }
    }

    /// What is known of a term that occurs in the index; `None` where it does not.
    pub fn term(&self, field: Field, term: &str) -> Result<Option<TermStatistics>, IndexError> {
        if let Some(shared) = &self.shared_terms
            && let Some((document_frequency, places)) =
                terms::with_key(field, term, |key| shared.find(key))?
        {
            return Ok((document_frequency > 0).then_some(TermStatistics {
                document_frequency,
                places,
            }));
        }
        if self.segments.len() > 1 {
            let hash = TermHash::of(field, term);
            for segment in &self.segments {
                segment.prefetch_term(hash, LookUpStep::Table);
            }
        }
        let mut untrusted = None;
        for (number, segment) in (0..).zip(&self.segments) {
            if !segment.file().is_trusted() {
                untrusted = Some(segment);
                continue;
            }
            let record = match segment.term(field, term) {
                // Found to be damaged just now.
                Err(_) if !segment.file().is_trusted() => {
                    untrusted = Some(segment);
                    continue;
                }
                record => record?,
            };
            if let Some(record) = record {
                return Ok(Some(TermStatistics {
                    document_frequency: record.documents_count.into(),
                    places: smallvec![TermPlace {
                        segment: number,
                        record,
                    }],
                }));
            }
        }
        // Only a segment that cannot be read may have the term: the weights of a query with it are not known here.
        untrusted.map_or(Ok(()), |segment| segment.file().ensure_trusted())?;
        Ok(None)
    }

    /// The file's terms.
    pub(crate) fn shared_terms(&self) -> Option<&SharedTerms> {
        self.shared_terms.as_ref()
    }
}

/// What the statistics know of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermStatistics {
    /// Live documents of the whole index that hold it.
    pub document_frequency: u64,
    /// Every segment that has it, by number.
    pub places: TermPlaces,
}

/// The lists of a term, by segment; of an index of one segment without allocation.
pub type TermPlaces = SmallVec<[TermPlace; 1]>;

/// A term's list in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermPlace {
    /// The number of the segment among those of the index: [`Segment::number`].
    pub segment: u32,
    /// Its record there.
    pub record: TermRecord,
}

fn open_shared_terms(
    storage: &SharedStorage,
    manifest: &Manifest,
    file: &FileEntry,
) -> Result<(SharedTerms, Arc<LiveFile>), IndexError> {
    let identity = Identity {
        kind: Kind::Statistics,
        index_id: manifest.index_id(),
        number: file.number,
    };
    let payload = open_live(storage, &file.name, identity, file.seal)?;
    Ok((SharedTerms::open(&payload)?, Arc::clone(payload.file())))
}

/// Terms and words of deleted documents: what the counts of segments say too much.
#[derive(Debug, Default)]
pub(crate) struct Deleted {
    /// By field and term, the deleted documents that hold it.
    pub(crate) terms: BTreeMap<Vec<u8>, u64>,
    pub(crate) words_counts: [u64; 2],
}

impl Deleted {
    /// Counts the words of a deleted document, from its stored text.
    pub(crate) fn add(&mut self, document: &StoredDocument, analyzer: Analyzer) {
        let mut terms = std::collections::BTreeSet::new();
        let mut buffer = String::new();
        let mut words = |field: Field, text: &str, count: &mut u64| {
            analyzer.each_token(text, &mut buffer, |token| {
                *count += 1;
                terms.insert(key(field, token.term));
            });
        };
        let [text_words, title_words] = &mut self.words_counts;
        words(Field::Text, &document.title, text_words);
        words(Field::Text, &document.body, text_words);
        words(Field::Title, &document.title, title_words);
        terms.insert(key(Field::Site, &corpus::site_of(&document.url)));
        for term in terms {
            *self.terms.entry(term).or_default() += 1;
        }
    }

    /// Counts the words of the documents `gone` of a segment out of its lists: every list is looked
    /// at, which takes long, but needs no texts. What it finds is what `add` finds.
    pub(crate) fn add_from_lists(
        &mut self,
        segment: &Segment,
        gone: &Deletions,
    ) -> Result<(), IndexError> {
        let mut terms = segment.terms();
        while let Some((key, ordinal)) = terms.next() {
            let mut postings = segment.postings(&segment.record(ordinal)?)?;
            let (mut documents, mut occurrences) = (0, 0);
            for doc in gone.docs().map(DocId) {
                if postings.seek(doc) == doc {
                    documents += 1;
                    occurrences += u64::from(postings.frequency());
                }
            }
            postings.take_error().map_or(Ok(()), Err)?;
            if documents > 0 {
                *self.terms.entry(key.to_vec()).or_default() += documents;
            }
            // Fields without lengths, like sites, are not counted in words.
            let field = key.first().map_or(usize::MAX, |&field| field.into());
            if let Some(sum) = self.words_counts.get_mut(field) {
                *sum += occurrences;
            }
        }
        Ok(())
    }
}

fn key(field: Field, term: &str) -> Vec<u8> {
    let mut key = vec![field as u8];
    key.extend_from_slice(term.as_bytes());
    key
}

/// Calls `each` for every term that the file must hold, with its live documents and its places, in order.
pub(crate) fn each_shared_term(
    segments: &[Arc<Segment>],
    deleted: &Deleted,
    mut each: impl FnMut(&[u8], u64, &[TermPlace]) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let union: OpBuilder = segments.iter().map(|segment| segment.terms()).collect();
    let mut terms = union.union();
    let mut places = Vec::new();
    while let Some((term, found)) = terms.next() {
        let gone = deleted.terms.get(term).copied().unwrap_or(0);
        if found.len() < 2 && gone == 0 {
            continue;
        }
        places.clear();
        for found in found {
            let record = segments[found.index].record(found.value)?;
            places.push(TermPlace {
                segment: found.index as u32,
                record,
            });
        }
        places.sort_unstable_by_key(|place| place.segment);
        let counts = places.iter().map(|place| place.record.documents_count);
        let count: u64 = counts.map(u64::from).sum();
        each(term, count.saturating_sub(gone), &places)?;
    }
    Ok(())
}

/// Writes the statistics of `segments`; `None` when a single segment says it all.
pub(crate) fn write(
    storage: &SharedStorage,
    index_id: u128,
    generation: u64,
    segments: &[Arc<Segment>],
    deleted: &Deleted,
) -> Result<Option<FileEntry>, IndexError> {
    if segments.len() < 2 && deleted.terms.is_empty() {
        return Ok(None);
    }
    let name = format!("statistics-{generation}");
    let mut terms = SharedTermsWriter::new(storage, &name);
    each_shared_term(segments, deleted, |term, count, places| {
        terms.push(term, count, places)
    })?;
    let identity = Identity {
        kind: Kind::Statistics,
        index_id,
        number: generation,
    };
    let mut out = SealedWriter::create(storage, &name, identity)?;
    terms.finish(&mut out)?;
    Ok(Some(FileEntry {
        name,
        number: generation,
        seal: out.finish()?,
    }))
}
