//! Details of hits and explanations of their scores.

use crate::error::DetailsError;
use crate::part::Part;
use index::{Details, DetailsReader, DocId, Field, IndexError, Segment};
use search::explain::Explainer;
use search::{Explanation, MissingTerms, Plan, ScoredHit, Stop};
use std::sync::Arc;

/// Characters of a title in an answer; a longer one is cut.
pub const TITLE_CHARS_MAX: usize = 8_192;
/// Upper limit on the bytes of a title, and of each other text, in an answer.
const TITLE_BYTES_MAX: usize = 4 * TITLE_CHARS_MAX + '…'.len_utf8();

/// Bytes of an id and of a URL in an answer: those of documents that are taken today. Older indexes may have longer ones.
pub const ID_BYTES_MAX: usize = 2 << 10;
/// See [`ID_BYTES_MAX`].
pub const URL_BYTES_MAX: usize = 8 << 10;

// An id that is taken today is never cut.
#[cfg(test)]
const _: () = assert!(ID_BYTES_MAX >= document::ID_BYTES_MAX);
#[cfg(test)]
const _: () = assert!(URL_BYTES_MAX >= document::URL_BYTES_MAX);

/// Returns details as an answer has them, with the names of the values that were cut, here or where they were read.
pub fn shown(mut details: Details) -> (Details, Vec<String>) {
    let mut cut = Vec::new();
    let is_own_id = details.id == details.url;
    if !is_own_id && details.id.len() > ID_BYTES_MAX {
        cut.push("id".to_owned());
    }
    if details.title.chars().nth(TITLE_CHARS_MAX).is_some() {
        cut.push("title".to_owned());
    }
    if details.url.len() > URL_BYTES_MAX {
        cut.push("url".to_owned());
        shorten(&mut details.url, URL_BYTES_MAX);
        if is_own_id {
            details.id.clone_from(&details.url);
        }
    }
    if details.site.len() > URL_BYTES_MAX {
        shorten(&mut details.site, URL_BYTES_MAX);
    }
    (details, cut)
}

/// Cuts a text after `bytes_max` bytes, and marks it.
fn shorten(text: &mut String, bytes_max: usize) {
    text.truncate(char_boundary(text, bytes_max));
    text.push('…');
}

/// Returns the last boundary of characters at or before a byte.
pub(crate) fn char_boundary(text: &str, at: usize) -> usize {
    let mut boundary = at.min(text.len());
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    boundary
}

/// Details of a hit, with the explanation of its score where requested.
#[derive(Debug, Clone, PartialEq)]
pub struct HitDetails {
    /// Title, URL, site, id.
    pub details: Details,
    /// Documents of the site in the whole index; 0 where it is not known.
    pub site_documents_count: u64,
    /// Explanation of the score, as JSON.
    pub explanation: Option<serde_json::Value>,
    /// Telling words of the query that the document lacks, as terms; empty where they were not asked for.
    pub lacks: Vec<String>,
}

/// Address of a hit: its document by the hash of the URL, and where a search found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitAddress {
    /// Hash of the URL, by which a reader knows that it has this document at the place; `None` from front-ends of before.
    pub url_hash: Option<u64>,
    /// Segment of the document in the generation of the search.
    pub segment: u32,
    /// Document within the segment.
    pub doc: DocId,
}

impl HitAddress {
    /// Returns the address of a hit of a search.
    pub fn of(hit: &ScoredHit) -> HitAddress {
        HitAddress {
            url_hash: Some(hit.url_hash),
            segment: hit.segment,
            doc: hit.doc,
        }
    }

    /// Returns the place in the order of segments and documents.
    fn place(&self) -> (u32, DocId) {
        (self.segment, self.doc)
    }
}

/// Hits whose details are read.
#[derive(Debug, Clone, Copy)]
pub struct HitsRead<'a> {
    /// Hits.
    pub hits: &'a [HitAddress],
    /// Plan of the query by which scores are explained; `None` for no explanations.
    pub explained_by: Option<&'a Plan>,
    /// Plan of the query whose telling words the documents may lack; `None` where these are not asked for.
    pub missing_terms_of: Option<&'a Plan>,
    /// Limit of all details and explanations, in bytes.
    pub bytes_max: usize,
}

impl HitsRead<'_> {
    /// Returns the places of the hits in the order of segments and documents, so that each list is read once.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.hits.len()).collect();
        order.sort_unstable_by_key(|&at| self.hits[at].place());
        order
    }
}

impl Part {
    /// Reads the details of hits, in their order.
    ///
    /// # Errors
    /// Details over `request.bytes_max`, hits of segments that are not read here, damage, and `stop` where it is due.
    pub fn details(
        &self,
        request: &HitsRead<'_>,
        stop: &Stop<'_>,
    ) -> Result<Vec<HitDetails>, DetailsError> {
        let mut budget = Budget::new(request.bytes_max);
        let mut read = Vec::with_capacity(request.hits.len());
        for same in request
            .in_order()
            .chunk_by(|&a, &b| request.hits[a].segment == request.hits[b].segment)
        {
            let mut reader = self
                .segment_of(request.hits[same[0]].segment)?
                .details_reader();
            for &at in same {
                if stop.is_due_now() {
                    return Err(DetailsError::Cancelled);
                }
                let hit = self.details_of(&mut reader, request.hits[at])?;
                budget.take(text_bytes(&hit))?;
                read.push((at, hit));
            }
        }
        read.sort_unstable_by_key(|&(at, _)| at);
        let mut details: Vec<_> = read.into_iter().map(|(_, hit)| hit).collect();
        if let Some(plan) = request.missing_terms_of {
            self.find_missing_terms(request, plan, &mut budget, &mut details)?;
        }
        if let Some(plan) = request.explained_by {
            self.explain(request, plan, stop, &mut budget, &mut details)?;
        }
        Ok(details)
    }

    /// Adds the telling words that documents lack, in the order of documents.
    fn find_missing_terms(
        &self,
        request: &HitsRead<'_>,
        plan: &Plan,
        budget: &mut Budget,
        details: &mut [HitDetails],
    ) -> Result<(), DetailsError> {
        let order = request.in_order();
        for same in order.chunk_by(|&a, &b| request.hits[a].segment == request.hits[b].segment) {
            let segment = self.segment_of(request.hits[same[0]].segment)?;
            let mut missing_terms = MissingTerms::open(plan, segment)?;
            for &at in same {
                let missing = missing_terms.of(request.hits[at].doc)?;
                budget.take(missing.iter().map(|word| word.len()).sum())?;
                details[at].lacks = missing.into_iter().map(str::to_owned).collect();
            }
        }
        Ok(())
    }

    /// Adds explanations, in the order of documents.
    fn explain(
        &self,
        request: &HitsRead<'_>,
        plan: &Plan,
        stop: &Stop<'_>,
        budget: &mut Budget,
        details: &mut [HitDetails],
    ) -> Result<(), DetailsError> {
        let order = request.in_order();
        for same in order.chunk_by(|&a, &b| request.hits[a].segment == request.hits[b].segment) {
            let segment = self.segment_of(request.hits[same[0]].segment)?;
            let mut explainer = Explainer::open(plan, segment, stop)?;
            for &at in same {
                let why = explainer.explain(request.hits[at].doc)?;
                if stop.is_due_now() {
                    return Err(DetailsError::Cancelled);
                }
                // Before it becomes JSON in memory, which is several times as large.
                budget.take(why.as_ref().map_or(0, explanation_bytes))?;
                details[at].explanation = why.and_then(|why| serde_json::to_value(why).ok());
            }
        }
        Ok(())
    }

    /// Returns whether every hit of another generation is here at its place, and live. Then it is the same document,
    /// unchanged, since a segment never changes.
    pub fn holds_all(&self, hits: &[HitAddress]) -> bool {
        hits.iter().all(|&hit| {
            self.segment(hit.segment).is_some_and(|segment| {
                hit.url_hash.is_some()
                    && hit.doc.0 < segment.documents_count()
                    && is_at(hit, segment)
                    && !segment.is_deleted(hit.doc)
            })
        })
    }

    fn segment_of(&self, id: u32) -> Result<&Arc<Segment>, DetailsError> {
        self.segment(id).ok_or_else(|| DetailsError::NotServed {
            reason: format!("it does not serve segment {id}"),
        })
    }

    fn details_of(
        &self,
        reader: &mut DetailsReader<'_>,
        hit: HitAddress,
    ) -> Result<HitDetails, DetailsError> {
        let HitAddress { segment, doc, .. } = hit;
        let opened = self.segment_of(segment)?;
        if doc.0 >= opened.documents_count() {
            return Err(DetailsError::NotServed {
                reason: format!("segment {segment} has no document {}", doc.0),
            });
        }
        if !is_at(hit, opened) {
            return Err(DetailsError::NotServed {
                reason: format!(
                    "document {} of segment {segment} is another one than was found; give all replicas the same index",
                    doc.0
                ),
            });
        }
        let mut details = reader.read(doc)?;
        // An older index may have longer ids.
        if details.id != details.url && details.id.len() > ID_BYTES_MAX {
            shorten(&mut details.id, ID_BYTES_MAX);
        }
        if let Some((end, _)) = details.title.char_indices().nth(TITLE_CHARS_MAX) {
            details.title.truncate(end);
            details.title.push('…');
        }
        Ok(HitDetails {
            site_documents_count: self.site_documents_count(&details.site)?,
            details,
            explanation: None,
            lacks: Vec::new(),
        })
    }

    /// Returns the number of documents of a site in the whole index, 0 where the index cannot tell.
    fn site_documents_count(&self, site: &str) -> Result<u64, IndexError> {
        // A name that long may have been cut in the index, where this look-up would miss it.
        if site.len() >= text::TERM_BYTES_MAX {
            return Ok(0);
        }
        let statistics = self.index().statistics();
        statistics.document_frequency(Field::Site, site)
    }
}

/// Returns whether the document of a hit is at its place in a segment, as far as its hash is known. A damaged hash is read as
/// another one; who verifies the part finds the damage.
fn is_at(hit: HitAddress, segment: &Segment) -> bool {
    let at_place = || segment.url_hash(hit.doc);
    hit.url_hash.is_none_or(|hash| hash == at_place())
}

/// Bytes that details may still have.
struct Budget {
    bytes_max: usize,
    left: usize,
}

impl Budget {
    fn new(bytes_max: usize) -> Budget {
        Budget {
            bytes_max,
            left: bytes_max,
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), DetailsError> {
        let bytes_max = self.bytes_max;
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(DetailsError::TooLarge { bytes_max })?;
        Ok(())
    }
}

/// Returns the bytes of the details in an answer, where a URL is cut.
fn text_bytes(hit: &HitDetails) -> usize {
    let details = &hit.details;
    [&details.id, &details.url, &details.title, &details.site]
        .iter()
        .map(|text| text.len().min(TITLE_BYTES_MAX))
        .sum()
}

/// Estimates the length of an explanation as JSON, in bytes.
fn explanation_bytes(why: &Explanation) -> usize {
    /// Names of the fields, punctuation, a number.
    const FRAME: usize = 60;
    let within: usize = why.details.iter().map(explanation_bytes).sum();
    let name = why.name.as_ref().map_or(0, String::len);
    FRAME + name + why.description.len() + within
}
