//! Front-end: calls index servers and document servers to answer queries.
//!
//! ```text
//! fan-out ─► merge, limit sites ─► what the hits show ─► answer
//!    ▲               │
//!    └── k doubled ◄─┘ too few admitted, and more may match ("optimization search")
//! ```
//!
//! The timeout counts from the arrival at the front-end, includes queueing, and travels with every
//! call. Parts that miss the deadline are left out and named ([`crate::front_end::coverage`]).

mod assemble;
mod begun;
mod cache;
mod coverage;
mod facet_phase;
mod fan_out;
mod fetch_phase;
mod fetch_proof;
mod proof;
mod query_log;
mod query_phase;
mod suggest;
mod timeline;
pub(crate) mod told;

use crate::api::error::{SearchError, ServeError};
use crate::api::options::ANSWER_BYTES_MAX;
use crate::api::options::SearchOptions;
use crate::cluster::replicas::Call;
use crate::cluster::{Cluster, Known};
use crate::deploy::partitioning::Topology;
use crate::front_end::assemble::assemble;
use crate::front_end::begun::Begun;
use crate::front_end::cache::{Cache, CacheFigures, Key};
use crate::front_end::coverage::{Complete, Coverage, FACETS};
use crate::front_end::facet_phase::FacetPhase;
use crate::front_end::fetch_phase::{Page, Shown};
use crate::front_end::query_log::QueryLog;
use crate::front_end::query_phase::{Found, PageSearch};
use crate::handlers::options::HandlerOptions;
use engine::{Cursors, Epoch, Generations};
use index::{Index, StoredDocument};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tracing::{Instrument, debug_span};
use wire::{Hit, PhaseTimes, SearchAnswer, Total};

/// Options of a front-end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontEndOptions {
    /// Default timeout of a query, and its upper limit.
    pub timeout: Duration,
    /// Upper limit on concurrent queries; more are refused.
    pub concurrency: usize,
    /// Size of the result cache, in bytes; 0 switches it off.
    pub cache_bytes: usize,
    /// Upper limit on one answer, in bytes.
    pub answer_bytes_max: usize,
    /// Whether scores are explained on request.
    pub explain: bool,
    /// Whether the steps of a query are traced on request.
    pub trace: bool,
}

impl Default for FrontEndOptions {
    fn default() -> Self {
        FrontEndOptions {
            timeout: Duration::from_secs(10),
            concurrency: 1024,
            cache_bytes: 0,
            answer_bytes_max: ANSWER_BYTES_MAX,
            explain: true,
            trace: true,
        }
    }
}

impl FrontEndOptions {
    /// Returns the timeout of a query: its own, up to the limit of the front-end.
    fn timeout_of(&self, options: &SearchOptions) -> Duration {
        let named = options.timeout.unwrap_or(self.timeout);
        named.min(self.timeout)
    }
}

/// Lower limit of the time reserved for details and summaries: a tenth of the timeout, within two
/// bounds.
const RESERVE_MIN: Duration = Duration::from_millis(1);
const RESERVE_MAX: Duration = Duration::from_millis(50);

/// Front-end of an index. It answers any number of queries concurrently.
pub struct FrontEnd {
    pub(crate) cluster: Cluster,
    options: FrontEndOptions,
    admitted: Semaphore,
    cache: Option<Cache>,
    query_ids: AtomicU64,
    query_log: QueryLog,
}

impl FrontEnd {
    /// Starts a front-end, index servers and a document server in this process, for an index that never
    /// changes.
    pub fn start(index: Arc<Index>, topology: &Topology) -> Result<FrontEnd, ServeError> {
        let generations = Generations::fixed(index);
        let cluster = Cluster::in_process(&generations, topology, &[], &HandlerOptions::default())?;
        Ok(FrontEnd::new(cluster, FrontEndOptions::default()))
    }

    /// Returns a front-end for a cluster of servers.
    pub fn new(cluster: Cluster, options: FrontEndOptions) -> FrontEnd {
        FrontEnd {
            cluster,
            admitted: Semaphore::new(options.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            cache: (options.cache_bytes > 0).then(|| Cache::new(options.cache_bytes)),
            options,
            query_ids: AtomicU64::new(1),
            query_log: QueryLog::default(),
        }
    }

    /// Returns the known properties of the index.
    pub fn known(&self) -> Known {
        self.cluster.known()
    }

    /// Returns the counters of the result cache; `None` without one.
    pub(crate) fn cache_figures(&self) -> Option<CacheFigures> {
        self.cache.as_ref().map(Cache::figures)
    }

    /// Makes every server open the newest generation of the index, and returns the generation then
    /// served.
    pub async fn reload(&self) -> Result<u64, SearchError> {
        let generation = self.cluster.reload().await;
        generation.map_err(|error| error.into_search_error("a server"))
    }

    /// Returns a document as stored.
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
            .map_err(|error| error.into_search_error("the document server"))
    }

    /// Answers a query.
    pub async fn search(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Result<SearchAnswer, SearchError> {
        self.search_told(query, options).await.1
    }

    /// Returns the timeout of a query.
    pub(crate) fn timeout_of(&self, options: &SearchOptions) -> Duration {
        self.options.timeout_of(options)
    }

    /// Assigns a number to a failed request that is no query, and logs the failure.
    pub(crate) fn failed(&self, error: &SearchError) -> u64 {
        let id = self.query_ids.fetch_add(1, Ordering::Relaxed);
        self.query_log.failed(id, error);
        id
    }

    /// Answers a query and returns its number in the log.
    pub(crate) async fn search_told(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> (u64, Result<SearchAnswer, SearchError>) {
        let arrived = Instant::now();
        let id = self.query_ids.fetch_add(1, Ordering::Relaxed);
        let answered = self
            .search_numbered(id, query, options, arrived)
            .instrument(debug_span!("query", query = id))
            .await;
        self.query_log.note(id, &answered);
        (id, answered)
    }

    async fn search_numbered(
        &self,
        id: u64,
        query: &str,
        options: &SearchOptions,
        arrived: Instant,
    ) -> Result<SearchAnswer, SearchError> {
        options.validate()?;
        self.validate(options)?;
        let Ok(_admitted) = self.admitted.try_acquire() else {
            return Err(SearchError::Overloaded {
                part: "the front-end".into(),
                waiting: self.options.concurrency,
            });
        };
        let known = self.known();
        let generation = known.generation;
        let begun = Begun::new(id, query, options, known.clone(), arrived)?;
        // Before anything is read.
        let epoch = self.cache.as_ref().map(|_| self.cluster.trust_epoch());
        let key = epoch.and_then(|epoch| Key::of(&begun, epoch));
        if let Some(cache) = &self.cache
            && let Some(answer) = cache.get(key.as_ref(), &begun)
        {
            return Ok(answer);
        }
        let (mut answer, proof) = self.search_now(begun).await?;
        if options.suggests(&answer) {
            answer.did_you_mean = self.did_you_mean(id, query, options, known, arrived).await;
            answer.phases_us.total = arrived.elapsed().as_micros() as u64;
        }
        // An answer of a newer generation than was known at the arrival is not cached under the older
        // one, nor one during which a file changed. Servers have compared the stamps of all files after they made
        // their replies.
        if let (Some(cache), Some(key), Some((proof, answered))) = (&self.cache, key, &proof)
            && *answered == generation
            && epoch == Some(self.cluster.trust_epoch())
        {
            cache.put(key, &answer, proof);
        }
        Ok(answer)
    }

    /// Refuses options that this front-end does not offer.
    fn validate(&self, options: &SearchOptions) -> Result<(), SearchError> {
        let refused = |parameter| SearchError::BadRequest {
            parameter,
            reason: "it is switched off at this server; leave it out".into(),
        };
        match options {
            SearchOptions { explain: true, .. } if !self.options.explain => Err(refused("explain")),
            SearchOptions { trace: true, .. } if !self.options.trace => Err(refused("trace")),
            _ => Ok(()),
        }
    }

    /// Returns the upper limit on one answer, in bytes.
    pub(crate) fn answer_bytes_max(&self) -> usize {
        self.options.answer_bytes_max
    }

    /// Answers a query within its timeout. If a server closes the generation of the query, the query
    /// begins again with a newer one as often as time allows: no reload makes an answer fail or lack a
    /// part.
    async fn search_now(&self, begun: Begun) -> Result<Answered, SearchError> {
        let (timeout, arrived) = (self.options.timeout_of(&begun.options), begun.arrived);
        let deadline = arrived + timeout;
        let reserve = (timeout / 10).clamp(RESERVE_MIN, RESERVE_MAX);
        let cut_off = deadline.checked_sub(reserve).unwrap_or(arrived);
        loop {
            let mut coverage = Coverage::default();
            let answered = self.attempt(&begun, cut_off, deadline, &mut coverage).await;
            let is_gone = match &answered {
                Err(SearchError::GenerationGone { .. }) => true,
                _ => coverage.generation_is_gone(),
            };
            if !is_gone || Instant::now() >= cut_off {
                return self.finished(begun, answered, coverage);
            }
        }
    }

    /// Searches one generation and fetches the details and summaries of the hits.
    async fn attempt(
        &self,
        begun: &Begun,
        cut_off: Instant,
        deadline: Instant,
        coverage: &mut Coverage,
    ) -> Result<Gathered, SearchError> {
        let mut phases = PhaseTimes {
            parse: begun.parse_us,
            ..PhaseTimes::default()
        };
        let (cluster, timeline) = (&self.cluster, &begun.timeline);
        let search = PageSearch {
            cluster,
            query: &begun.query,
            some_words: begun.some_words.as_ref(),
            options: &begun.options,
            sort: &begun.sort,
            start: &begun.start,
            generation: begun.cursors.as_ref().map_or(0, Cursors::generation),
            cut_off,
            timeline,
        };
        let mut found = search.find(&mut phases, coverage).await?;
        let facets = FacetPhase {
            cluster,
            groups: &begun.facets,
            deadline,
            timeline,
        };
        let page = Page {
            cluster,
            known: begun.known.clone(),
            found: &found,
            options: &begun.options,
            deadline,
            timeline,
            bytes_max: self.options.answer_bytes_max,
        };
        // Facets are counted while details and summaries are read.
        let (shown, (facets, losses)) =
            tokio::join!(page.ask(&mut phases, coverage), facets.count(&found));
        let shown = shown?;
        for (chunks, error) in losses {
            coverage.lacks(FACETS, &chunks, &error);
        }
        found.facets = facets;
        Ok((found, shown, phases))
    }

    /// Returns the answer of the last attempt, or its refusal.
    fn finished(
        &self,
        begun: Begun,
        gathered: Result<Gathered, SearchError>,
        mut coverage: Coverage,
    ) -> Result<Answered, SearchError> {
        let (mut found, mut shown, mut phases) = gathered?;
        let options = &begun.options;
        let generation = found.generation;
        let complete = coverage.complete(found.proof.take(), shown.proof.take());
        if !options.partial
            && let Some(refusal) = coverage.refusal()
        {
            return Err(refusal);
        }
        let mut warnings = match &begun.warnings {
            Some(warnings) => warnings.clone(),
            None => found.warnings.clone(),
        };
        let total = Total {
            value: found.matches_count,
            exact: found.count_is_exact && coverage.share() == 1.0,
        };
        let (after, moved) = cursors(&begun, &found);
        let (more_hits, some_words_from) = (found.more_hits, found.some_words_from);
        let facets = std::mem::take(&mut found.facets);
        let hits = assemble(found, shown, begun.known.analyzer, &mut warnings);
        self.check_size(&hits, options)?;
        phases.total = begun.arrived.elapsed().as_micros() as u64;
        if let Some(times) = begun.timeline.handlers_us() {
            phases.search_cpu = Some(times.cpu);
            phases.run_queue = Some(times.run_queue);
        }
        let (trace, schedule) = match begun.timeline.into_steps() {
            Some(steps) => (Some(steps.spans), steps.schedules),
            None => (None, Vec::new()),
        };
        let answer = SearchAnswer {
            query: begun.query.text.clone(),
            total,
            hits,
            some_words_from,
            facets,
            did_you_mean: None,
            more_hits,
            after,
            moved,
            phases_us: phases,
            warnings,
            coverage: coverage.share(),
            timed_out: coverage.timed_out(),
            degraded: coverage.into_degraded(),
            trace,
            schedule,
        };
        Ok((answer, complete.map(|proof| (proof, generation))))
    }

    /// Refuses hits whose texts alone exceed the limit on an answer, before they are serialized. Their fields are cut where
    /// they are written, once it is known which of them are asked for.
    fn check_size(&self, hits: &[Hit], options: &SearchOptions) -> Result<(), SearchError> {
        let texts = |hit: &Hit| {
            let texts = [&hit.url, &hit.title, &hit.title_html, &hit.summary];
            texts.iter().map(|text| text.len()).sum::<usize>()
        };
        let bytes_max = self.options.answer_bytes_max;
        match hits.iter().map(texts).sum::<usize>() > bytes_max {
            true => Err(SearchError::too_large(options.explain, bytes_max)),
            false => Ok(()),
        }
    }
}

/// Returns the cursor of the last hit found, and whether the page is not exactly the one after the page before.
fn cursors(begun: &Begun, found: &Found) -> (Option<String>, bool) {
    let Some(cursors) = &begun.cursors else {
        return (None, false);
    };
    let epoch = Epoch {
        index_id: &begun.known.index_id,
        generation: found.generation,
    };
    let after = found.page.last().map(|last| {
        let values = found.sort_values.last().cloned().unwrap_or_default();
        cursors.next(&last.hit, values, found.page.len(), epoch)
    });
    (after, cursors.is_moved(epoch, &begun.start))
}

/// An answer; a complete one with its proof and its generation.
type Answered = (SearchAnswer, Option<(Complete, u64)>);
/// Result of one attempt.
type Gathered = (Found, Shown, PhaseTimes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_query_gets_more_time_than_the_server_allows() {
        let server = FrontEndOptions {
            timeout: Duration::from_secs(2),
            ..FrontEndOptions::default()
        };
        let timeout_of = |timeout| {
            server.timeout_of(&SearchOptions {
                timeout,
                ..SearchOptions::default()
            })
        };
        assert_eq!(timeout_of(None), Duration::from_secs(2));
        assert_eq!(
            timeout_of(Some(Duration::from_secs(1))),
            Duration::from_secs(1)
        );
        assert_eq!(
            timeout_of(Some(Duration::from_secs(3_600))),
            Duration::from_secs(2)
        );
    }
}
