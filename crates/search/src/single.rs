//! The k best documents of one term, without decoding blocks that cannot hold any of them.
//!
//! Exact: documents, scores and order are those of [`crate::exhaustive`]. A block is left out when its
//! competitive pairs bound every score in it below the worst score kept.

use crate::cursor::Scorer;
use crate::{ScoredHit, TopK};
use index::{DocId, IndexError, Postings, Segment};

/// Keeps the best of a list in `top`.
pub(crate) fn search(
    mut postings: Postings<'_>,
    scorer: &Scorer<'_>,
    segment: &Segment,
    top: &mut TopK,
) -> Result<(), IndexError> {
    let bounds = postings.bounds();
    let mut first = DocId(0);
    for block in 0..bounds.blocks_count() {
        let last = bounds.last_doc(block);
        if top.would_enter(scorer.bound(&bounds.impacts(block))) {
            postings.seek(first);
            let end = DocId(last.0.saturating_add(1));
            postings.take_until(end, |docs, frequencies| {
                offer(docs, frequencies, scorer, segment, top);
            });
        }
        first = DocId(last.0.saturating_add(1));
    }
    if bounds.blocks_count() == 0 {
        let (docs, frequencies) = postings.rest_of_block();
        offer(docs, frequencies, scorer, segment, top);
    }
    postings.take_error().map_or(Ok(()), Err)
}

fn offer(
    docs: &[u32],
    frequencies: &[u32],
    scorer: &Scorer<'_>,
    segment: &Segment,
    top: &mut TopK,
) {
    for (&doc, &frequency) in docs.iter().zip(frequencies) {
        let doc = DocId(doc);
        let score = scorer.score(doc, frequency);
        if top.would_enter(score) && !segment.is_deleted(doc) {
            top.offer(score, || ScoredHit::at(segment, doc, score));
        }
    }
}
