//! The k best hits.
use index::DocId;

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

/// Keeps the k best of the hits offered.
#[derive(Debug)]
pub struct TopK {}

impl TopK {
    /// An empty collection for `k` hits.
    pub fn new(_k: usize) -> TopK {
        unimplemented!()
    }
    /// The best first.
    pub fn into_sorted(self) -> Vec<ScoredHit> {
        unimplemented!()
    }
}
