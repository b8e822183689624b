//! A scored hit, the order of hits, and the merge of ordered lists.

use index::DocId;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Hit of a partition, without details. A better one has a higher score or, at equal scores, a lower
/// URL hash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredHit {
    /// Score.
    pub score: f32,
    /// Hash of the URL, which breaks ties.
    pub url_hash: u64,
    /// Hash of the site.
    pub site_hash: u64,
    /// Segment id (unique in the index).
    pub segment: u32,
    /// Document in the segment.
    pub doc: DocId,
}

impl ScoredHit {
    /// Returns `Less` if `self` comes before `other` in an answer.
    pub fn rank(&self, other: &ScoredHit) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.url_hash.cmp(&other.url_hash))
            .then_with(|| self.segment.cmp(&other.segment))
            .then_with(|| self.doc.cmp(&other.doc))
    }
}

/// Returns the k best of several lists, each best first: the merge of the partitions' hits. The merge
/// is associative, and equal to keeping the k best of all hits.
pub fn merge_sorted(lists: &[Vec<ScoredHit>], k: usize) -> Vec<ScoredHit> {
    debug_assert!(
        lists
            .iter()
            .all(|list| list.is_sorted_by(|a, b| a.rank(b).is_le()))
    );
    let mut heads: BinaryHeap<Head<'_>> = lists
        .iter()
        .filter(|list| !list.is_empty())
        .map(|list| Head(list))
        .collect();
    let mut merged = Vec::with_capacity(k.min(lists.iter().map(Vec::len).sum()));
    while merged.len() < k
        && let Some(Head(list)) = heads.pop()
    {
        merged.push(list[0]);
        if list.len() > 1 {
            heads.push(Head(&list[1..]));
        }
    }
    merged
}

/// Rest of a list, never empty, ordered so that the best head is on top of the heap.
struct Head<'a>(&'a [ScoredHit]);

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0[0].rank(&self.0[0])
    }
}
impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Head<'_> {}
