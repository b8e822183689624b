//! Statistics of the whole index, which make scores independent of its division.
//!
//! ```text
//! document frequency = live documents that the base counts + lists of newer segments - deleted since the base
//! ```
//!
//! The base counts most segments, often all. Its file holds only terms of several segments, and terms of documents that
//! were deleted when it was written. For any other term, the list of its only segment has the document frequency.
//! Counts and lengths are in the manifest. The module `shared` documents the files, `write` the time of each write.

mod deleted;
mod merged;
mod near;
mod occurrences;
mod place;
mod shared;
mod steps;
mod whole;
mod write;
mod written;

pub(crate) use deleted::Deleted;
pub(crate) use merged::{Replaced, write_replaced};
pub use near::{NearTerm, NearWord};
pub use place::{TermPlace, TermPlaces, TermStatistics};
pub(crate) use shared::SharedTerms;
pub(crate) use whole::{all_deleted, count_words, write_statistics};
pub(crate) use write::{
    LayersPolicy, SMALL_TERMS_MAX, each_shared_term, each_term, write_changes, write_merged,
    write_whole,
};
pub use written::{PatternTerm, WrittenTerm};

use crate::live::LiveFile;
use crate::manifest::{FileEntry, Manifest, StatisticsLayers};
use crate::sealed::{Identity, Kind};
use crate::section::open_live;
use crate::terms::{self, TermKey};
use crate::{DocId, Field, IndexError, LookUpStep, Segment, TermHash, TermRecord};
use document::url_hash;
use fields::{Priors, TextFields};
use smallvec::smallvec;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use steps::TermSteps;
use vfs::SharedStorage;

/// Counts over all live documents of all chunks.
#[derive(Debug)]
pub struct Statistics {
    documents_count: u64,
    words_counts: [u64; 2],
    further_words: BTreeMap<u8, u64>,
    text_fields: Arc<TextFields>,
    priors: Arc<Priors>,
    layers: StatisticsLayers,
    base: Option<Arc<SharedTerms>>,
    /// Numbers of the segments that the base counts, in its order.
    counted: Vec<u32>,
    /// Numbers of the other segments.
    newer: Vec<u32>,
    /// Terms of documents deleted since the base.
    deleted: Vec<Arc<SharedTerms>>,
    segments: Vec<Arc<Segment>>,
}

impl Statistics {
    /// Opens the statistics of a generation; `segments` are in the manifest's order. Trusted files that `before` has
    /// too are shared.
    pub(crate) fn open(
        storage: &SharedStorage,
        manifest: &Manifest,
        segments: Vec<Arc<Segment>>,
        before: Option<&Statistics>,
    ) -> Result<Statistics, IndexError> {
        let layers = manifest.statistics_layers();
        let open = |file: &FileEntry| {
            let shared = before.and_then(|before| before.shared(file));
            shared.map_or_else(|| open_shared_terms(storage, manifest, file), Ok)
        };
        let numbers = (0..).zip(&manifest.segments);
        let numbers: HashMap<u32, u32> = numbers
            .map(|(number, entry)| (entry.segment, number))
            .collect();
        let counted: Vec<u32> = layers
            .counted
            .iter()
            .filter_map(|segment| numbers.get(segment).copied())
            .collect();
        let is_counted: HashSet<u32> = counted.iter().copied().collect();
        let newer = (0..manifest.segments.len() as u32).filter(|n| !is_counted.contains(n));
        Ok(Statistics {
            documents_count: manifest.documents_count,
            words_counts: manifest.words_counts,
            further_words: manifest.further_words.clone(),
            text_fields: Arc::new(manifest.fields.text_fields()),
            priors: Arc::new(manifest.fields.priors()),
            base: layers.base.as_ref().map(open).transpose()?,
            deleted: layers.deleted.iter().map(open).collect::<Result<_, _>>()?,
            newer: newer.collect(),
            counted,
            layers,
            segments,
        })
    }

    /// Returns an open file of these statistics; `None` where it has none or it is not trusted.
    fn shared(&self, file: &FileEntry) -> Option<Arc<SharedTerms>> {
        let base = self.layers.base.iter().zip(&self.base);
        let mut files = base.chain(self.layers.deleted.iter().zip(&self.deleted));
        let (_, terms) = files.find(|(entry, _)| *entry == file)?;
        terms.file().is_trusted().then(|| Arc::clone(terms))
    }

    /// Returns the live documents of some URLs by the number of their segment, those of a segment in increasing order.
    ///
    /// # Errors
    /// Damaged details, and files that changed meanwhile.
    pub fn documents_of_urls(&self, urls: &[String]) -> Result<Vec<(u32, Vec<DocId>)>, IndexError> {
        let mut found = Vec::new();
        for segment in &self.segments {
            let mut documents = Vec::new();
            for url in urls {
                for &doc in segment.docs_of_hash(url_hash(url))? {
                    let doc = DocId(doc);
                    if !segment.is_deleted(doc) && segment.details_reader().url(doc)? == url {
                        documents.push(doc);
                    }
                }
            }
            // A URL may be named twice.
            documents.sort_unstable();
            documents.dedup();
            if !documents.is_empty() {
                found.push((segment.number(), documents));
            }
        }
        Ok(found)
    }

    /// Returns the files that counts are read from.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<LiveFile>> {
        self.base
            .iter()
            .chain(&self.deleted)
            .map(|terms| terms.file())
    }

    pub(crate) fn layers(&self) -> &StatisticsLayers {
        &self.layers
    }

    /// Returns the file of the base.
    pub(crate) fn base(&self) -> Option<&SharedTerms> {
        self.base.as_deref()
    }

    /// Returns the files of terms of documents deleted since the base, the largest first.
    pub(crate) fn deleted(&self) -> impl DoubleEndedIterator<Item = &SharedTerms> {
        self.deleted.iter().map(Arc::as_ref)
    }

    /// Returns the counts of all documents deleted since the base.
    pub(crate) fn deleted_since(&self) -> Result<Deleted, IndexError> {
        let mut deleted = Deleted::default();
        deleted.add_files(self.deleted(), &mut TermSteps::free())?;
        Ok(deleted)
    }

    /// Returns the further fields whose words are searched, and the title's settings.
    pub fn text_fields(&self) -> &Arc<TextFields> {
        &self.text_fields
    }

    /// Returns the fields whose values add to every score.
    pub fn priors(&self) -> &Arc<Priors> {
        &self.priors
    }

    /// Returns the number of live documents.
    pub fn documents_count(&self) -> u64 {
        self.documents_count
    }

    /// Returns the mean length in words over all live documents; 0 for an empty index.
    pub fn average_length(&self, field: Field) -> f64 {
        if field == Field::Site {
            return 1.0;
        }
        let words = self.words_count(field);
        if self.documents_count == 0 {
            0.0
        } else {
            words as f64 / self.documents_count as f64
        }
    }

    /// Returns the document frequency: the live documents of the whole index that hold the term.
    pub fn document_frequency(&self, field: Field, term: &str) -> Result<u64, IndexError> {
        Ok(self
            .term(field, term)?
            .map_or(0, |found| found.document_frequency))
    }

    /// Prefetches the memory that the next step of a look-up reads.
    #[inline]
    pub fn prefetch(&self, hash: TermHash, step: LookUpStep) {
        match (&self.base, &self.counted[..]) {
            (Some(base), _) => base.prefetch(hash, step),
            (None, &[number]) => self.segments[number as usize].prefetch_term(hash, step),
            _ => {}
        }
        for &number in &self.newer {
            self.segments[number as usize].prefetch_term(hash, step);
        }
    }

    /// Returns the statistics of a term; `None` where it does not occur in the index.
    pub fn term(&self, field: Field, term: &str) -> Result<Option<TermStatistics>, IndexError> {
        terms::with_key(field, term, |key| self.find(key))
    }

    fn find(&self, key: TermKey<'_>) -> Result<Option<TermStatistics>, IndexError> {
        let in_segment = |number: u32| self.segments[number as usize].find(key);
        self.find_with(key, &in_segment, || {
            let mut sum: u64 = 0;
            for file in &self.deleted {
                let gone = file.find(key)?.map_or(0, |(gone, _)| gone);
                sum = sum.saturating_add(gone);
            }
            Ok(sum)
        })
    }

    /// Does what [`Self::term`] does, given the lists of the term in all segments and the documents with it deleted since the
    /// base: for a check of every term, since a term of one segment would be looked up in all files.
    pub(crate) fn term_in(
        &self,
        key: TermKey<'_>,
        places: &[TermPlace],
        gone: u64,
    ) -> Result<Option<TermStatistics>, IndexError> {
        let in_segment = |number: u32| {
            let at = places.binary_search_by_key(&number, |place| place.segment);
            Ok(at.ok().map(|at| places[at].record))
        };
        self.find_with(key, &in_segment, || Ok(gone))
    }

    /// Returns the statistics of a term. `in_segment` looks it up in a segment, by number; `gone` returns the documents with
    /// it deleted since the base.
    #[inline]
    fn find_with(
        &self,
        key: TermKey<'_>,
        in_segment: &impl Fn(u32) -> Result<Option<TermRecord>, IndexError>,
        gone: impl FnOnce() -> Result<u64, IndexError>,
    ) -> Result<Option<TermStatistics>, IndexError> {
        let mut found = match self.term_of_base(key, in_segment)? {
            Some(found) => found,
            None if self.newer.is_empty() => return Ok(None),
            None => TermStatistics {
                document_frequency: 0,
                places: TermPlaces::new(),
            },
        };
        if !(self.newer.is_empty() && self.deleted.is_empty()) {
            self.add_newer(in_segment, &mut found)?;
            found.document_frequency = found.document_frequency.saturating_sub(gone()?);
        }
        Ok((found.document_frequency > 0).then_some(found))
    }

    /// Returns the statistics of a term in the segments that the base counts.
    #[inline]
    fn term_of_base(
        &self,
        key: TermKey<'_>,
        in_segment: &impl Fn(u32) -> Result<Option<TermRecord>, IndexError>,
    ) -> Result<Option<TermStatistics>, IndexError> {
        if let Some(base) = &self.base
            && let Some((document_frequency, mut places)) = base.find(key)?
        {
            for place in &mut places {
                let number = self.counted.get(place.segment as usize);
                place.segment = *number.ok_or_else(|| base.unreadable())?;
            }
            return Ok(Some(TermStatistics {
                document_frequency,
                places,
            }));
        }
        if self.counted.len() > 1 {
            for &number in &self.counted {
                self.segments[number as usize].prefetch_term(key.hash, LookUpStep::Table);
            }
        }
        let mut untrusted = None;
        for &number in &self.counted {
            let segment = &self.segments[number as usize];
            if !segment.file().is_trusted() {
                untrusted = Some(segment);
                continue;
            }
            let record = match in_segment(number) {
                // The damage was found by this look-up.
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
        // Only an unreadable segment may have the term, so the weights of its queries are unknown.
        untrusted.map_or(Ok(()), |segment| segment.file().ensure_trusted())?;
        Ok(None)
    }

    /// Adds the lists of newer segments.
    #[inline]
    fn add_newer(
        &self,
        in_segment: &impl Fn(u32) -> Result<Option<TermRecord>, IndexError>,
        found: &mut TermStatistics,
    ) -> Result<(), IndexError> {
        for &number in &self.newer {
            let segment = &self.segments[number as usize];
            // Its count enters the weight of the term in every part of the index, so no part answers without it: scores
            // would differ from those of the whole index. The next base has the count, and then its part alone is left out.
            segment.file().ensure_trusted()?;
            if let Some(record) = in_segment(number)? {
                found.document_frequency += u64::from(record.documents_count);
                found.places.push(TermPlace {
                    segment: number,
                    record,
                });
            }
        }
        if found.places.len() > 1 {
            found.places.sort_unstable_by_key(|place| place.segment);
        }
        Ok(())
    }
}

fn open_shared_terms(
    storage: &SharedStorage,
    manifest: &Manifest,
    file: &FileEntry,
) -> Result<Arc<SharedTerms>, IndexError> {
    let identity = Identity {
        kind: Kind::Statistics,
        index_id: manifest.index_id(),
        number: file.number,
    };
    let payload = open_live(storage, &file.name, identity, file.seal)?;
    Ok(Arc::new(SharedTerms::open(&payload)?))
}
