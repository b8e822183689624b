//! The k best hits.
//!
//! Better = higher score, then lower URL hash. Two URLs of one hash (never seen; 2⁻⁶⁴ a pair) are
//! put in order of segment and document, so that one index always gives one order.
use index::{DocId, Segment};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A hit as the index search knows it. Better = higher score, then lower URL hash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredHit {
    /// Score.
    pub score: f32,
    /// Hash of the URL: breaks ties.
    pub url_hash: u64,
    /// Hash of the site.
    pub site_hash: u64,
    /// Segment id (unique in the index).
    pub segment: u32,
    /// Document in the segment.
    pub doc: DocId,
}

impl ScoredHit {
    /// The hit that a document of `segment` is.
    pub(crate) fn at(segment: &Segment, doc: DocId, score: f32) -> ScoredHit {
        ScoredHit {
            score,
            url_hash: segment.url_hash(doc),
            site_hash: segment.site_hash(doc),
            segment: segment.id(),
            doc,
        }
    }

    /// `Less` when `self` comes before `other` in an answer.
    pub fn rank(&self, other: &ScoredHit) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.url_hash.cmp(&other.url_hash))
            .then_with(|| self.segment.cmp(&other.segment))
            .then_with(|| self.doc.cmp(&other.doc))
    }
}

/// A hit in the heap, whose top is the worst.
#[derive(Debug, Clone, Copy)]
struct Kept(ScoredHit);

impl Ord for Kept {
    fn cmp(&self, other: &Kept) -> Ordering {
        self.0.rank(&other.0)
    }
}
impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Kept) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Kept {}

/// Keeps the k best of the hits offered.
#[derive(Debug)]
pub struct TopK {
    k: usize,
    heap: BinaryHeap<Kept>,
    // The worst score kept, once full: what a further hit must reach. Below it nothing enters.
    threshold: f32,
}

impl TopK {
    /// An empty collection for `k` hits.
    pub fn new(k: usize) -> TopK {
        TopK {
            k,
            // A caller may ask for more than there are documents: grow with what is found.
            heap: BinaryHeap::with_capacity(k.min(1024)),
            threshold: if k == 0 {
                f32::INFINITY
            } else {
                f32::NEG_INFINITY
            },
        }
    }

    /// How many hits are wanted.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Whether a hit of this score could enter: it reaches the worst score kept. (At that very
    /// score the URL hash decides.)
    #[inline]
    pub fn would_enter(&self, score: f32) -> bool {
        score >= self.threshold
    }

    /// Offers a hit; `hit` is called only if the score could enter, so that hashes need not be
    /// fetched for the rest.
    #[inline]
    pub fn offer(&mut self, score: f32, hit: impl FnOnce() -> ScoredHit) {
        // Written so that NaN goes on, to where it is refused loudly.
        if score < self.threshold {
            return;
        }
        self.insert(hit());
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, hit: ScoredHit) {
        assert!(!hit.score.is_nan(), "a score is never NaN");
        if self.heap.len() < self.k {
            self.heap.push(Kept(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit.rank(&worst.0) == Ordering::Less
        {
            *worst = Kept(hit);
        }
        if self.heap.len() == self.k
            && let Some(worst) = self.heap.peek()
        {
            self.threshold = worst.0.score;
        }
    }

    /// The best first.
    pub fn into_sorted(self) -> Vec<ScoredHit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|kept| kept.0)
            .collect()
    }
}

/// The k best of several lists, each best first: what partitions found becomes one answer.
/// Associative, and equal to keeping the k best of everything.
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

/// The rest of a list, never empty, ordered so that the best head is on top of the heap.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hits() -> impl Strategy<Value = Vec<ScoredHit>> {
        // Few scores and hashes, so that ties are ordinary.
        proptest::collection::vec((0u8..5, 0u64..6, 0u32..3, 0u32..50), 0..60).prop_map(|raw| {
            raw.into_iter()
                .map(|(score, url_hash, segment, doc)| ScoredHit {
                    score: score as f32 / 2.0,
                    url_hash,
                    site_hash: 0,
                    segment,
                    doc: DocId(doc),
                })
                .collect()
        })
    }

    fn sorted(mut hits: Vec<ScoredHit>, k: usize) -> Vec<ScoredHit> {
        hits.sort_by(ScoredHit::rank);
        hits.truncate(k);
        hits
    }

    fn kept(hits: &[ScoredHit], k: usize) -> Vec<ScoredHit> {
        let mut top = TopK::new(k);
        for hit in hits {
            top.offer(hit.score, || *hit);
        }
        top.into_sorted()
    }

    proptest! {
        #[test]
        fn keeps_what_sorting_keeps(hits in hits(), k in 0usize..70) {
            prop_assert_eq!(kept(&hits, k), sorted(hits, k));
        }

        #[test]
        fn merging_parts_is_sorting_all(hits in hits(), k in 0usize..70, parts in 1usize..6) {
            let mut lists = vec![Vec::new(); parts];
            for (index, hit) in hits.iter().enumerate() {
                lists[index % parts].push(*hit);
            }
            let lists: Vec<_> = lists.iter().map(|list| kept(list, k)).collect();
            prop_assert_eq!(merge_sorted(&lists, k), sorted(hits, k));
        }
    }

    #[test]
    fn asking_for_everything_reserves_little() {
        let top = TopK::new(usize::MAX);
        assert!(top.would_enter(0.0));
        assert!(top.into_sorted().is_empty());
    }

    #[test]
    #[should_panic(expected = "never NaN")]
    fn nan_is_a_bug() {
        kept(
            &[ScoredHit {
                score: f32::NAN,
                url_hash: 0,
                site_hash: 0,
                segment: 0,
                doc: DocId(0),
            }],
            1,
        );
    }
}
