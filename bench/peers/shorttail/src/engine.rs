//! Search with Shorttail in each mode.

use crate::protocol::{Found, Mode, Operator, Result, Searcher};
use crate::words::query_of;
use index::{Index, IndexError, Segment};
use search::{Plan, Ranking, ScoredHit};
use search::{count_partition, phrase_of, search_partition, top_of_partition};
use std::path::Path;
use std::sync::Arc;
use vfs::RealStorage;

/// An open index.
pub struct Engine {
    index: Index,
    segments: Vec<Arc<Segment>>,
}

impl Engine {
    pub fn open(directory: &Path) -> Result<Engine> {
        let index = Index::open(Arc::new(RealStorage::open(directory)?))?;
        let segments = index.segments(0..index.chunks_count()).cloned().collect();
        Ok(Engine { index, segments })
    }

    fn plan(&self, text: &str, operator: Operator) -> Result<Plan> {
        let analyzer = self.index.analyzer();
        let query = match operator {
            Operator::And => query_of(text, analyzer, search::Operator::And),
            Operator::Or => query_of(text, analyzer, search::Operator::Or),
            Operator::Phrase => phrase_of(text, analyzer),
        };
        let plan = Plan::new(&query, Ranking::default(), self.index.statistics())?;
        Ok(plan)
    }
}

impl Searcher for Engine {
    type Hit = ScoredHit;

    fn search(&mut self, query: &str, mode: Mode) -> Result<Found<ScoredHit>> {
        let plan = self.plan(query, mode.operator)?;
        if mode.k == 0 {
            let count = count_partition(&plan, &self.segments)?;
            return Ok(Found { count, best: None });
        }
        let (hits, count) = match mode.counts {
            true => search_partition(&plan, &self.segments, mode.k)?,
            false => best_hits(&plan, &self.segments, mode.k)?,
        };
        let best = hits.first().map(|hit| (hit.score, *hit));
        Ok(Found { count, best })
    }

    fn url(&self, hit: ScoredHit) -> Result<String> {
        let segment = self.segments.iter().find(|one| one.id() == hit.segment);
        let segment = segment.ok_or("a hit of no segment")?;
        Ok(segment.details(hit.doc)?.url)
    }
}

/// Returns the k best hits and their number. No exact count is wanted, so the search may skip documents.
fn best_hits(
    plan: &Plan,
    segments: &[Arc<Segment>],
    k: usize,
) -> std::result::Result<(Vec<ScoredHit>, u64), IndexError> {
    let hits = top_of_partition(plan, segments, k)?;
    let count = hits.len() as u64;
    Ok((hits, count))
}
