//! Place in an order of hits, after which further ones are wanted.

use fields::Value;
use std::cmp::Ordering;

/// Place of a hit in an order. Hits after it do not depend on the hits before it, so a page needs no search for those.
#[derive(Debug, Clone, PartialEq)]
pub struct After {
    /// Score of the hit; 0 in an order by values.
    pub score: f32,
    /// Values of the hit by which it is sorted; empty in the order of scores.
    pub values: Vec<Option<Value>>,
    /// Hash of its URL, which breaks ties.
    pub url_hash: u64,
}

impl After {
    /// Returns whether a document comes after this place in the order of scores.
    #[inline]
    pub(crate) fn precedes(&self, score: f32, url_hash: impl FnOnce() -> u64) -> bool {
        match self.score.total_cmp(&score) {
            Ordering::Greater => true,
            Ordering::Equal => url_hash() > self.url_hash,
            Ordering::Less => false,
        }
    }
}
