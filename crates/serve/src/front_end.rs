//! The front-end: takes a query, asks index servers and document servers, gives an answer.
//!
//! ```text
//! fan-out ─► merge, limit sites ─► details ─► summaries ─► answer
//!    ▲               │                 └─► counts of sites ──┘
//!    └── k doubled ◄─┘ too few admitted, and more may match ("optimization search")
//! ```
//!
//! The timeout counts from the arrival here, includes queueing, and travels down with every call. What is
//! not there when it has passed is left out and named ([`crate::coverage`]).

use crate::assemble::{MadeSummary, assemble};
use crate::cache::{Cache, CacheFigures};
use crate::cluster::{Cluster, Known};
use crate::coverage::{COUNT, Coverage, DETAILS, SUMMARIES};
use crate::fan_out::{Found, find};
use crate::generations::Generations;
use crate::journal::Journal;
use crate::replicas::Call;
use crate::timeline::{Stopwatch, Timeline};
use crate::transport::{
    CountSitesRequest, DetailsRequest, HitDetails, Query, ServerError, SummariesRequest,
    as_search_error,
};
use crate::{SearchError, SearchOptions, ServeError, Topology};
use futures_util::future::join_all;
use index::{Index, StoredDocument};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use text::summary::SummaryTerm;
use tokio::sync::Semaphore;
use tracing::{Instrument, debug_span};
use wire::{PhaseTimes, SearchAnswer, Total};

/// What a front-end does on its own account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontEndOptions {
    /// The time that a query gets that names none, and the most that any gets.
    pub timeout: Duration,
    /// Queries answered at once; more are refused.
    pub concurrency: usize,
    /// Bytes of answers that are kept for who asks the same again; 0 keeps none.
    pub cache_bytes: usize,
}

impl Default for FrontEndOptions {
    fn default() -> Self {
        FrontEndOptions {
            timeout: Duration::from_secs(10),
            concurrency: 1024,
            cache_bytes: 0,
        }
    }
}

/// Of the timeout, what is kept for details and summaries: a tenth, within these bounds.
const RESERVE_MIN: Duration = Duration::from_millis(1);
const RESERVE_MAX: Duration = Duration::from_millis(50);

/// The front-end of an index. Searches any number of queries at once.
pub struct FrontEnd {
    pub(crate) cluster: Cluster,
    options: FrontEndOptions,
    admitted: Semaphore,
    cache: Option<Cache>,
    query_ids: AtomicU64,
    journal: Journal,
}

impl FrontEnd {
    /// Starts index servers and a document server for an index that never changes, in this process.
    pub fn start(index: Arc<Index>, topology: &Topology) -> Result<FrontEnd, ServeError> {
        let generations = Generations::fixed(index);
        let cluster = Cluster::in_process(&generations, topology, &[], None)?;
        Ok(FrontEnd::new(cluster, FrontEndOptions::default()))
    }

    /// A front-end before given servers.
    pub fn new(cluster: Cluster, options: FrontEndOptions) -> FrontEnd {
        FrontEnd {
            cluster,
            admitted: Semaphore::new(options.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            cache: (options.cache_bytes > 0).then(|| Cache::new(options.cache_bytes)),
            options,
            query_ids: AtomicU64::new(1),
            journal: Journal::default(),
        }
    }

    /// What is known of the index.
    pub fn known(&self) -> Known {
        self.cluster.known()
    }

    /// How the cache fares; `None` where there is none.
    pub(crate) fn cache_figures(&self) -> Option<CacheFigures> {
        self.cache.as_ref().map(Cache::figures)
    }

    /// Has every server open the newest generation of the index; that which is answered from then.
    pub async fn reload(&self) -> Result<u64, SearchError> {
        let generation = self.cluster.reload().await;
        generation.map_err(|error| as_search_error("a server", error))
    }

    /// A document as stored.
    pub async fn document(&self, url: &str) -> Result<Option<StoredDocument>, SearchError> {
        let unknown = || SearchError::Unavailable {
            part: "the document server".into(),
            reason: "no server of its chunk is known".into(),
        };
        let chunk = self.known().chunk_of(corpus::url_hash(url));
        let part = self.cluster.texts_of(chunk).ok_or_else(unknown)?;
        let deadline = Instant::now() + self.options.timeout;
        let (part, calls) = (&self.cluster.texts[part], &self.cluster.calls);
        let found = part.call(Call::Document, calls, deadline, |server, reply| {
            server.document(url, reply);
        });
        found
            .await
            .map_err(|error| as_search_error("the document server", error))
    }

    /// Answers a query.
    pub async fn search(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Result<SearchAnswer, SearchError> {
        let arrived = Instant::now();
        let id = self.query_ids.fetch_add(1, Ordering::Relaxed);
        let answered = self
            .search_numbered(id, query, options, arrived)
            .instrument(debug_span!("query", query = id))
            .await;
        self.journal.note(id, &answered);
        answered
    }

    async fn search_numbered(
        &self,
        id: u64,
        query: &str,
        options: &SearchOptions,
        arrived: Instant,
    ) -> Result<SearchAnswer, SearchError> {
        options.validate()?;
        let Ok(_admitted) = self.admitted.try_acquire() else {
            return Err(SearchError::Overloaded {
                part: "the front-end".into(),
                waiting: self.options.concurrency,
            });
        };
        let known = self.known();
        let generation = known.generation;
        if let Some(cache) = &self.cache
            && let Some(answer) = cache.get(query, options, generation, arrived)
        {
            return Ok(answer);
        }
        let answer = self.search_now(id, query, options, known, arrived).await?;
        if let Some(cache) = &self.cache
            && answer.degraded.is_empty()
        {
            cache.put(query, options, generation, &answer);
        }
        Ok(answer)
    }

    async fn search_now(
        &self,
        id: u64,
        text: &str,
        options: &SearchOptions,
        known: Known,
        arrived: Instant,
    ) -> Result<SearchAnswer, SearchError> {
        let timeout = options.timeout.unwrap_or(self.options.timeout);
        let timeout = timeout.min(self.options.timeout);
        let deadline = arrived + timeout;
        let reserve = (timeout / 10).clamp(RESERVE_MIN, RESERVE_MAX);
        let cut_off = deadline.checked_sub(reserve).unwrap_or(arrived);
        let timeline = Timeline::new(arrived, options.trace);
        let mut phases = PhaseTimes::default();
        let mut coverage = Coverage::default();
        let query = Query::new(id, text.to_owned(), options.operator, options.ranking);
        let query = Arc::new(query);

        let found = find(
            &self.cluster,
            &query,
            options,
            cut_off,
            &mut phases,
            &mut coverage,
            &timeline,
        )
        .await?;
        let mut clock = Stopwatch(Instant::now());

        let details = self
            .details(
                &query,
                &found,
                options.explain,
                deadline,
                &mut coverage,
                &timeline,
            )
            .instrument(debug_span!("details", query = id))
            .await?;
        phases.details = clock.lap_us();

        let counting = Instant::now();
        let counts = async {
            let counts = self.site_counts(&query, &found, &details, options.per_site, deadline);
            let counts = counts.await;
            timeline.note("counts", String::new, counting);
            counts
        };
        let summaries = self
            .summaries(&query, known, &found, &details, deadline, &timeline)
            .instrument(debug_span!("summaries", query = id));
        let (counts, (summaries, losses)) = tokio::join!(counts, summaries);
        phases.summaries = clock.lap_us();
        for (part, error) in losses {
            coverage.lacks(SUMMARIES, &self.cluster.texts[part].chunks, &error);
        }
        let has_more = counts.unwrap_or_else(|(partition, error)| {
            coverage.lacks(COUNT, &self.cluster.partitions[partition].chunks, &error);
            HashMap::new()
        });
        if !options.partial
            && let Some(refusal) = coverage.refusal()
        {
            return Err(refusal);
        }

        let mut warnings = found.warnings.clone();
        let total = Total {
            value: found.matches_count,
            exact: found.count_is_exact && coverage.share() == 1.0,
        };
        let more_hits = found.more_hits;
        let hits = assemble(found, details, summaries, &has_more, &mut warnings);
        phases.total = arrived.elapsed().as_micros() as u64;
        Ok(SearchAnswer {
            query: text.to_owned(),
            total,
            hits,
            more_hits,
            phases_us: phases,
            warnings,
            coverage: coverage.share(),
            timed_out: coverage.timed_out(),
            degraded: coverage.into_degraded(),
            trace: timeline.into_spans(),
        })
    }

    /// Details of the page's hits, in their order; `None` for hits whose server is lost.
    async fn details(
        &self,
        query: &Arc<Query>,
        found: &Found,
        explain: bool,
        deadline: Instant,
        coverage: &mut Coverage,
        timeline: &Timeline,
    ) -> Result<Vec<Option<HitDetails>>, SearchError> {
        let mut asked: Vec<Vec<usize>> = vec![Vec::new(); self.cluster.partitions.len()];
        for (place, candidate) in found.page.iter().enumerate() {
            asked[candidate.partition].push(place);
        }
        let asked: Vec<_> = asked
            .iter()
            .enumerate()
            .filter(|(_, places)| !places.is_empty())
            .collect();
        let answered = join_all(asked.iter().map(|&(partition, places)| async move {
            let address =
                |&place: &usize| (found.page[place].hit.segment, found.page[place].hit.doc);
            let request = DetailsRequest {
                hits: places.iter().map(address).collect(),
                explain,
                generation: found.generation,
                deadline,
            };
            let group = &self.cluster.partitions[partition];
            let begun = Instant::now();
            let answer = group
                .call(
                    Call::Details,
                    &self.cluster.calls,
                    deadline,
                    |server, reply| {
                        server.details(query, request.clone(), reply);
                    },
                )
                .await;
            timeline.note("details", || crate::tables::part_of(&group.chunks), begun);
            answer
        }))
        .await;
        let mut details: Vec<Option<HitDetails>> = vec![None; found.page.len()];
        let mut errors = Vec::new();
        for ((partition, places), answer) in asked.into_iter().zip(answered) {
            let chunks = &self.cluster.partitions[partition].chunks;
            let answer = answer.and_then(|answered| match answered.len() == places.len() {
                true => Ok(answered),
                false => Err(ServerError::Unavailable {
                    reason: "it answered with fewer details than it was asked for; update it"
                        .into(),
                }),
            });
            match answer {
                Ok(answered) => {
                    for (&place, answer) in places.iter().zip(answered) {
                        details[place] = Some(answer);
                    }
                }
                Err(error) => {
                    coverage.lacks(DETAILS, chunks, &error);
                    errors.push((chunks.clone(), error));
                }
            }
        }
        if !errors.is_empty() && details.iter().all(Option::is_none) {
            return Err(crate::coverage::first_error(errors));
        }
        Ok(details)
    }

    /// Whether the sites of the page (by hash) have more matches than the limit. Asks only where the
    /// ranking known so far does not decide it.
    async fn site_counts(
        &self,
        query: &Arc<Query>,
        found: &Found,
        details: &[Option<HitDetails>],
        per_site: u32,
        deadline: Instant,
    ) -> Result<HashMap<u64, bool>, (usize, ServerError)> {
        let mut has_more = HashMap::with_capacity(found.page.len());
        let mut hashes = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (candidate, detail) in found.page.iter().zip(details) {
            let site_hash = candidate.hit.site_hash;
            let Some(detail) = detail else { continue };
            if has_more.contains_key(&site_hash) || hashes.contains(&site_hash) {
                continue;
            }
            // The whole site has no more documents than the limit, whatever the query.
            let is_small = (1..=u64::from(per_site)).contains(&detail.site_documents_count);
            if per_site == 0 || found.ranking_is_complete || is_small {
                let known = found.sites.count(site_hash) > per_site;
                has_more.insert(site_hash, per_site > 0 && known);
            } else if found.sites.count(site_hash) > per_site {
                has_more.insert(site_hash, true);
            } else {
                hashes.push(site_hash);
                names.push(detail.details.site.clone());
            }
        }
        if names.is_empty() {
            return Ok(has_more);
        }
        let request = CountSitesRequest {
            sites: names.into(),
            limit: u64::from(per_site) + 1,
            generation: found.generation,
            deadline,
        };
        let mut sums = vec![0u64; hashes.len()];
        let asked = found.answered.iter().map(|&partition| {
            let request = &request;
            self.cluster.partitions[partition].call(
                Call::CountSites,
                &self.cluster.calls,
                deadline,
                move |server, reply| server.count_sites(query, request.clone(), reply),
            )
        });
        for (&partition, counts) in found.answered.iter().zip(join_all(asked).await) {
            let counts = counts.map_err(|error| (partition, error))?;
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        for (&site_hash, &sum) in hashes.iter().zip(&sums) {
            has_more.insert(site_hash, sum > u64::from(per_site));
        }
        Ok(has_more)
    }

    /// The summaries of hits, in their order; and the document parts that failed.
    async fn summaries(
        &self,
        query: &Query,
        known: Known,
        found: &Found,
        details: &[Option<HitDetails>],
        deadline: Instant,
        timeline: &Timeline,
    ) -> (Vec<MadeSummary>, Vec<(usize, ServerError)>) {
        let mut made = vec![MadeSummary::Lost; details.len()];
        let mut asked: Vec<Vec<usize>> = vec![Vec::new(); self.cluster.texts.len()];
        for (place, (candidate, detail)) in found.page.iter().zip(details).enumerate() {
            let part = self
                .cluster
                .texts_of(known.chunk_of(candidate.hit.url_hash));
            if let (Some(_), Some(part)) = (detail, part) {
                asked[part].push(place);
            }
        }
        let terms: Arc<[SummaryTerm]> = found.summary_terms.clone().into();
        let asked: Vec<_> = asked
            .iter()
            .enumerate()
            .filter(|(_, places)| !places.is_empty())
            .collect();
        let answered = join_all(asked.iter().map(|&(part, places)| {
            let url = |&place: &usize| {
                details[place]
                    .as_ref()
                    .map_or_else(String::new, |hit| hit.details.url.clone())
            };
            let request = SummariesRequest {
                query_id: query.id,
                urls: places.iter().map(url).collect(),
                terms: Arc::clone(&terms),
                generation: found.generation,
                deadline,
            };
            let group = &self.cluster.texts[part];
            async move {
                let begun = Instant::now();
                let answer = group
                    .call(
                        Call::Summaries,
                        &self.cluster.calls,
                        deadline,
                        |server, reply| {
                            server.summaries(request.clone(), reply);
                        },
                    )
                    .await;
                timeline.note("summaries", || crate::tables::part_of(&group.chunks), begun);
                answer
            }
        }))
        .await;
        let mut losses = Vec::new();
        for ((part, places), answer) in asked.into_iter().zip(answered) {
            match answer {
                Ok(summaries) => {
                    for (&place, summary) in places.iter().zip(summaries) {
                        made[place] = summary.map_or(MadeSummary::NoText, MadeSummary::Html);
                    }
                }
                Err(error) => losses.push((part, error)),
            }
        }
        (made, losses)
    }
}
