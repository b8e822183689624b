//! A partition of a snapshot: the segments of some chunks, as one search sees them.

use index::{Index, IndexError, ReadStart, Segment};
use search::{Plan, QueryRules, SearchTask, Searched, Stop, exhaustive};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

/// The segments of some chunks of an index at one generation.
#[derive(Debug)]
pub struct Part {
    index: Arc<Index>,
    segments: Vec<Arc<Segment>>,
    by_id: HashMap<u32, Arc<Segment>>,
    rules: OnceLock<Option<QueryRules>>,
}

impl Part {
    /// Gathers the segments of `chunks`.
    pub fn new(index: Arc<Index>, chunks: RangeInclusive<u32>) -> Part {
        let segments: Vec<_> = index.segments(chunks).cloned().collect();
        let by_id = segments.iter();
        let by_id = by_id.map(|segment| (segment.id(), Arc::clone(segment)));
        Part {
            by_id: by_id.collect(),
            rules: OnceLock::new(),
            segments,
            index,
        }
    }

    /// Returns the snapshot.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Returns the segments, by chunk and then by age.
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// Returns a segment by its id; `None` where it is of other chunks.
    pub fn segment(&self, id: u32) -> Option<&Arc<Segment>> {
        self.by_id.get(&id)
    }

    /// Returns the rules that queries to the index are read with, made at the first call; `None` for none.
    pub(crate) fn rules(&self) -> Option<&QueryRules> {
        let index = &self.index;
        let rules = || QueryRules::new(index.rules(), index.analyzer(), index.fields());
        self.rules.get_or_init(rules).as_ref()
    }

    /// Makes a search for the `k` best hits, which any threads may work on. Without `counted` only visited matches are
    /// counted.
    pub fn task(&self, plan: &Arc<Plan>, k: usize, counted: bool) -> SearchTask {
        SearchTask::new(Arc::clone(plan), self.segments.iter().cloned(), k, counted)
    }

    /// Searches for the `k` best hits on the calling thread, until `stop` is due.
    pub fn search(
        &self,
        plan: &Arc<Plan>,
        k: usize,
        counted: bool,
        stop: &Stop<'_>,
    ) -> Result<Searched, IndexError> {
        self.task(plan, k, counted).run(stop)
    }

    /// Counts the matches of a site, by name, up to `limit`. A lower bound where `stop` is due.
    pub(crate) fn count_site(
        &self,
        plan: &Plan,
        site: &str,
        limit: u64,
        stop: &Stop<'_>,
    ) -> Result<u64, IndexError> {
        let mut count = 0;
        for segment in &self.segments {
            if count >= limit {
                break;
            }
            count += exhaustive::count_site(plan, segment, site, limit - count, stop)?;
        }
        Ok(count.min(limit))
    }

    /// Refuses a part whose files are known to be damaged.
    pub fn ensure_trusted(&self) -> Result<(), IndexError> {
        self.index.ensure_trusted(&self.segments)
    }

    /// Verifies that all bytes read since `since` were verified ones.
    pub fn verify(&self, since: ReadStart) -> Result<(), IndexError> {
        self.index.verify_search(&self.segments, since)
    }
}
