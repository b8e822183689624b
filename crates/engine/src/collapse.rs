//! Collapsed ranking: of the hits that have one value of a field, the best is listed, and the others are hidden behind it.
//!
//! ```text
//! ranking    A1 B1 A2 A3 C1 -1 B2 -2      letters are values; `-` has none
//! listed     A1 B1 C1 -1 -2               A1 hides 2, B1 hides 1
//! ```
//!
//! The rule is one of the whole ranking, so a page is a slice of one fixed list, whatever the partitions. These return their k
//! best hits with their groups; where too few are listed, they are searched with a larger k. A limit of hits a site applies to
//! what is listed.

use crate::calls::PartitionHits;
use crate::part::Part;
use crate::site_limit::{KnownRanking, PartRanking, matches_max};
use index::IndexError;
use std::collections::HashSet;

/// Factor of k from one search to the next.
const GROWTH: usize = 4;

impl PartitionHits {
    /// Adds the groups of the hits, where a field collapses them.
    ///
    /// # Errors
    /// Damage of a column, and files that cannot be read.
    pub fn grouped(self, part: &Part, field: Option<&str>) -> Result<PartitionHits, IndexError> {
        let groups = match field {
            Some(field) => search::groups_of(field, &self.hits, |id| part.segment(id))?,
            None => Vec::new(),
        };
        Ok(PartitionHits { groups, ..self })
    }
}

/// Ranking without the hits that better ones hide.
#[derive(Debug)]
pub(crate) struct Collapsed {
    pub(crate) ranking: KnownRanking,
    /// Number of hits listed before the first that is hidden; `None` where none of those known is.
    pub(crate) hidden_after: Option<usize>,
}

/// Leaves out the hits that better ones hide.
pub(crate) fn collapse(ranking: KnownRanking) -> Collapsed {
    let mut known = HashSet::new();
    let mut hidden_after = None;
    let mut listed = Vec::with_capacity(ranking.candidates.len());
    for one in ranking.candidates {
        if one.group.is_none_or(|group| known.insert(group)) {
            listed.push(one);
        } else {
            hidden_after.get_or_insert(listed.len());
        }
    }
    Collapsed {
        ranking: KnownRanking {
            candidates: listed,
            is_complete: ranking.is_complete,
        },
        hidden_after,
    }
}

/// Returns the k of the next search; `None` where a further search would return no more. How many hits are hidden is not
/// known before, so k grows step by step up to all matches.
pub(crate) fn next_k(partitions: &[Option<PartRanking<'_>>], k: usize) -> Option<usize> {
    let next = k
        .max(1)
        .saturating_mul(GROWTH)
        .min(matches_max(partitions)?);
    (next > k).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_limit::{list, merge};
    use fields::Value;
    use index::DocId;
    use proptest::prelude::*;
    use search::ScoredHit;

    proptest! {
        /// What partitions return with any k is listed as a beginning of the naive list of all matches, and k grows until
        /// the hits wanted are there.
        #[test]
        fn a_collapsed_list_is_that_of_the_whole_ranking(
            documents in prop::collection::vec((0u8..6, 0i64..6, 0usize..4), 0..60),
            k in 1usize..10,
            wanted in 1usize..30,
        ) {
            let mut partitions = vec![Vec::new(); 4];
            for (doc, &(score, value, partition)) in documents.iter().enumerate() {
                let hit = ScoredHit {
                    score: f32::from(score),
                    url_hash: doc as u64,
                    site_hash: 0,
                    segment: 0,
                    doc: DocId(doc as u32),
                };
                // The value 0 stands for none.
                partitions[partition].push((hit, (value > 0).then_some(Value::Integer(value))));
            }
            let rank = |a: &(ScoredHit, Option<Value>), b: &(ScoredHit, Option<Value>)| a.0.rank(&b.0);
            partitions.iter_mut().for_each(|hits| hits.sort_by(rank));
            let mut whole = partitions.concat();
            whole.sort_by(rank);
            let mut naive: Vec<&(ScoredHit, Option<Value>)> = Vec::new();
            for one in &whole {
                if one.1.is_none() || naive.iter().all(|known| known.1 != one.1) {
                    naive.push(one);
                }
            }
            let naive: Vec<u64> = naive.iter().take(wanted).map(|one| one.0.url_hash).collect();

            let mut k = k;
            loop {
                let cut: Vec<(Vec<ScoredHit>, Vec<Option<Value>>)> =
                    partitions.iter().map(|hits| hits.iter().take(k).cloned().unzip()).collect();
                let returned: Vec<_> = cut.iter().zip(&partitions).map(|((hits, groups), all)| Some(PartRanking {
                    hits,
                    groups,
                    is_cut: hits.len() < all.len(),
                    matches_count: Some(all.len() as u64),
                })).collect();
                let listed = list(&collapse(merge(&returned)).ranking, 0, 0, wanted);
                let urls: Vec<u64> = listed.hits.iter().map(|one| one.hit.url_hash).collect();
                prop_assert_eq!(&urls[..], &naive[..urls.len()]);
                if listed.is_settled {
                    prop_assert_eq!(urls.len(), naive.len());
                    break;
                }
                k = next_k(&returned, k).expect("further hits");
            }
        }
    }
}
