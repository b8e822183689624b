//! Search with Shorttail in each mode.

use crate::Result;
use crate::mode::Mode;
use crate::words::query_of;
use fields::{Facet, FacetCounts, FacetKind, Value};
use index::{Index, Segment};
use search::{Collectors, DocBits, Operator, Plan, Query, Ranking, ScoredHit, SortKey, SortedHit};
use search::{best_by_values, collect, count_facet, count_partition};
use search::{search_partition, top_of_partition};
use std::path::Path;
use std::sync::Arc;
use vfs::RealStorage;

/// Hits of a query.
const K: usize = 10;

/// Open index, and the mode of all queries.
pub(crate) struct Engine {
    index: Index,
    segments: Vec<Arc<Segment>>,
    mode: Mode,
}

/// Answer to a query.
#[derive(Default)]
pub(crate) struct Answer {
    /// The exact count if it is wanted with hits or alone, else the number of returned hits.
    pub(crate) count: u64,
    /// The best hit.
    pub(crate) best: Option<ScoredHit>,
    /// The newest documents.
    pub(crate) newest: Vec<SortedHit>,
    pub(crate) facets: Vec<Counted>,
}

/// A facet, its counts, and the most frequent values if it is one of terms.
pub(crate) type Counted = (Facet, FacetCounts, Vec<(Value, u64)>);

impl Engine {
    /// Opens an index for a mode.
    pub(crate) fn open(directory: &Path, mode: &str, filters: &Path) -> Result<Engine> {
        let index = Index::open(Arc::new(RealStorage::open(directory)?))?;
        let segments = index.segments(0..index.chunks_count()).cloned().collect();
        let mode = Mode::parse(mode, filters)?;
        Ok(Engine {
            index,
            segments,
            mode,
        })
    }

    /// Answers a query: the measured span.
    pub(crate) fn answer(&self, text: &str) -> Result<Answer> {
        let mode = &self.mode;
        let plan = self.plan(text)?;
        let mut answer = Answer::default();
        if mode.is_sorted {
            let keys = SortKey::parse_all("date:desc", self.index.fields())?;
            let mut found = Collectors::new((), DocBits::default());
            collect(&plan, &self.segments, &mut found)?;
            answer.newest = best_by_values(&keys, &self.segments, &found.matches, K, None)?;
            answer.count = answer.newest.len() as u64;
            return Ok(answer);
        }
        if mode.facets.is_empty() {
            let hits;
            (hits, answer.count) = match (mode.has_hits, mode.is_counted) {
                (true, true) => search_partition(&plan, &self.segments, K)?,
                (true, false) => {
                    let hits = top_of_partition(&plan, &self.segments, K)?;
                    let count = hits.len() as u64;
                    (hits, count)
                }
                (false, _) => (Vec::new(), count_partition(&plan, &self.segments)?),
            };
            answer.best = hits.first().copied();
            return Ok(answer);
        }
        let bits = match mode.has_hits {
            true => {
                let mut found = Collectors::new(plan.top(K), DocBits::default());
                collect(&plan, &self.segments, &mut found)?;
                answer.best = found.hits.into_sorted().first().copied();
                answer.count = found.matches.count();
                found.matches
            }
            false => {
                let mut found = Collectors::new((), DocBits::default());
                collect(&plan, &self.segments, &mut found)?;
                found.matches
            }
        };
        let is_whole = true;
        for text in &mode.facets {
            let facet = Facet::parse(text, self.index.fields())?;
            let counts = count_facet(&facet, &self.segments, &bits, is_whole)?;
            let buckets = &counts.buckets;
            let most = match &facet.kind {
                FacetKind::Terms(terms) => {
                    let most = buckets.most_frequent(terms.n).into_iter();
                    most.map(|at| buckets.counts[at].clone()).collect()
                }
                _ => Vec::new(),
            };
            answer.facets.push((facet, counts, most));
        }
        Ok(answer)
    }

    /// Plans the query of a text and the filter.
    fn plan(&self, text: &str) -> Result<Plan> {
        let words = query_of(text, self.index.analyzer(), self.mode.operator);
        let query = match self.mode.query(self.index.fields())? {
            None => words,
            Some(filter) => filtered(words, filter, self.mode.operator),
        };
        let plan = Plan::new(&query, Ranking::default(), self.index.statistics())?;
        Ok(plan)
    }

    /// Returns the URL of a hit.
    pub(crate) fn url(&self, hit: &ScoredHit) -> Result<String> {
        let segment = self.segments.iter().find(|one| one.id() == hit.segment);
        let segment = segment.ok_or("a hit of no segment")?;
        Ok(segment.details(hit.doc)?.url)
    }
}

/// Adds a filter to words: beside those that are all required, beside the alternatives otherwise.
fn filtered(words: Query, filter: Query, operator: Operator) -> Query {
    let required = match words {
        Query::Boolean { mut required, .. } if operator == Operator::And => {
            required.push(filter);
            required
        }
        words => vec![words, filter],
    };
    Query::Boolean {
        required,
        optional: Vec::new(),
        excluded: Vec::new(),
    }
}
