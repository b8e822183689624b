//! A query with the statistics of one snapshot: everything that scoring needs but the postings.
use crate::{Query, Ranking};
use index::{IndexError, Statistics};
use text::summary::SummaryTerm;

/// A query planned for one snapshot. Cheap to share; used for every segment of every partition.
#[derive(Debug)]
pub struct Plan {}

impl Plan {
    /// Looks up statistics and fixes weights.
    pub fn new(
        _query: &Query,
        _ranking: Ranking,
        _statistics: &Statistics,
    ) -> Result<Plan, IndexError> {
        unimplemented!()
    }
    /// What summaries should look for: positive terms, phrases' words, prefixes.
    pub fn summary_terms(&self) -> Vec<SummaryTerm> {
        unimplemented!()
    }
}
