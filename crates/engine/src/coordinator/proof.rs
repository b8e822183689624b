//! Proofs that a ranking is certain, and that all that its hits show is there.

use crate::calls::{PartitionHits, TextSummary};
use crate::details::HitDetails;
use crate::options::SearchOptions;
use crate::returned::HitContents;
use crate::site_limit::{Candidate, Listed, PartRanking};
use std::collections::HashMap;

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
        groups: &found.groups,
        is_cut: found.is_cut,
        matches_count: found.count_is_exact.then_some(found.matches_count),
    }
}

/// Proof that the hits of a page, and their count where requested, are those of an unlimited search. Only [`certain_ranking`]
/// makes one, from the replies of the partitions.
#[derive(Debug)]
pub(crate) struct CertainRanking(());

/// Returns the proof that `listed` holds the hits wanted; `None` where a partition is lost or was
/// searched in part, where its count is short, or where further hits may belong on the page.
pub(crate) fn certain_ranking(
    partitions: &[Option<PartitionHits>],
    counted: bool,
    listed: &Listed,
) -> Option<CertainRanking> {
    let is_whole = |found: &Option<PartitionHits>| {
        found.as_ref().is_some_and(|found| {
            found.documents_searched == found.documents_count && (found.count_is_exact || !counted)
        })
    };
    (listed.is_settled && partitions.iter().all(is_whole)).then_some(CertainRanking(()))
}

/// Proof that every hit of a page has the contents asked for: its details, its summary where there is a text, and its
/// site's and its group's count. Only [`certain_details`] makes one.
#[derive(Debug)]
pub(crate) struct CertainDetails(());

/// Returns the proof for the hits of `page`, or `None` where a hit lacks anything.
pub(crate) fn certain_details(
    options: &SearchOptions,
    page: &[Candidate],
    details: &[Option<HitDetails>],
    summaries: &[MadeSummary],
    has_more: &HashMap<u64, bool>,
    hidden: Option<&[u64]>,
) -> Option<CertainDetails> {
    let contents = options.returned.hits;
    if contents == HitContents::Numbers {
        return Some(CertainDetails(()));
    }
    let has_details = |hit: &Option<HitDetails>| {
        let explained = |hit: &HitDetails| hit.explanation.is_some() || !options.explain;
        hit.as_ref().is_some_and(explained)
    };
    let is_whole = details.iter().all(has_details)
        && !summaries.contains(&MadeSummary::Lost)
        && (contents == HitContents::Ids
            || (hidden.is_some()
                && page
                    .iter()
                    .all(|one| has_more.contains_key(&one.hit.site_hash))));
    is_whole.then_some(CertainDetails(()))
}

/// Outcome of the summary of a hit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MadeSummary {
    Made(TextSummary),
    /// The document store has no text of the hit.
    NoText,
    /// The document server gave no summary.
    Lost,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_limit::{list, merge};
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
            let listed = list(&ranking, 0, per_site, wanted);
            certain_ranking(partitions, true, &listed).is_some()
        };
        assert!(is_certain(&[found(6, 6, true)], 2, 5));
        assert!(is_certain(&[found(3, 6, true)], 0, 3));
        // Two hits of the site come first, and hits of further sites may follow.
        assert!(!is_certain(&[found(3, 6, true)], 2, 5));
        assert!(!is_certain(&[found(6, 5, true)], 2, 5));
        assert!(!is_certain(&[found(6, 6, false)], 2, 5));
        assert!(!is_certain(&[found(6, 6, true), None], 2, 5));
    }
}
