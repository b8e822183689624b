//! Per-site limit on the merged ranking: an order of all matches in which each site has its best hits first.
//!
//! ```text
//! ranking   A1 A2 A3 B1 A4 C1 A5 | A6 B2 ...        at most 2 of a site, window of 7
//! listed    A1 A2 B1 C1 A3 A4 A5 | A6 B2 ...        A3, A4 and A5 are held back
//! ```
//!
//! Among the [`SITE_LIMIT_WINDOW`] best matches those come first that fewer than `per_site` hits of their site precede;
//! those held back follow, and then all further matches, each in the order of the ranking. So a page is never short while
//! matches are left, and pages together list every match once. Where a ranking has two classes, documents with all words
//! and with some, the rule holds in each of them, and both count for a site's limit.
//!
//! The ranking is one fixed list, and so is the list made of it. A page is a slice of that list, whatever the partitions and
//! the depth of the search. Each partition returns its k best hits only, so a prefix of the merged ranking is certain: no
//! hit that a partition has not returned may precede its end. Paging is exact because it uses that prefix alone.

use crate::group::Group;
use fields::Value;
use search::ScoredHit;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// Number of the best matches among which the limit changes the order. It bounds the search for further sites: where they
/// are not among these, the hits of the few sites are what the query finds best.
pub const SITE_LIMIT_WINDOW: usize = if cfg!(test) { 7 } else { 1_000 };
/// Repeats with k doubled before k grows to all that can be needed.
const DOUBLINGS_MAX: u32 = 2;
/// Factor of the first k over the hits wanted, where sites are limited: a larger k costs little beside a second search.
const FIRST_K_FACTOR: usize = 2;

/// The hits that a search of one partition returned.
#[derive(Debug, Clone, Copy)]
pub struct PartRanking<'a> {
    /// The k best, best first; all, where fewer match.
    pub hits: &'a [ScoredHit],
    /// Values by which the hits are collapsed; empty where they are not.
    pub groups: &'a [Option<Value>],
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
    /// Group of the hit, where hits are collapsed.
    pub group: Option<Group>,
    /// Whether the per-site limit put it behind hits of a lower rank.
    pub is_held_back: bool,
}

impl Candidate {
    fn new(found: &PartRanking<'_>, at: usize, partition: usize) -> Candidate {
        let group = found.groups.get(at).and_then(Option::as_ref);
        Candidate {
            hit: found.hits[at],
            partition,
            group: group.map(Group::of),
            is_held_back: false,
        }
    }
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
        let places = found
            .iter()
            .flat_map(|found| (0..found.hits.len()).map(move |at| (found, at)));
        candidates.extend(places.map(|(found, at)| (Candidate::new(found, at, partition), at)));
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
            let at = found.hits.len().checked_sub(1)?;
            Some((Candidate::new(found, at, partition), at))
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

/// Returns the k with which every partition gives enough for `wanted` hits after `before_count` hits that may be among its own.
pub fn sufficient_k(wanted: usize, before_count: usize, per_site: u32) -> usize {
    let window = if per_site == 0 { 0 } else { SITE_LIMIT_WINDOW };
    wanted.max(window).saturating_add(before_count)
}

/// Returns the k of the next search after `repeats` repeats, at most `sufficient`; `None` where a further search would return
/// no more.
pub fn next_k(
    partitions: &[Option<PartRanking<'_>>],
    k: usize,
    repeats: u32,
    sufficient: usize,
) -> Option<usize> {
    let most = matches_max(partitions)?.min(sufficient);
    let next = match repeats < DOUBLINGS_MAX {
        true => k.saturating_mul(2).min(most),
        false => most,
    };
    (next > k).then_some(next)
}

/// Returns the k that returns all matches of every partition; `None` where none has further ones.
pub(crate) fn matches_max(partitions: &[Option<PartRanking<'_>>]) -> Option<usize> {
    let cut = partitions.iter().flatten().filter(|found| found.is_cut);
    let matches = cut.map(|found| match found.matches_count {
        Some(count) => usize::try_from(count).unwrap_or(usize::MAX),
        None => usize::MAX,
    });
    matches.max()
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
    /// Counts a hit of a site, and returns the number of its hits so far.
    fn add(&mut self, site_hash: u64) -> u32 {
        let count = self.0.entry(site_hash).or_insert(0);
        *count += 1;
        *count
    }

    /// Returns the number of hits of the site with this hash.
    pub fn count(&self, site_hash: u64) -> u32 {
        self.0.get(&site_hash).copied().unwrap_or(0)
    }
}

/// The beginning of the list of all matches.
#[derive(Debug)]
pub struct Listed {
    /// Its hits, as many as wanted at most.
    pub hits: Vec<Candidate>,
    /// Numbers of the known hits by site; empty without a limit.
    pub sites: SiteCounts,
    /// Whether the list has the hits wanted, or all there are.
    pub is_settled: bool,
}

/// Lists the first `wanted` hits of a ranking under the limit. The first `first_count` of its candidates are a class of
/// their own, which is whole.
pub fn list(ranking: &KnownRanking, first_count: usize, per_site: u32, wanted: usize) -> Listed {
    let candidates = &ranking.candidates;
    let mut hits = Vec::with_capacity(wanted.min(candidates.len()));
    let mut sites = SiteCounts::default();
    if per_site == 0 {
        hits.extend(candidates.iter().take(wanted));
    } else {
        let (first, further) = candidates.split_at(first_count.min(candidates.len()));
        for (class, is_whole) in [(first, true), (further, ranking.is_complete)] {
            list_class(class, is_whole, per_site, &mut sites, &mut hits, wanted);
        }
    }
    let is_settled = ranking.is_complete || hits.len() >= wanted;
    hits.truncate(wanted);
    Listed {
        hits,
        sites,
        is_settled,
    }
}

/// Adds the hits of a class in their order, as far as it is certain; `is_whole` says that no further match belongs to it.
fn list_class(
    class: &[Candidate],
    is_whole: bool,
    per_site: u32,
    sites: &mut SiteCounts,
    hits: &mut Vec<Candidate>,
    wanted: usize,
) {
    let (window, beyond) = class.split_at(SITE_LIMIT_WINDOW.min(class.len()));
    let mut held_back = Vec::new();
    for &candidate in window {
        if sites.add(candidate.hit.site_hash) <= per_site {
            hits.push(candidate);
        } else {
            held_back.push(Candidate {
                is_held_back: true,
                ..candidate
            });
        }
    }
    for candidate in beyond {
        sites.add(candidate.hit.site_hash);
    }
    let is_window_known = is_whole || window.len() == SITE_LIMIT_WINDOW;
    if is_window_known && hits.len() < wanted {
        hits.append(&mut held_back);
        hits.extend_from_slice(beyond);
    }
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
            groups: &[],
            matches_count: Some(hits.len() as u64),
            is_cut: hits.len() > k,
        }
    }

    #[test]
    fn k_grows_to_all_matches_or_to_what_suffices_and_no_further() {
        let cut = |matches_count| {
            let hits = &[][..];
            let is_cut = true;
            [Some(PartRanking {
                hits,
                groups: &[],
                is_cut,
                matches_count,
            })]
        };
        assert_eq!(next_k(&cut(Some(1_000)), 22, 0, 5_000), Some(44));
        assert_eq!(
            next_k(&cut(Some(1_000)), 88, DOUBLINGS_MAX, 5_000),
            Some(1_000)
        );
        assert_eq!(
            next_k(&cut(Some(9_000)), 88, DOUBLINGS_MAX, 5_000),
            Some(5_000)
        );
        assert_eq!(next_k(&cut(None), 22, 0, 30), Some(30));
        assert_eq!(next_k(&cut(None), 5_000, DOUBLINGS_MAX, 5_000), None);
        assert_eq!(next_k(&[None], 22, 0, 5_000), None);
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
        /// What is known of the ranking is a beginning of it, k long at least. The list made of it is that of the whole
        /// ranking, made naively, and a sufficient k lists all that is wanted.
        #[test]
        fn a_known_ranking_is_a_beginning_of_the_whole(
            documents in prop::collection::vec((0u8..6, 0u8..5, 0usize..4), 0..60),
            k in 1usize..20,
            per_site in 0u32..4,
            wanted in 1usize..70,
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

            let expected = naive(&[&whole], per_site);
            let listed = list(&known, 0, per_site, wanted);
            prop_assert_eq!(plain(&listed), &expected[..listed.hits.len()]);
            prop_assert_eq!(listed.hits.len() == wanted.min(whole.len()), listed.is_settled);
            let sufficient = sufficient_k(wanted, 0, per_site);
            prop_assert!(listed.is_settled || next_k(&returned, k, 0, sufficient).is_some());
            let returned: Vec<_> = partitions.iter().map(|hits| Some(cut_to(hits, sufficient))).collect();
            let listed = list(&merge(&returned), 0, per_site, wanted);
            prop_assert!(listed.is_settled);
            prop_assert_eq!(plain(&listed), &expected[..wanted.min(whole.len())]);
        }

        /// Hits with all words are listed before those with some; both count for a site's limit.
        #[test]
        fn the_rule_holds_in_each_class(
            documents in prop::collection::vec((0u8..6, 0u8..5), 0..60),
            first_count in 0usize..30,
            k in 0usize..40,
            per_site in 0u32..4,
            wanted in 0usize..70,
        ) {
            let mut hits: Vec<_> = documents.iter().enumerate().map(|(doc, &(score, site))| hit(score, doc, site)).collect();
            hits.sort_by(ScoredHit::rank);
            let (first, further) = hits.split_at(first_count.min(hits.len()));
            let before = merge(&[Some(cut_to(first, first.len()))]).candidates;
            // The second search finds the hits of the first as well, with scores of its own.
            let mut both: Vec<_> = hits.iter().map(|hit| ScoredHit { score: (hit.doc.0 * 7 % 5) as f32, ..*hit }).collect();
            both.sort_by(ScoredHit::rank);
            let is_further = |hit: &&ScoredHit| further.iter().any(|one| one.doc == hit.doc);
            let then: Vec<_> = both.iter().filter(is_further).copied().collect();
            let known = join(&before, merge(&[Some(cut_to(&both, k))]));
            let expected = naive(&[first, &then], per_site);
            let listed = list(&known, first.len(), per_site, wanted);
            prop_assert_eq!(plain(&listed), &expected[..listed.hits.len()]);
            let sufficient = sufficient_k(wanted, first.len(), per_site);
            let known = join(&before, merge(&[Some(cut_to(&both, sufficient))]));
            let listed = list(&known, first.len(), per_site, wanted);
            prop_assert_eq!(plain(&listed), &expected[..wanted.min(hits.len())]);
        }
    }

    fn plain(listed: &Listed) -> Vec<(ScoredHit, bool)> {
        let hits = listed.hits.iter();
        hits.map(|one| (one.hit, one.is_held_back)).collect()
    }

    /// The list by definition, each hit with whether it is held back.
    fn naive(classes: &[&[ScoredHit]], per_site: u32) -> Vec<(ScoredHit, bool)> {
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let mut listed = Vec::new();
        for class in classes {
            let mut ranked: Vec<(bool, usize, ScoredHit, bool)> = Vec::new();
            for (rank, &hit) in class.iter().enumerate() {
                let count = seen.entry(hit.site_hash).or_default();
                *count += 1;
                let is_beyond = rank >= SITE_LIMIT_WINDOW;
                let is_over = per_site > 0 && *count > per_site;
                ranked.push((is_beyond, rank, hit, is_over && !is_beyond));
            }
            ranked.sort_by_key(|&(is_beyond, rank, _, is_held)| (is_beyond, is_held, rank));
            listed.extend(
                ranked
                    .into_iter()
                    .map(|(_, _, hit, is_held)| (hit, is_held)),
            );
        }
        listed
    }
}
