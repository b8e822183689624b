//! Facets and sorted hits of a partition.

use crate::part::Part;
use fields::{Facet, FacetCounts};
use search::{
    After, FacetError, Gathered, OtherParts, Plan, SortKey, SortedHit, Stop, best_by_values,
    count_facets,
};
use std::sync::Arc;

/// Results computed from all matches of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Aggregation {
    /// Facets to count.
    pub facets: Vec<Facet>,
    /// Order of the hits; empty for none.
    pub sort: Vec<SortKey>,
    /// Number of hits in that order.
    pub k: usize,
    /// Place after which hits are wanted.
    pub after: Option<After>,
    /// Whether the partition is the whole index, so that only values that a facet shows need be named.
    pub is_whole: bool,
    /// Counts of each facet over the whole index, with the values that have facets within them; empty where these are not
    /// chosen yet.
    pub chosen: Arc<[FacetCounts]>,
}

impl Aggregation {
    fn other_parts(&self) -> OtherParts<'_> {
        match (self.is_whole, self.chosen.is_empty()) {
            (true, _) => OtherParts::None,
            (false, true) => OtherParts::Unknown,
            (false, false) => OtherParts::Chosen(&self.chosen),
        }
    }
}

/// Facets and hits of a partition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Aggregated {
    /// Number of matching documents.
    pub matches_count: u64,
    /// Counts of each facet, in the order of the request.
    pub facets: Vec<FacetCounts>,
    /// The k first hits in the order asked for; all, where fewer match.
    pub hits: Vec<SortedHit>,
    /// Whether further hits may follow.
    pub is_cut: bool,
    /// Number of documents searched, deleted ones included.
    pub documents_searched: u64,
    /// Number of documents in the partition, deleted ones included.
    pub documents_count: u64,
}

impl Aggregated {
    /// Returns whether all documents were searched.
    pub fn is_complete(&self) -> bool {
        self.documents_searched == self.documents_count
    }
}

impl Part {
    /// Finds all matches, and counts and sorts them, until `stop` is due. Matches are complete where
    /// [`Aggregated::is_complete`].
    pub fn aggregate(
        &self,
        plan: &Arc<Plan>,
        aggregation: &Aggregation,
        stop: &Stop<'_>,
    ) -> Result<Aggregated, FacetError> {
        let gathered = self.task(plan, 0, true).gather_alone(stop)?;
        self.aggregated(&gathered, aggregation, stop)
    }

    /// Counts and sorts the matches that workers gathered from a task of this part; nothing, where some are missing. `stop` ends
    /// the counts of facets within buckets.
    pub fn aggregated(
        &self,
        gathered: &Gathered,
        aggregation: &Aggregation,
        stop: &Stop<'_>,
    ) -> Result<Aggregated, FacetError> {
        let matches = &gathered.matches;
        let mut aggregated = Aggregated {
            matches_count: matches.count(),
            documents_searched: gathered.documents_searched,
            documents_count: gathered.documents_count,
            ..Aggregated::default()
        };
        if !aggregated.is_complete() {
            return Ok(aggregated);
        }
        let (facets, others) = (&aggregation.facets, aggregation.other_parts());
        aggregated.facets = count_facets(facets, self.segments(), matches, others, stop)?;
        if !aggregation.sort.is_empty() {
            let (keys, k) = (&aggregation.sort, aggregation.k);
            let after = aggregation.after.as_ref();
            aggregated.hits = best_by_values(keys, self.segments(), matches, k, after)?;
            // What comes before the place is neither among the hits nor left.
            aggregated.is_cut = match after {
                Some(_) => aggregated.hits.len() >= k,
                None => (aggregated.hits.len() as u64) < aggregated.matches_count,
            };
        }
        Ok(aggregated)
    }
}
