//! Profile of a search: algorithms that ran, blocks decoded and skipped, postings scored.
//!
//! ```text
//! profile(plan, segments, || search_partition(…))  ──►  what the search gives, and a Profile
//! ```
//!
//! Every search counts, in cells of its thread, mostly once a block; [`profile`] empties them before and reads
//! them after. Blocks are watched only within (see [`index::watch_blocks`]).

use crate::context::counters::{COUNTERS, Counters, NAMES};
use crate::plan::planner::Plan;
use crate::verify::filter_runs::{FilterRun, watch_filters};
use index::{BlocksWork, Field, IndexError, Segment, watch_blocks};
use std::sync::Arc;

/// Work of one search, over all segments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// The algorithms that ran: one, unless something was counted beside, or segments differ. None where
    /// nothing can match.
    pub algorithms: Vec<&'static str>,
    /// The distinct words that the index has, in the order of the query.
    pub terms: Vec<ProfiledTerm>,
    /// Work on the blocks of their lists.
    pub blocks: BlocksWork,
    /// Postings whose score was computed: a document counts once for each list that scored it.
    pub scored_count: u64,
    /// Stored pairs of words read in place of positions, in all segments.
    pub pairs_count: u64,
    /// Documents offered: their whole score was compared with that of the worst hit kept.
    pub offered_count: u64,
    /// First threshold: the highest score that k documents were known to reach before any was read.
    pub first_threshold: Option<f32>,
    /// Runs of the tests of values, by segment.
    pub filters: Vec<FilterRun>,
}

/// A word of a query, and how many documents hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfiledTerm {
    /// Field in which the word is looked up.
    pub field: Field,
    /// The word, as it stands in the index.
    pub term: String,
    /// Documents of the segments that hold it, deleted ones too.
    pub documents_count: u64,
}

/// Profiles a search of `plan` on `segments` on this thread; returns its result and its work.
pub fn profile<'a, R>(
    plan: &Plan,
    segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    search: impl FnOnce() -> Result<R, IndexError>,
) -> Result<(R, Profile), IndexError> {
    let segments: Vec<&Segment> = segments.into_iter().map(|one| &**one).collect();
    let before = COUNTERS.with(|now| now.exchange(Counters::default()));
    let ((result, blocks), filters) = watch_filters(|| watch_blocks(search));
    let done = COUNTERS.with(|now| now.exchange(before));
    let found = result?;
    let named = |(number, name): (usize, &&'static str)| {
        (done.algorithms.get() >> number & 1 == 1).then_some(*name)
    };
    let profile = Profile {
        algorithms: NAMES.iter().enumerate().filter_map(named).collect(),
        terms: terms_of(plan, &segments)?,
        blocks,
        scored_count: done.scored.get(),
        pairs_count: done.pairs.get(),
        offered_count: done.offered.get(),
        filters,
        first_threshold: Some(done.known.get()).filter(|&score| score > 0.0),
    };
    Ok((found, profile))
}

fn terms_of(plan: &Plan, segments: &[&Segment]) -> Result<Vec<ProfiledTerm>, IndexError> {
    let mut words = Vec::new();
    plan.each_word(|word| words.push(word));
    let mut terms: Vec<ProfiledTerm> = Vec::with_capacity(words.len());
    for word in words {
        let is_word = |term: &ProfiledTerm| term.field == word.field && term.term == word.term;
        if terms.iter().any(is_word) {
            continue;
        }
        let mut documents_count = 0;
        for segment in segments {
            let record = word.record(segment)?;
            documents_count += record.map_or(0, |record| u64::from(record.documents_count));
        }
        terms.push(ProfiledTerm {
            field: word.field,
            term: word.term.clone(),
            documents_count,
        });
    }
    Ok(terms)
}
