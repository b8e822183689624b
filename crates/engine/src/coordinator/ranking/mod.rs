//! Query phase: the search of all partitions, repeated until the page is certain.

mod first_class;

use crate::calls::{PartError, PartitionHits, Query, SearchRequest, index_server_of};
use crate::collapse::{self, Collapsed, collapse};
use crate::coordinator::call::{Call, Replied};
use crate::coordinator::coverage::{HITS, SEARCH, first_error};
use crate::coordinator::layout::Layout;
use crate::coordinator::prepared::PreparedQuery;
use crate::coordinator::proof::{CertainRanking, certain_ranking, rankings};
use crate::coordinator::scope::{Record, Scope};
use crate::coordinator::timeline::Stopwatch;
use crate::search_error::SearchError;
use crate::site_limit::{
    Candidate, KnownRanking, Listed, Place, SiteCounts, first_k, join, list, merge, merge_ordered,
    next_k, sufficient_k,
};
use fields::Value;
use search::SortKey;
use std::sync::Arc;
use std::time::Instant;
use text::summary::SummaryTerm;
use wire::PhaseTimes;

/// Search of one query in all partitions, until the hits wanted are certain.
pub(crate) struct Ranking {
    pub(crate) query: Arc<Query>,
    pub(crate) request: SearchRequest,
    /// Hits that precede all that are found.
    before: Vec<Candidate>,
    partitions: Vec<Option<PartitionHits>>,
    repeats: u32,
    /// Begin of the repeat under way.
    repeat_begun: Option<Instant>,
}

/// Ranking that holds the hits wanted, or all there are, or all that there was time for.
pub(crate) struct Settled {
    partitions: Vec<Option<PartitionHits>>,
    ranking: KnownRanking,
    /// Number of hits listed before the first that is hidden.
    hidden_after: Option<usize>,
    listed: Listed,
    proof: Option<CertainRanking>,
}

/// Next step of a ranking.
pub(crate) enum Next {
    /// A search of some partitions for more hits.
    Call(Call),
    /// The hits are certain, or the best that the time allowed.
    Settled(Settled),
}

/// Result of the query phase.
pub(crate) struct Found {
    /// The query that found the last of the hits.
    pub(crate) query: Arc<Query>,
    pub(crate) page: Vec<Candidate>,
    /// Values by which each hit of the page is sorted; empty for the order of scores.
    pub(crate) sort_values: Vec<Vec<Option<Value>>>,
    /// Value by which each hit of the page is collapsed; empty where the matches of groups are not counted.
    pub(crate) groups: Vec<Option<Value>>,
    /// Whether a match that ranks before the end of the page is hidden by a better one.
    pub(crate) hides_some: bool,
    pub(crate) more_hits: bool,
    /// Rank of the first hit that is not of the first class, where documents with some of the words were searched for.
    pub(crate) some_words_from: Option<usize>,
    /// Number of the hits known, from the first one.
    pub(crate) listed: usize,
    /// Number of the page's hits that the query for all of the words found.
    pub(crate) with_all_words: usize,
    pub(crate) matches_count: u64,
    pub(crate) count_is_exact: bool,
    pub(crate) ranking_is_complete: bool,
    pub(crate) sites: SiteCounts,
    pub(crate) summary_terms: Vec<SummaryTerm>,
    pub(crate) generation: u64,
    /// Numbers of the partitions that answered.
    pub(crate) answered: Vec<usize>,
    /// Proof that the hits are those of an unlimited search.
    pub(crate) proof: Option<CertainRanking>,
}

impl Ranking {
    pub(crate) fn new(
        scope: Scope<'_>,
        query: &Arc<Query>,
        counted: bool,
        generation: u64,
    ) -> Ranking {
        let prepared = scope.prepared;
        let options = &prepared.options;
        let partitions = 0..scope.layout.partitions_count();
        let documents: u64 = partitions.map(|at| scope.layout.documents_of(at)).sum();
        // Where all are wanted, one more than there are shows that these are all. Counts may be those of a moment ago: a
        // ranking that is cut is searched for again with a larger k.
        let k_max = match usize::try_from(documents) {
            Ok(documents @ 1..) => documents.saturating_add(1),
            _ => usize::MAX,
        };
        Ranking {
            query: Arc::clone(query),
            request: SearchRequest {
                k: first_k(prepared.wanted(), options.per_site).min(k_max),
                counted,
                sort: match prepared.counts_alone() {
                    true => Arc::default(),
                    false => Arc::clone(&prepared.sort),
                },
                collapse: (!options.collapse.is_empty()).then(|| options.collapse.as_str().into()),
                after: prepared.start.after.clone().map(Arc::new),
                trace: options.trace,
                generation,
                deadline: scope.limits.cut_off,
                caller_waits: false,
            },
            before: Vec::new(),
            partitions: Vec::new(),
            repeats: 0,
            repeat_begun: None,
        }
    }

    fn call(&self, partitions: Vec<usize>) -> Call {
        Call::Search {
            query: Arc::clone(&self.query),
            request: self.request.clone(),
            partitions,
        }
    }

    /// Takes the first hits of all partitions. Fails where no document was searched.
    pub(crate) fn take_first(
        &mut self,
        partitions: Vec<Option<PartitionHits>>,
        failures: Vec<(usize, PartError)>,
        scope: Scope<'_>,
        record: &mut Record,
    ) -> Result<(), SearchError> {
        let (layout, coverage) = (scope.layout, &mut record.coverage);
        let failures = refusals(failures, layout)?;
        if partitions.iter().all(Option::is_none) {
            let failures = failures.into_iter();
            let named = failures.map(|(partition, error)| (layout.chunks_of(partition), error));
            return Err(first_error(named.collect()));
        }
        for (partition, found) in partitions.iter().enumerate() {
            if let Some(found) = found {
                coverage.searched(
                    &layout.chunks_of(partition),
                    found.documents_searched,
                    found.documents_count,
                    found.count_is_exact || !self.request.counted,
                );
            }
        }
        for (partition, error) in failures {
            let count = layout.documents_of(partition);
            coverage.lost(&layout.chunks_of(partition), count, &error);
        }
        if coverage.is_nothing() {
            return Err(SearchError::TimedOut {
                part: "the index servers".into(),
            });
        }
        note_times(&partitions, &mut record.phases);
        self.partitions = partitions;
        Ok(())
    }

    /// Takes the hits of partitions that were searched once more, in place of those before. The first reply of a partition
    /// that fails now stands; its further hits are lost.
    pub(crate) fn take_again(
        &mut self,
        replies: Vec<(usize, Replied<PartitionHits>)>,
        scope: Scope<'_>,
        record: &mut Record,
    ) -> Result<(), SearchError> {
        for (partition, found) in replies {
            let chunks = scope.layout.chunks_of(partition);
            match found {
                Ok(found) => {
                    if found.documents_searched < found.documents_count {
                        let coverage = &mut record.coverage;
                        coverage.lacks(SEARCH, &chunks, &PartError::Expired);
                    }
                    self.partitions[partition] = Some(found);
                }
                Err(error @ PartError::Overloaded { .. }) => {
                    return Err(error.into_search_error(&index_server_of(&chunks)));
                }
                Err(error) => {
                    record.coverage.lacks(SEARCH, &chunks, &error);
                    if let Some(known) = &mut self.partitions[partition] {
                        known.is_cut = false;
                    }
                }
            }
        }
        match self.repeat_begun.take() {
            Some(begun) => {
                let timeline = &scope.prepared.timeline;
                timeline.note("optimization search", String::new, begun);
                record.phases.optimization_searches += begun.elapsed().as_micros() as u64;
            }
            None => note_times(&self.partitions, &mut record.phases),
        }
        Ok(())
    }

    /// Merges the rankings of partitions after the hits before. Asks for more while fewer hits than wanted are certain;
    /// `record` has a cut-off or a limit that ends the search earlier.
    pub(crate) fn settle(&mut self, scope: Scope<'_>, now: Instant, record: &mut Record) -> Next {
        let prepared = scope.prepared;
        let (options, wanted) = (&prepared.options, prepared.wanted());
        let mut clock = Stopwatch(Instant::now());
        let returned = rankings(&self.partitions);
        let ranking = match prepared.sort.is_empty() {
            true => join(&self.before, merge(&returned)),
            false => merge_ordered(&returned, |a, b| {
                let values = |(partition, at): Place| values_of(&self.partitions, partition, at);
                SortKey::order_of(&prepared.sort, values(a), values(b))
            }),
        };
        let is_collapsed = self.request.collapse.is_some();
        let Collapsed {
            ranking,
            hidden_after,
        } = match is_collapsed {
            true => collapse(ranking),
            false => Collapsed {
                ranking,
                hidden_after: None,
            },
        };
        let per_site = options.per_site;
        let listed = list(&ranking, self.before.len(), per_site, wanted);
        prepared.timeline.note("merge", String::new, clock.0);
        record.phases.merge += clock.lap_us();
        // The time after the cut-off belongs to details and summaries.
        let no_time = now >= scope.limits.cut_off;
        let k = self.request.k;
        let further_k = match is_collapsed {
            true => collapse::next_k(&returned, k),
            false => {
                let sufficient = sufficient_k(wanted, self.before.len(), per_site);
                next_k(&returned, k, self.repeats, sufficient)
            }
        };
        match further_k {
            Some(k) if !listed.is_settled && !no_time => {
                self.repeats += 1;
                self.repeat_begun = Some(clock.0);
                self.request.k = k;
                // Partitions that returned all their matches are not searched again.
                Next::Call(self.call(cut(&self.partitions)))
            }
            _ => {
                if !listed.is_settled {
                    for partition in cut(&self.partitions) {
                        let chunks = scope.layout.chunks_of(partition);
                        record.coverage.lacks(HITS, &chunks, &PartError::Expired);
                    }
                }
                let proof = certain_ranking(&self.partitions, self.request.counted, &listed);
                Next::Settled(Settled {
                    partitions: std::mem::take(&mut self.partitions),
                    ranking,
                    hidden_after,
                    listed,
                    proof,
                })
            }
        }
    }
}

impl Found {
    /// Returns the hits of the page.
    pub(crate) fn new(prepared: &PreparedQuery, searched: &Ranking, settled: Settled) -> Found {
        let Settled {
            partitions,
            ranking,
            hidden_after,
            listed,
            proof,
        } = settled;
        let Listed { hits, sites, .. } = listed;
        let page_end = prepared.start.start.saturating_add(prepared.options.k);
        let start = prepared.start.start.min(hits.len());
        let end = page_end.min(hits.len());
        let page = hits[start..end].to_vec();
        let values = |candidate: &Candidate| {
            let at = place_of(&partitions, candidate)?;
            Some(values_of(&partitions, candidate.partition, at).to_vec())
        };
        let groups = match prepared.counts_groups() {
            true => page.iter().map(|one| group_of(&partitions, one)).collect(),
            false => Vec::new(),
        };
        let sort_values = match prepared.sort.is_empty() {
            true => Vec::new(),
            false => {
                let values = page.iter().map(values);
                values.map(Option::unwrap_or_default).collect()
            }
        };
        let query_of_sites = prepared.some_words.as_ref().unwrap_or(&prepared.query);
        let has_all = Arc::ptr_eq(&searched.query, query_of_sites);
        let replies = || partitions.iter().flatten();
        let matches_count: u64 = replies().map(|found| found.matches_count).sum();
        Found {
            query: Arc::clone(&searched.query),
            with_all_words: page.len(),
            listed: hits.len(),
            page,
            sort_values,
            groups,
            hides_some: hidden_after.is_some_and(|listed| listed <= page_end),
            more_hits: match prepared.counts_alone() {
                true => matches_count > 0,
                false => hits.len() > page_end,
            },
            some_words_from: None,
            matches_count,
            count_is_exact: replies().all(|found| found.count_is_exact),
            ranking_is_complete: ranking.is_complete && has_all,
            proof,
            sites,
            summary_terms: replies()
                .next()
                .map(|found| found.summary_terms.clone())
                .unwrap_or_default(),
            generation: searched.request.generation,
            answered: answered(&partitions),
        }
    }
}

/// Returns the numbers of the partitions that answered.
fn answered(partitions: &[Option<PartitionHits>]) -> Vec<usize> {
    let all = 0..partitions.len();
    all.filter(|&at| partitions[at].is_some()).collect()
}

/// Returns the numbers of the partitions that may have further matches.
fn cut(partitions: &[Option<PartitionHits>]) -> Vec<usize> {
    let is_cut = |&at: &usize| partitions[at].as_ref().is_some_and(|found| found.is_cut);
    (0..partitions.len()).filter(is_cut).collect()
}

/// Returns the failures, unless one of them is a full queue: its client is asked to come back.
fn refusals(
    failures: Vec<(usize, PartError)>,
    layout: &dyn Layout,
) -> Result<Vec<(usize, PartError)>, SearchError> {
    let mut kept = Vec::with_capacity(failures.len());
    for (partition, error) in failures {
        if matches!(error, PartError::Overloaded { .. }) {
            let server = index_server_of(&layout.chunks_of(partition));
            return Err(error.into_search_error(&server));
        }
        kept.push((partition, error));
    }
    Ok(kept)
}

/// Returns the place of a hit among those of its partition.
fn place_of(partitions: &[Option<PartitionHits>], candidate: &Candidate) -> Option<usize> {
    let found = partitions.get(candidate.partition)?.as_ref()?;
    found.hits.iter().position(|hit| *hit == candidate.hit)
}

/// Returns the value by which a hit is collapsed.
fn group_of(partitions: &[Option<PartitionHits>], candidate: &Candidate) -> Option<Value> {
    let at = place_of(partitions, candidate)?;
    let found = partitions.get(candidate.partition)?.as_ref()?;
    found.groups.get(at)?.clone()
}

/// Returns the values by which a hit of a partition is sorted.
fn values_of(
    partitions: &[Option<PartitionHits>],
    partition: usize,
    at: usize,
) -> &[Option<Value>] {
    let found = partitions.get(partition).and_then(Option::as_ref);
    let values = found.and_then(|found| found.sort_values.get(at));
    values.map_or(&[], Vec::as_slice)
}

/// Adds the times of the slowest partitions to those of a query.
fn note_times(partitions: &[Option<PartitionHits>], phases: &mut PhaseTimes) {
    let answered = || partitions.iter().flatten();
    let most = |of: fn(&PartitionHits) -> u64| answered().map(of).max().unwrap_or(0);
    phases.parse += most(|found| found.parse_us);
    phases.queueing += most(|found| found.queueing_us);
    phases.index_search += most(|found| found.search_us);
}
