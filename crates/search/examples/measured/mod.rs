//! Shared parts of the measuring examples: an index, the plans of a file of queries, a clock.

mod clock;

pub(crate) use clock::time_us;
use index::{Index, Segment};
use search::{Operator, Plan, Ranking, bag_of_words};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use vfs::RealStorage;

/// Inputs of searches.
type SegmentsAndPlans = (Vec<Arc<Segment>>, Vec<Arc<Plan>>);

/// Returns the segments of an index and the plans of queries, one on each line (text before a tab is
/// left out).
pub(crate) fn segments_and_plans(
    directory: &str,
    queries: &str,
    operator: Operator,
) -> Result<SegmentsAndPlans, Box<dyn Error>> {
    let index = Index::open(Arc::new(RealStorage::open(Path::new(directory))?))?;
    let mut plans = Vec::new();
    for line in std::fs::read_to_string(queries)?.lines() {
        let text = line.split_once('\t').map_or(line, |(_, text)| text);
        let query = bag_of_words(text, index.analyzer(), operator);
        let plan = Plan::new(&query, Ranking::default(), index.statistics())?;
        plans.push(Arc::new(plan));
    }
    let segments = index.segments(0..index.chunks_count()).cloned().collect();
    Ok((segments, plans))
}
