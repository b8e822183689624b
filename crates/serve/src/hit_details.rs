//! Details of hits and explanations of their scores, out of the segments of one partition.

use crate::index_server::Opened;
use crate::server_error::ServerError;
use crate::transport::{DetailsRequest, HitDetails, explained};
use index::{DocId, Field, IndexError, Segment};
use search::Stop;
use search::explain::Explainer;
use search::{Explanation, Plan};
use std::sync::Arc;

/// Hits whose details the thread of the request reads itself, some thirty microseconds at the most.
pub(crate) const DETAILS_INLINE_MAX: usize = 16;
/// Characters of a title that an answer has; a longer one is cut.
pub(crate) const TITLE_CHARS_MAX: usize = 8_192;

impl Opened {
    /// Details of hits in the order of the request, with explanations by `plan` where they are asked for. Refused
    /// where they are over `request.bytes_max`; expired where `stop` is cancelled.
    pub(crate) fn details(
        &self,
        request: &DetailsRequest,
        plan: Option<&Plan>,
        stop: &Stop<'_>,
    ) -> Result<Vec<HitDetails>, ServerError> {
        let mut budget = Budget::new(request);
        let mut details = Vec::with_capacity(request.hits.len());
        for &(segment, doc) in &request.hits {
            if stop.is_due_now() {
                return Err(ServerError::Expired);
            }
            let hit = self.details_of(segment, doc)?;
            budget.take(text_bytes(&hit))?;
            details.push(hit);
        }
        if let Some(plan) = plan
            && request.explain
        {
            self.explain(request, plan, stop, &mut budget, &mut details)?;
        }
        Ok(details)
    }

    /// Adds explanations: segment by segment in the order of documents, so that each list is read once.
    fn explain(
        &self,
        request: &DetailsRequest,
        plan: &Plan,
        stop: &Stop<'_>,
        budget: &mut Budget<'_>,
        details: &mut [HitDetails],
    ) -> Result<(), ServerError> {
        let mut order: Vec<usize> = (0..request.hits.len()).collect();
        order.sort_unstable_by_key(|&at| request.hits[at]);
        for same in order.chunk_by(|&a, &b| request.hits[a].0 == request.hits[b].0) {
            let segment = self.segment(request.hits[same[0]].0)?;
            let mut explainer = Explainer::open(plan, segment, stop)?;
            for &at in same {
                let why = explainer.explain(request.hits[at].1)?;
                if stop.is_due_now() {
                    return Err(ServerError::Expired);
                }
                // Before it is written out: a value in memory is several times as large.
                budget.take(why.as_ref().map_or(0, explanation_bytes))?;
                details[at].explanation = explained(why);
            }
        }
        Ok(())
    }

    fn segment(&self, id: u32) -> Result<&Arc<Segment>, ServerError> {
        let found = self.by_id.get(&id);
        found.ok_or_else(|| ServerError::NotServed {
            reason: format!("it does not serve segment {id}"),
        })
    }

    fn details_of(&self, segment: u32, doc: DocId) -> Result<HitDetails, ServerError> {
        let segment = self.segment(segment)?;
        if doc.0 >= segment.documents_count() {
            return Err(ServerError::NotServed {
                reason: format!("segment {} has no document {}", segment.id(), doc.0),
            });
        }
        let mut details = segment.details(doc)?;
        if let Some((end, _)) = details.title.char_indices().nth(TITLE_CHARS_MAX) {
            details.title.truncate(end);
            details.title.push('…');
        }
        Ok(HitDetails {
            site_documents_count: self.site_documents_count(&details.site)?,
            details,
            explanation: None,
        })
    }

    /// Documents of a site in the whole index, 0 where the index cannot tell.
    fn site_documents_count(&self, site: &str) -> Result<u64, IndexError> {
        // A name that long may have been cut in the index, where this look-up would miss it.
        if site.len() >= text::TERM_BYTES_MAX {
            return Ok(0);
        }
        let statistics = self.index.statistics();
        statistics.document_frequency(Field::Site, site)
    }
}

/// Bytes that the reply to a request may still have.
struct Budget<'a> {
    request: &'a DetailsRequest,
    left: usize,
}

impl<'a> Budget<'a> {
    fn new(request: &'a DetailsRequest) -> Budget<'a> {
        Budget {
            left: request.bytes_max,
            request,
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), ServerError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(ServerError::TooLarge {
                explain: self.request.explain,
                bytes_max: self.request.bytes_max,
            }),
        }
    }
}

fn text_bytes(hit: &HitDetails) -> usize {
    let details = &hit.details;
    [&details.id, &details.url, &details.title, &details.site]
        .iter()
        .map(|text| text.len())
        .sum()
}

/// About how long an explanation is as JSON.
fn explanation_bytes(why: &Explanation) -> usize {
    /// Names of the fields, punctuation, a number.
    const FRAME: usize = 60;
    let within: usize = why.details.iter().map(explanation_bytes).sum();
    FRAME + why.description.len() + within
}
