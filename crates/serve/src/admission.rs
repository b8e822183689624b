//! Which hits of the merged ranking are shown: at most so many a site, in rank order.
//!
//! The ranking of all matches is one fixed list, and so is the list of the admitted: a hit is
//! admitted when fewer than `per_site` of its site stand before it. A page is a slice of that
//! list, whatever the partitions and however far it was searched. Each partition tells only its
//! k best, so of the merged list only a beginning is certain: nothing that a partition has not
//! told may belong before it. Paging is exact because only that beginning is looked at.
use crate::transport::PartitionHits;
use search::ScoredHit;
use std::collections::HashMap;

/// A hit and the partition that it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) hit: ScoredHit,
    pub(crate) partition: usize,
}

/// The certain beginning of the ranking of all matches.
#[derive(Debug)]
pub(crate) struct KnownRanking {
    pub(crate) candidates: Vec<Candidate>,
    /// Whether it is the whole ranking.
    pub(crate) is_complete: bool,
}

/// Merges what the partitions found that answered.
pub(crate) fn merge(partitions: &[Option<PartitionHits>]) -> KnownRanking {
    let answered = || partitions.iter().flatten();
    let told = answered().map(|partition| partition.hits.len()).sum();
    let mut candidates = Vec::with_capacity(told);
    for (partition, found) in partitions.iter().enumerate() {
        let hits = found.iter().flat_map(|found| &found.hits);
        candidates.extend(hits.map(|&hit| Candidate { hit, partition }));
    }
    if partitions.len() > 1 {
        // Sorted runs one after another are what this sort merges in linear time.
        candidates.sort_by(|a, b| a.hit.rank(&b.hit));
    }
    let cut = || answered().filter(|partition| partition.is_cut);
    if cut().any(|partition| partition.hits.is_empty()) {
        candidates.clear();
    } else if let Some(horizon) = cut()
        .filter_map(|partition| partition.hits.last())
        .min_by(|a, b| a.rank(b))
    {
        candidates
            .truncate(candidates.partition_point(|candidate| candidate.hit.rank(horizon).is_le()));
    }
    KnownRanking {
        candidates,
        is_complete: cut().next().is_none(),
    }
}

/// Proof that the hits of a page are those of an unlimited search, and so is their count where it was asked for.
/// Only [`certain`] makes one, from what the partitions gave.
#[derive(Debug)]
pub(crate) struct CertainRanking(());

/// The proof that `admitted` begins the list of the admitted as far as `wanted`; `None` where a partition is lost
/// or was searched in part, where its count is short, or where further hits may belong on the page.
pub(crate) fn certain(
    partitions: &[Option<PartitionHits>],
    counted: bool,
    ranking: &KnownRanking,
    admitted: &[Candidate],
    wanted: usize,
) -> Option<CertainRanking> {
    let is_whole = |found: &Option<PartitionHits>| {
        found.as_ref().is_some_and(|found| {
            found.documents_searched == found.documents_count && (found.count_is_exact || !counted)
        })
    };
    let has_all = admitted.len() >= wanted || ranking.is_complete;
    (has_all && partitions.iter().all(is_whole)).then_some(CertainRanking(()))
}

/// The hits of every site in a ranking.
#[derive(Debug, Default)]
pub(crate) struct SiteCounts(HashMap<u64, u32>);

impl SiteCounts {
    /// Hits of the site with this hash.
    pub(crate) fn count(&self, site_hash: u64) -> u32 {
        self.0.get(&site_hash).copied().unwrap_or(0)
    }
}

/// The admitted hits of a ranking in rank order (`wanted` are enough), and its hits a site.
pub(crate) fn admit(
    ranking: &KnownRanking,
    per_site: u32,
    wanted: usize,
) -> (Vec<Candidate>, SiteCounts) {
    if per_site == 0 {
        let end = wanted.min(ranking.candidates.len());
        return (ranking.candidates[..end].to_vec(), SiteCounts::default());
    }
    let mut counts = HashMap::with_capacity(ranking.candidates.len().min(1024));
    let mut admitted = Vec::with_capacity(wanted.min(ranking.candidates.len()));
    for candidate in &ranking.candidates {
        let count = counts.entry(candidate.hit.site_hash).or_insert(0u32);
        *count += 1;
        if *count <= per_site && admitted.len() < wanted {
            admitted.push(*candidate);
        }
    }
    (admitted, SiteCounts(counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::DocId;
    use proptest::prelude::*;

    fn hit(score: u8, doc: usize, site: u8) -> ScoredHit {
        ScoredHit {
            score: f32::from(score),
            url_hash: doc as u64,
            site_hash: u64::from(site),
            segment: 0,
            doc: DocId(doc as u32),
        }
    }

    fn cut_to(hits: &[ScoredHit], k: usize) -> PartitionHits {
        PartitionHits {
            hits: hits.iter().copied().take(k).collect(),
            matches_count: hits.len() as u64,
            is_cut: hits.len() > k,
            ..Default::default()
        }
    }

    #[test]
    fn a_page_is_certain_only_with_everything_that_may_belong_on_it() {
        let hits: Vec<ScoredHit> = (0..6).map(|doc| hit(9 - doc, doc.into(), 0)).collect();
        let found = |k, documents_searched, count_is_exact| {
            Some(PartitionHits {
                documents_searched,
                documents_count: 6,
                count_is_exact,
                ..cut_to(&hits, k)
            })
        };
        let is_certain = |partitions: &[Option<PartitionHits>], per_site, wanted| {
            let ranking = merge(partitions);
            let (admitted, _) = admit(&ranking, per_site, wanted);
            certain(partitions, true, &ranking, &admitted, wanted).is_some()
        };
        assert!(is_certain(&[found(6, 6, true)], 2, 5));
        assert!(is_certain(&[found(3, 6, true)], 0, 3));
        // Two of the site are admitted, and more sites may follow.
        assert!(!is_certain(&[found(3, 6, true)], 2, 5));
        assert!(!is_certain(&[found(6, 5, true)], 2, 5));
        assert!(!is_certain(&[found(6, 6, false)], 2, 5));
        assert!(!is_certain(&[found(6, 6, true), None], 2, 5));
    }

    proptest! {
        /// What is known of the ranking is a beginning of it, k long at least; the admitted hits
        /// are those that the whole ranking, walked naively, would admit.
        #[test]
        fn a_known_ranking_is_a_beginning_of_the_whole(
            documents in prop::collection::vec((0u8..6, 0u8..5, 0usize..4), 0..60),
            k in 0usize..20,
            per_site in 0u32..4,
        ) {
            let mut partitions = vec![Vec::new(); 4];
            for (doc, &(score, site, partition)) in documents.iter().enumerate() {
                partitions[partition].push(hit(score, doc, site));
            }
            for partition in &mut partitions {
                partition.sort_by(ScoredHit::rank);
            }
            let mut whole: Vec<ScoredHit> = partitions.concat();
            whole.sort_by(ScoredHit::rank);

            let told: Vec<_> = partitions.iter().map(|hits| Some(cut_to(hits, k))).collect();
            let known = merge(&told);
            let hits: Vec<_> = known.candidates.iter().map(|candidate| candidate.hit).collect();
            prop_assert_eq!(&hits[..], &whole[..hits.len()]);
            prop_assert!(hits.len() >= k.min(whole.len()));
            prop_assert_eq!(known.is_complete, partitions.iter().all(|hits| hits.len() <= k));

            let mut seen = HashMap::new();
            let naive: Vec<_> = whole[..hits.len()]
                .iter()
                .filter(|hit| {
                    let seen = seen.entry(hit.site_hash).or_insert(0);
                    *seen += 1;
                    per_site == 0 || *seen <= per_site
                })
                .copied()
                .collect();
            let (admitted, _) = admit(&known, per_site, usize::MAX);
            let admitted: Vec<_> = admitted.iter().map(|candidate| candidate.hit).collect();
            prop_assert_eq!(admitted, naive);
        }
    }
}
