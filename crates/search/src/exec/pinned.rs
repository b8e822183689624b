//! Documents that rules put before all hits of a query.
//!
//! They are found once, with the plan, and each task puts those of its own segments before its hits. The query excludes them
//! ([`crate::Ruling`]), so none is a hit twice, and the total is the sum of both. Their scores are the greatest finite numbers
//! in their order, so that merges of partitions, cursors and limits of hits a site need to know nothing of them.

use crate::collect::topk::hit::ScoredHit;
use crate::exec::run::{Searched, search_partition};
use crate::exec::task::SearchTask;
use crate::plan::pinned::PinnedDocument;
use crate::plan::planner::Plan;
use crate::query::parse::URLS_MAX;
use document::url_hash;
use index::{IndexError, Segment, Statistics};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the score of the document in a place, from 0.
fn score_of(place: u32) -> f32 {
    f32::from_bits(f32::MAX.to_bits() - place)
}

impl ScoredHit {
    /// Returns whether a rule has put the hit before all others. Its score stands for its place.
    pub fn is_pinned(&self) -> bool {
        self.score >= score_of(URLS_MAX as u32)
    }
}

impl Plan {
    /// Finds the documents that stand before all hits, in the segments of the whole index.
    ///
    /// # Errors
    /// Damage, and files that cannot be read.
    pub fn pin<'s>(
        mut self,
        segments: impl IntoIterator<Item = &'s Arc<Segment>>,
        statistics: &Statistics,
    ) -> Result<Plan, IndexError> {
        let Some(by) = &self.pinned_by else {
            return Ok(self);
        };
        let plan = Plan::new(&by.clause, self.ranking, statistics)?;
        let (hits, _) = search_partition(&plan, segments, by.urls.len())?;
        let urls = by.urls.iter().take(URLS_MAX);
        let places: HashMap<u64, u32> = urls.map(|url| url_hash(url)).zip(0..).collect();
        let pinned = hits.iter().filter_map(|hit| {
            Some(PinnedDocument {
                place: *places.get(&hit.url_hash)?,
                segment: hit.segment,
                doc: hit.doc,
            })
        });
        let mut pinned: Vec<PinnedDocument> = pinned.collect();
        pinned.sort_by_key(|one| one.place);
        self.pinned = pinned;
        Ok(self)
    }
}

impl SearchTask {
    /// Puts the documents before the hits that stand there, and counts them.
    pub(super) fn with_pinned(&self, searched: Searched) -> Searched {
        if self.plan.pinned.is_empty() {
            return searched;
        }
        let (mut hits, mut count) = (Vec::new(), 0);
        for one in &self.plan.pinned {
            let mut segments = self.segments.iter();
            let Some(segment) = segments.find(|segment| segment.id() == one.segment) else {
                continue;
            };
            let (url_hash, site_hash) = segment.hashes(one.doc);
            let score = score_of(one.place);
            count += 1;
            if (self.after.as_ref()).is_none_or(|after| after.precedes(score, || url_hash)) {
                hits.push(ScoredHit {
                    score,
                    url_hash,
                    site_hash,
                    segment: one.segment,
                    doc: one.doc,
                });
            }
        }
        hits.extend(searched.hits);
        hits.truncate(self.k);
        Searched {
            hits,
            matches_count: searched.matches_count + count,
            ..searched
        }
    }
}
