//! Values by which the hits of a page are sorted.

use crate::site_limit::Candidate;
use fields::Value;
use search::{ScoredHit, SortedHit};

/// Returns the values of each hit of a page; `all` are the hits that it was taken from, in the same order.
pub(crate) fn sort_values(page: &[Candidate], all: &[SortedHit]) -> Vec<Vec<Option<Value>>> {
    let mut all = all.iter();
    let values = |candidate: &Candidate| {
        let address = |hit: &ScoredHit| (hit.url_hash, hit.segment, hit.doc);
        let own = all.find(|one| address(&one.hit) == address(&candidate.hit));
        own.map(|one| one.values.clone()).unwrap_or_default()
    };
    page.iter().map(values).collect()
}

/// Returns the values by which a hit is sorted as JSON, null where it has none.
pub fn sort_json(values: &[Option<Value>]) -> Vec<serde_json::Value> {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_json).unwrap_or_default();
    values.iter().map(json).collect()
}
