//! Agreement of the top-k collector with sorting.

use super::hit::{ScoredHit, merge_sorted};
use super::kept::{Documents, TopK};
use crate::collect::collectors::Collectors;
use index::DocId;
use proptest::prelude::*;

/// Segment whose documents' URLs have only six different hashes.
#[derive(Debug)]
struct Fake(u32);

impl Documents for Fake {
    fn id(&self) -> u32 {
        self.0
    }
    fn url_hash(&self, doc: DocId) -> u64 {
        u64::from((doc.0 + self.0) % 6)
    }
    fn hashes(&self, doc: DocId) -> (u64, u64) {
        (self.url_hash(doc), doc.0.into())
    }
}

const SEGMENTS: [Fake; 3] = [Fake(0), Fake(1), Fake(2)];

fn hits() -> impl Strategy<Value = Vec<ScoredHit>> {
    // Scores and hashes have few values, so that ties are frequent.
    prop::collection::btree_map((0u32..3, 0u32..50), 0u8..5, 0..100).prop_map(|raw| {
        raw.into_iter()
            .map(|((segment, doc), score)| ScoredHit {
                score: f32::from(score) / 2.0,
                url_hash: SEGMENTS[segment as usize].url_hash(DocId(doc)),
                site_hash: doc.into(),
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
    let mut top = Collectors::new(TopK::new(k), ());
    for hit in hits {
        top.hits.segments.push(&SEGMENTS[hit.segment as usize]);
        top.offer(hit.score, hit.doc);
    }
    top.hits.into_sorted()
}

proptest! {
    #[test]
    fn keeps_what_sorting_keeps(hits in hits(), k in 0usize..70) {
        prop_assert_eq!(kept(&hits, k), sorted(hits, k));
    }

    #[test]
    fn a_threshold_that_k_reach_changes_nothing(hits in hits(), k in 1usize..70) {
        let expected = sorted(hits.clone(), k);
        let mut top = Collectors::new(TopK::new(k), ());
        if let Some(worst) = expected.get(k - 1) {
            top.context.raise(worst.score);
        }
        for hit in &hits {
            top.hits.segments.push(&SEGMENTS[hit.segment as usize]);
            top.offer(hit.score, hit.doc);
        }
        prop_assert_eq!(top.hits.into_sorted(), expected);
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
    let top = Collectors::new(TopK::new(usize::MAX), ());
    assert!(top.would_enter(0.0));
    assert!(top.hits.into_sorted().is_empty());
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
