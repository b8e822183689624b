//! URL, title and id of the documents of hits.

use index::{Details, IndexError, Segment};
use search::ScoredHit;
use std::sync::Arc;

/// Reads the URL, title and id of the documents of hits. Documents are read in the order of the index, where neighbours
/// cost little.
pub(super) fn details_of(
    segments: &[Arc<Segment>],
    hits: &[ScoredHit],
) -> Result<Vec<Details>, IndexError> {
    let mut order: Vec<usize> = (0..hits.len()).collect();
    order.sort_unstable_by_key(|&at| (hits[at].segment, hits[at].doc));
    let mut details = Vec::with_capacity(hits.len());
    for same in order.chunk_by(|&a, &b| hits[a].segment == hits[b].segment) {
        let id = hits[same[0]].segment;
        let segment = segments.iter().find(|segment| segment.id() == id);
        // A hit names a segment of the very list that was searched.
        let mut reader = segment
            .expect("a hit of a searched segment")
            .details_reader();
        for &at in same {
            details.push((at, reader.read(hits[at].doc)?));
        }
    }
    details.sort_unstable_by_key(|&(at, _)| at);
    Ok(details.into_iter().map(|(_, details)| details).collect())
}
