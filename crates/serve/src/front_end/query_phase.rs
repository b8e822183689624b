//! Query phase: the search of all partitions, repeated until the page is certain.

use crate::api::chunks::Chunks;
use crate::api::error::SearchError;
use crate::api::messages::{PartitionHits, Query, SearchRequest};
use crate::api::options::SearchOptions;
use crate::api::server_error::ServerError;
use crate::cluster::Cluster;
use crate::front_end::coverage::{Coverage, first_error};
use crate::front_end::fan_out::FanOut;
use crate::front_end::proof::{CertainRanking, certain, rankings};
use crate::front_end::timeline::{Stopwatch, Timeline};
use engine::PageStart;
use engine::site_limit::{
    Candidate, KnownRanking, Place, SiteCounts, admit, first_k, join, merge, merge_ordered, next_k,
};
use fields::Value;
use search::SortKey;
use std::sync::Arc;
use std::time::Instant;
use text::summary::SummaryTerm;
use wire::{FacetAnswer, PhaseTimes};

/// Result of the query phase.
pub(crate) struct Found {
    /// The query that found the last of the hits.
    pub(crate) query: Arc<Query>,
    /// The query that found the hits with all of the words.
    pub(crate) query_of_all_words: Arc<Query>,
    /// The query of all pages, by which more matches of a site are counted.
    pub(crate) query_of_sites: Arc<Query>,
    pub(crate) page: Vec<Candidate>,
    /// Values by which each hit of the page is sorted; empty for the order of scores.
    pub(crate) sort_values: Vec<Vec<Option<Value>>>,
    /// Facets over all matches.
    pub(crate) facets: Vec<FacetAnswer>,
    pub(crate) more_hits: bool,
    /// Rank of the first hit that holds only some of the words.
    pub(crate) some_words_from: Option<usize>,
    /// Number of the page's hits that hold all of the words.
    pub(crate) with_all_words: usize,
    pub(crate) matches_count: u64,
    pub(crate) count_is_exact: bool,
    pub(crate) ranking_is_complete: bool,
    pub(crate) sites: SiteCounts,
    pub(crate) warnings: Vec<String>,
    pub(crate) summary_terms: Vec<SummaryTerm>,
    pub(crate) generation: u64,
    /// Indexes of the partitions that answered.
    pub(crate) answered: Vec<usize>,
    /// Proof that the hits are those of an unlimited search.
    pub(crate) proof: Option<CertainRanking>,
}

/// Search of a query for one page.
pub(crate) struct PageSearch<'a> {
    pub(crate) cluster: &'a Cluster,
    /// The query for documents with all words.
    pub(crate) query: &'a Arc<Query>,
    /// The query for those that follow where too few hold all words.
    pub(crate) some_words: Option<&'a Arc<Query>>,
    pub(crate) options: &'a SearchOptions,
    /// Fields by which hits are sorted; empty for the order of scores.
    pub(crate) sort: &'a Arc<[SortKey]>,
    /// Where the page begins.
    pub(crate) start: &'a PageStart,
    /// Generation of the page before; 0 for the newest.
    pub(crate) generation: u64,
    pub(crate) cut_off: Instant,
    pub(crate) timeline: &'a Timeline,
}

/// Ranking that holds the hits wanted, or all there are, or all that there was time for.
struct Settled {
    partitions: Vec<Option<PartitionHits>>,
    ranking: KnownRanking,
    admitted: Vec<Candidate>,
    sites: SiteCounts,
    proof: Option<CertainRanking>,
}

impl PageSearch<'_> {
    /// Searches until the page is certain. `coverage` records a cut-off or a limit that ends the search
    /// earlier.
    pub(crate) async fn find(
        &self,
        phases: &mut PhaseTimes,
        coverage: &mut Coverage,
    ) -> Result<Found, SearchError> {
        let mut fan_out = self.fan_out(self.query, self.options.counted, self.generation);
        let (partitions, errors) = fan_out.of_one_generation().await?;
        if partitions.iter().all(Option::is_none) {
            return Err(first_error(errors));
        }
        let counted = self.options.counted;
        note_coverage(self.cluster, &partitions, counted, errors, coverage);
        if coverage.is_nothing() {
            return Err(SearchError::TimedOut {
                part: "the index servers".into(),
            });
        }
        note_times(&partitions, phases);
        let first = self
            .settle(&mut fan_out, partitions, &[], phases, coverage)
            .await?;
        let is_short = first.ranking.is_complete && first.admitted.len() < self.wanted();
        match self.some_words {
            Some(query) if is_short && self.options.k > 0 && Instant::now() < self.cut_off => {
                let generation = fan_out.request.generation;
                self.with_some_words(query, generation, first, phases, coverage)
                    .await
            }
            _ => Ok(self.found(&fan_out, first)),
        }
    }

    /// Returns the number of hits to look for: one more than the page has shows whether another page follows.
    fn wanted(&self) -> usize {
        self.start.start + self.options.k + 1
    }

    fn fan_out<'s>(&'s self, query: &'s Arc<Query>, counted: bool, generation: u64) -> FanOut<'s> {
        FanOut {
            cluster: self.cluster,
            query,
            timeline: self.timeline,
            request: SearchRequest {
                k: first_k(self.wanted(), self.options.site_hits_max()),
                counted,
                sort: Arc::clone(self.sort),
                after: self.start.after.clone().map(Arc::new),
                trace: self.options.trace,
                generation,
                deadline: self.cut_off,
            },
        }
    }

    /// Adds to `first`, the whole ranking of documents with all words, those with some of them.
    async fn with_some_words(
        &self,
        query: &Arc<Query>,
        generation: u64,
        first: Settled,
        phases: &mut PhaseTimes,
        coverage: &mut Coverage,
    ) -> Result<Found, SearchError> {
        let begun = Instant::now();
        let mut fan_out = self.fan_out(query, false, generation);
        let answered = (0..first.partitions.len()).filter(|&at| first.partitions[at].is_some());
        let answered: Vec<usize> = answered.collect();
        let mut partitions = vec![None; first.partitions.len()];
        fan_out
            .ask_again(&answered, &mut partitions, coverage)
            .await?;
        note_times(&partitions, phases);
        let before = &first.ranking.candidates;
        let all = self
            .settle(&mut fan_out, partitions, before, phases, coverage)
            .await?;
        self.timeline
            .note("search for some words", String::new, begun);
        // The total and the warnings are those of the documents with all words.
        let some_words_from = first.admitted.len();
        let total = self.found(&fan_out, first);
        let found = self.found(&fan_out, all);
        Ok(Found {
            matches_count: total.matches_count,
            count_is_exact: total.count_is_exact,
            warnings: total.warnings,
            answered: total.answered,
            some_words_from: Some(some_words_from),
            with_all_words: total.page.len(),
            proof: total.proof.and(found.proof),
            ..found
        })
    }

    /// Merges the rankings of partitions after the candidates of `before`, and repeats the search with a larger k until
    /// as many hits as wanted are certain.
    async fn settle(
        &self,
        fan_out: &mut FanOut<'_>,
        mut partitions: Vec<Option<PartitionHits>>,
        before: &[Candidate],
        phases: &mut PhaseTimes,
        coverage: &mut Coverage,
    ) -> Result<Settled, SearchError> {
        let (options, wanted) = (self.options, self.wanted());
        let mut repeats = 0;
        loop {
            let mut clock = Stopwatch(Instant::now());
            let returned = rankings(&partitions);
            let ranking = match self.sort.is_empty() {
                true => join(before, merge(&returned)),
                false => merge_ordered(&returned, |a, b| {
                    let values = |(partition, at): Place| values_of(&partitions, partition, at);
                    SortKey::order_of(self.sort, values(a), values(b))
                }),
            };
            let (admitted, sites) = admit(&ranking, options.site_hits_max(), wanted);
            self.timeline.note("merge", String::new, clock.0);
            phases.merge += clock.lap_us();
            let is_settled = admitted.len() >= wanted || ranking.is_complete;
            // The time after the cut-off belongs to details and summaries.
            let no_time = Instant::now() >= self.cut_off;
            let k_next = next_k(&returned, fan_out.request.k, repeats);
            if is_settled || no_time || k_next.is_none() {
                if !is_settled {
                    for (group, found) in self.cluster.partitions.iter().zip(&partitions) {
                        if found.as_ref().is_some_and(|found| found.is_cut) {
                            let hits_max = (!no_time).then_some(fan_out.request.k);
                            coverage.lacks_hits(&group.chunks, hits_max);
                        }
                    }
                }
                let counted = fan_out.request.counted;
                let proof = certain(&partitions, counted, &ranking, &admitted, wanted);
                return Ok(Settled {
                    partitions,
                    ranking,
                    admitted,
                    sites,
                    proof,
                });
            }
            let begun = Instant::now();
            repeats += 1;
            // Partitions that returned all their matches are not searched again.
            let is_cut = |&at: &usize| partitions[at].as_ref().is_some_and(|found| found.is_cut);
            let cut: Vec<usize> = (0..partitions.len()).filter(is_cut).collect();
            fan_out.request.k = k_next.unwrap_or(fan_out.request.k);
            fan_out.ask_again(&cut, &mut partitions, coverage).await?;
            self.timeline
                .note("optimization search", String::new, begun);
            phases.optimization_searches += clock.lap_us();
        }
    }

    fn found(&self, fan_out: &FanOut<'_>, settled: Settled) -> Found {
        let Settled {
            partitions,
            ranking,
            admitted,
            sites,
            proof,
        } = settled;
        let page_end = self.start.start + self.options.k;
        let start = self.start.start.min(admitted.len());
        let end = page_end.min(admitted.len());
        let answered = || partitions.iter().flatten();
        let first = answered().next();
        let page = admitted[start..end].to_vec();
        let values = |candidate: &Candidate| {
            let found = partitions[candidate.partition].as_ref()?;
            let at = found.hits.iter().position(|hit| *hit == candidate.hit)?;
            Some(values_of(&partitions, candidate.partition, at).to_vec())
        };
        let sort_values = match self.sort.is_empty() {
            true => Vec::new(),
            false => page
                .iter()
                .map(|one| values(one).unwrap_or_default())
                .collect(),
        };
        let query_of_sites = self.some_words.unwrap_or(self.query);
        let has_all = Arc::ptr_eq(fan_out.query, query_of_sites);
        Found {
            query: Arc::clone(fan_out.query),
            query_of_all_words: Arc::clone(self.query),
            query_of_sites: Arc::clone(query_of_sites),
            with_all_words: page.len(),
            page,
            sort_values,
            facets: Vec::new(),
            more_hits: admitted.len() > page_end,
            some_words_from: None,
            matches_count: answered().map(|found| found.matches_count).sum(),
            count_is_exact: answered().all(|found| found.count_is_exact),
            ranking_is_complete: ranking.is_complete && has_all,
            proof,
            sites,
            warnings: first
                .map(|found| found.warnings.clone())
                .unwrap_or_default(),
            summary_terms: first
                .map(|found| found.summary_terms.clone())
                .unwrap_or_default(),
            generation: fan_out.request.generation,
            answered: (0..partitions.len())
                .filter(|&at| partitions[at].is_some())
                .collect(),
        }
    }
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

fn note_coverage(
    cluster: &Cluster,
    partitions: &[Option<PartitionHits>],
    counted: bool,
    errors: Vec<(Chunks, ServerError)>,
    coverage: &mut Coverage,
) {
    for (group, found) in cluster.partitions.iter().zip(partitions) {
        if let Some(found) = found {
            coverage.searched(
                &group.chunks,
                found.documents_searched,
                found.documents_count,
                found.count_is_exact || !counted,
            );
        }
    }
    if errors.is_empty() {
        return;
    }
    // The number of documents of a lost part comes from its last status, or else from its number of
    // chunks.
    let known = cluster.known();
    for (chunks, error) in errors {
        let group = cluster
            .partitions
            .iter()
            .find(|group| group.chunks == chunks);
        let share = chunks.clone().count() as u64;
        let guess = known.documents_count * share / u64::from(known.chunks_count.max(1));
        let known_count =
            group.and_then(|group| group.status(|status| status.documents_here_count));
        let count = known_count.unwrap_or(guess.max(1));
        coverage.lost(&chunks, count, &error);
    }
}
