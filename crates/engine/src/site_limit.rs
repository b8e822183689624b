//! Per-site limit on the merged ranking.
//!
//! The ranking of all matches is one fixed list, and so is the list of admitted hits: a hit is admitted when fewer than
//! `per_site` hits of its site precede it. A page is a slice of that list, whatever the partitions and the depth of the
//! search. Each partition returns its k best hits only, so a prefix of the merged list is certain: no hit that a
//! partition has not returned may precede its end. Paging is exact because it uses that prefix alone.

use search::ScoredHit;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// Repeats with k doubled before k grows faster. Doubling all the way to the end of a ranking that is crowded on few
/// sites would be a dozen searches.
const DOUBLINGS_MAX: u32 = 2;
/// The factor after that.
const LATER_GROWTH: usize = 8;
/// Largest k of one search: some 50 MB for all steps of an answer.
pub const K_SEARCHED_MAX: usize = 1 << 19;
/// Factor of the first k over the hits wanted, where sites are limited: a larger k costs little beside a second search.
const FIRST_K_FACTOR: usize = 2;

/// The hits that a search of one partition returned.
#[derive(Debug, Clone, Copy)]
pub struct PartRanking<'a> {
    /// The k best, best first; all, where fewer match.
    pub hits: &'a [ScoredHit],
    /// Whether matches beyond `hits` may exist.
    pub is_cut: bool,
    /// Matches of the partition, where all were counted.
    pub matches_count: Option<u64>,
}

/// A hit and its partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The hit.
    pub hit: ScoredHit,
    /// Number of the partition in the fan-out.
    pub partition: usize,
}

/// The certain prefix of the ranking of all matches.
#[derive(Debug)]
pub struct KnownRanking {
    /// Its hits, best first.
    pub candidates: Vec<Candidate>,
    /// Whether it is the whole ranking.
    pub is_complete: bool,
}

/// Place of a hit: its partition, and its place among the hits of that.
pub type Place = (usize, usize);

/// Merges the rankings of partitions by score; `None` stands for one that did not answer.
pub fn merge(partitions: &[Option<PartRanking<'_>>]) -> KnownRanking {
    merge_ordered(partitions, |_, _| Ordering::Equal)
}

/// Merges rankings of partitions in another order; candidates that are equal in it are ordered by score.
pub fn merge_ordered(
    partitions: &[Option<PartRanking<'_>>],
    order: impl Fn(Place, Place) -> Ordering,
) -> KnownRanking {
    let answered = || partitions.iter().flatten();
    let returned = answered().map(|partition| partition.hits.len()).sum();
    let mut candidates: Vec<(Candidate, usize)> = Vec::with_capacity(returned);
    for (partition, found) in partitions.iter().enumerate() {
        let hits = found.iter().flat_map(|found| found.hits).enumerate();
        candidates.extend(hits.map(|(at, &hit)| (Candidate { hit, partition }, at)));
    }
    let compared = |a: &(Candidate, usize), b: &(Candidate, usize)| {
        let place = |one: &(Candidate, usize)| (one.0.partition, one.1);
        order(place(a), place(b)).then_with(|| a.0.hit.rank(&b.0.hit))
    };
    if partitions.len() > 1 {
        // Sorted runs one after another are what this sort merges in linear time.
        candidates.sort_by(compared);
    }
    let cut = || {
        (0..)
            .zip(partitions)
            .filter_map(|(at, one)| Some((at, one.as_ref()?)))
    };
    let cut = || cut().filter(|(_, partition)| partition.is_cut);
    if cut().any(|(_, partition)| partition.hits.is_empty()) {
        candidates.clear();
    } else if let Some(horizon) = cut()
        .filter_map(|(partition, found)| {
            let (at, &hit) = found.hits.iter().enumerate().next_back()?;
            Some((Candidate { hit, partition }, at))
        })
        .min_by(compared)
    {
        let certain = candidates.partition_point(|one| compared(one, &horizon).is_le());
        candidates.truncate(certain);
    }
    KnownRanking {
        candidates: candidates
            .into_iter()
            .map(|(candidate, _)| candidate)
            .collect(),
        is_complete: cut().next().is_none(),
    }
}

/// Returns the ranking in which the candidates of `first`, a whole ranking, precede all others of `then`.
pub fn join(first: &[Candidate], then: KnownRanking) -> KnownRanking {
    if first.is_empty() {
        return then;
    }
    let address = |one: &Candidate| (one.partition, one.hit.segment, one.hit.doc);
    let known: HashSet<_> = first.iter().map(address).collect();
    let further = then.candidates.into_iter();
    let further = further.filter(|one| !known.contains(&address(one)));
    KnownRanking {
        candidates: first.iter().copied().chain(further).collect(),
        is_complete: then.is_complete,
    }
}

/// Returns the k of the first search for `wanted` hits.
pub fn first_k(wanted: usize, per_site: u32) -> usize {
    match per_site {
        0 => wanted,
        _ => wanted.saturating_mul(FIRST_K_FACTOR),
    }
}

/// Returns the k of the next search after `repeats` repeats; `None` where a further search would return no more.
pub fn next_k(partitions: &[Option<PartRanking<'_>>], k: usize, repeats: u32) -> Option<usize> {
    let growth = match repeats < DOUBLINGS_MAX {
        true => 2,
        false => LATER_GROWTH,
    };
    let cut = partitions.iter().flatten().filter(|found| found.is_cut);
    let matches = cut.map(|found| match found.matches_count {
        Some(count) => usize::try_from(count).unwrap_or(usize::MAX),
        None => usize::MAX,
    });
    let most = matches.max()?.min(K_SEARCHED_MAX);
    let next = k.saturating_mul(growth).min(most);
    (next > k).then_some(next)
}

/// Returns whether the site of a hit has more matches than the limit; `None` where only counting them can tell.
/// `is_complete` says that `counts` are of the whole ranking; `site_documents_count` is 0 where it is not known.
pub fn has_more(
    counts: &SiteCounts,
    per_site: u32,
    is_complete: bool,
    site_hash: u64,
    site_documents_count: u64,
) -> Option<bool> {
    let exceeds = per_site > 0 && counts.count(site_hash) > per_site;
    // The whole site has no more documents than the limit, whatever the query.
    let is_small = (1..=u64::from(per_site)).contains(&site_documents_count);
    (exceeds || per_site == 0 || is_complete || is_small).then_some(exceeds)
}

/// Numbers of hits of the sites in a ranking.
#[derive(Debug, Default)]
pub struct SiteCounts(HashMap<u64, u32>);

impl SiteCounts {
    /// Returns the number of hits of the site with this hash.
    pub fn count(&self, site_hash: u64) -> u32 {
        self.0.get(&site_hash).copied().unwrap_or(0)
    }
}

/// Returns the first `wanted` admitted hits of a ranking in rank order, and its numbers of hits by site.
pub fn admit(ranking: &KnownRanking, per_site: u32, wanted: usize) -> (Vec<Candidate>, SiteCounts) {
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

    fn cut_to(hits: &[ScoredHit], k: usize) -> PartRanking<'_> {
        PartRanking {
            hits: &hits[..k.min(hits.len())],
            matches_count: Some(hits.len() as u64),
            is_cut: hits.len() > k,
        }
    }

    #[test]
    fn k_grows_to_all_matches_or_to_the_limit_and_no_further() {
        let cut = |matches_count| {
            let hits = &[][..];
            let is_cut = true;
            [Some(PartRanking {
                hits,
                is_cut,
                matches_count,
            })]
        };
        assert_eq!(next_k(&cut(Some(1_000)), 22, 0), Some(44));
        assert_eq!(next_k(&cut(Some(1_000)), 88, DOUBLINGS_MAX), Some(704));
        assert_eq!(next_k(&cut(Some(1_000)), 704, DOUBLINGS_MAX), Some(1_000));
        assert_eq!(next_k(&cut(Some(1_000)), 1_000, DOUBLINGS_MAX), None);
        assert_eq!(next_k(&[None], 22, 0), None);
        let mut k = 22;
        let mut rounds = 0;
        while let Some(next) = next_k(&cut(None), k, rounds) {
            k = next;
            rounds += 1;
        }
        assert_eq!((k, rounds), (K_SEARCHED_MAX, 7));
    }

    #[test]
    fn only_counting_tells_whether_a_large_site_has_more() {
        let counts = SiteCounts(HashMap::from([(1, 3), (2, 2)]));
        assert_eq!(has_more(&counts, 2, false, 1, 0), Some(true));
        assert_eq!(has_more(&counts, 2, false, 2, 0), None);
        assert_eq!(has_more(&counts, 2, false, 2, 2), Some(false));
        assert_eq!(has_more(&counts, 2, true, 2, 9), Some(false));
        assert_eq!(has_more(&counts, 0, false, 1, 9), Some(false));
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

            let returned: Vec<_> = partitions.iter().map(|hits| Some(cut_to(hits, k))).collect();
            let known = merge(&returned);
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
