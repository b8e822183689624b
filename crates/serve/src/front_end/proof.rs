//! Proof that a ranking is certain.

use crate::api::messages::PartitionHits;
use engine::site_limit::{Candidate, KnownRanking, PartRanking};

/// Returns the rankings of the partitions, `None` for a lost partition.
pub(crate) fn rankings(partitions: &[Option<PartitionHits>]) -> Vec<Option<PartRanking<'_>>> {
    partitions
        .iter()
        .map(|found| found.as_ref().map(ranking))
        .collect()
}

fn ranking(found: &PartitionHits) -> PartRanking<'_> {
    PartRanking {
        hits: &found.hits,
        is_cut: found.is_cut,
        matches_count: found.count_is_exact.then_some(found.matches_count),
    }
}

/// Proof that the hits of a page, and their count where requested, are those of an unlimited search. Only [`certain`]
/// makes one, from the replies of the partitions.
#[derive(Debug)]
pub(crate) struct CertainRanking(());

/// Returns the proof that `admitted` holds the first `wanted` admitted hits; `None` where a partition is lost or was
/// searched in part, where its count is short, or where further hits may belong on the page.
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

#[cfg(test)]
mod tests {
    use super::*;
    use engine::site_limit::{admit, merge};
    use index::DocId;
    use search::ScoredHit;

    #[test]
    fn a_page_is_certain_only_with_everything_that_may_belong_on_it() {
        let hit = |doc: u8| ScoredHit {
            score: f32::from(9 - doc),
            url_hash: u64::from(doc),
            site_hash: 0,
            segment: 0,
            doc: DocId(u32::from(doc)),
        };
        let found = |k: u8, documents_searched, count_is_exact| {
            Some(PartitionHits {
                hits: (0..k).map(hit).collect(),
                matches_count: 6,
                is_cut: k < 6,
                documents_searched,
                documents_count: 6,
                count_is_exact,
                ..Default::default()
            })
        };
        let is_certain = |partitions: &[Option<PartitionHits>], per_site, wanted| {
            let ranking = merge(&rankings(partitions));
            let (admitted, _) = admit(&ranking, per_site, wanted);
            certain(partitions, true, &ranking, &admitted, wanted).is_some()
        };
        assert!(is_certain(&[found(6, 6, true)], 2, 5));
        assert!(is_certain(&[found(3, 6, true)], 0, 3));
        // Two hits of the site are admitted, and further sites may follow.
        assert!(!is_certain(&[found(3, 6, true)], 2, 5));
        assert!(!is_certain(&[found(6, 5, true)], 2, 5));
        assert!(!is_certain(&[found(6, 6, false)], 2, 5));
        assert!(!is_certain(&[found(6, 6, true), None], 2, 5));
    }
}
