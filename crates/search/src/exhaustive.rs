//! Exhaustive evaluation: every matching document is scored. The slow twin of every fast path.
use crate::{Plan, TopK};
use index::{DocId, IndexError, Segment};

/// Scores every matching document of `segment`, keeps the best in `top`, returns the exact count.
pub fn search_segment(
    _plan: &Plan,
    _segment: &Segment,
    _top: &mut TopK,
) -> Result<u64, IndexError> {
    unimplemented!()
}

/// Counts matching documents without scoring.
pub fn count_segment(_plan: &Plan, _segment: &Segment) -> Result<u64, IndexError> {
    unimplemented!()
}

/// Counts matching documents of one site (by name), stopping at `limit`.
pub fn count_site(
    _plan: &Plan,
    _segment: &Segment,
    _site: &str,
    _limit: u64,
) -> Result<u64, IndexError> {
    unimplemented!()
}

/// Explains the score of one document, `None` when it does not match.
pub fn explain(
    _plan: &Plan,
    _segment: &Segment,
    _doc: DocId,
) -> Result<Option<crate::Explanation>, IndexError> {
    unimplemented!()
}
