//! Front-end: calls index servers and document servers to answer queries.
//!
//! ```text
//! query ─► cache ─► coordinator ── calls ──► replicas of each part ──► replies ──┐
//!                       ▲  └─► answer ─► log, cache                             │
//!                       └───────────────────────────────────────────────────────┘
//! ```
//!
//! What is asked, and what becomes of the replies, is the [coordinator's](engine::Coordinator) to say. The timeout counts
//! from the arrival at the front-end, includes queueing, and travels with every call. Parts that miss the deadline are left
//! out and named.

mod cache;
mod driver;
mod fan_out;
mod kept_rules;
mod options;
mod query_log;
pub(crate) mod shared;
pub(crate) mod told;

pub use options::FrontEndOptions;

use crate::addresses::{Addresses, KeptAddresses, hash_of};
use crate::api::options::{DEPTH_MAX, SearchOptions, validate};
use crate::cluster::replicas::Call;
use crate::cluster::{Cluster, Known};
use crate::front_end::cache::Key;
use crate::front_end::kept_rules::KeptRules;
use crate::front_end::shared::Shared;
use crate::telemetry::CacheFigures;
use engine::{
    Corrected, Correction, IndexFacts, Outcome, PreparedQuery, QueryRules, QuerySource,
    SearchError, Titles, shown_instead,
};
use index::StoredDocument;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use text::Analyzer;
use tokio::sync::SemaphorePermit;
use tracing::{Instrument, debug_span};
use wire::{SearchAnswer, SuggestAnswer};

/// Front-end of an index. It answers any number of queries concurrently.
pub struct FrontEnd {
    pub(crate) cluster: Cluster,
    shared: Arc<Shared>,
    /// Number among the front-ends of the process.
    number: u64,
    /// Name of the index, where the process has several.
    name: Option<Arc<str>>,
    addresses: KeptAddresses,
    rules: KeptRules,
}

impl FrontEnd {
    /// Returns a front-end for a cluster of servers.
    pub fn new(cluster: Cluster, options: FrontEndOptions) -> FrontEnd {
        FrontEnd::of_index(cluster, Arc::new(Shared::new(options)), None)
    }

    /// Returns the front-end of one index of several in this process, which share limits, cache and log.
    pub(crate) fn of_index(
        cluster: Cluster,
        shared: Arc<Shared>,
        name: Option<Arc<str>>,
    ) -> FrontEnd {
        static FRONT_ENDS: AtomicU64 = AtomicU64::new(0);
        FrontEnd {
            cluster,
            shared,
            number: FRONT_ENDS.fetch_add(1, Ordering::Relaxed),
            name,
            addresses: KeptAddresses::default(),
            rules: KeptRules::default(),
        }
    }

    /// Returns how addresses of the index are shown.
    pub(crate) fn addresses(&self) -> Arc<Addresses> {
        let options = &self.shared.options.addresses;
        self.addresses.of(options, &self.known().folders)
    }

    /// Returns the folders whose files are sent.
    pub(crate) fn originals(&self) -> &[PathBuf] {
        &self.shared.options.addresses.originals
    }

    /// Returns the name of the index, where the process has several.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the known properties of the index.
    pub fn known(&self) -> Known {
        self.cluster.known()
    }

    /// Returns the counters of the result cache; `None` without one.
    pub(crate) fn cache_figures(&self) -> Option<CacheFigures> {
        self.shared.cache_figures()
    }

    /// Makes every server open the newest generation of the index, and returns the generation then
    /// served.
    pub async fn reload(&self) -> Result<u64, SearchError> {
        let generation = self.cluster.reload().await;
        generation.map_err(|error| error.into_search_error("a server"))
    }

    /// Returns a document as stored, by its address or by one that hides its folder.
    pub async fn document(&self, url: &str) -> Result<Option<StoredDocument>, SearchError> {
        let unknown = || SearchError::Unavailable {
            part: "the document server".into(),
            reason: "no server of its chunk is known".into(),
        };
        let hash = hash_of(url).unwrap_or_else(|| document::url_hash(url));
        let chunk = self.known().chunk_of(hash);
        let part = self.cluster.texts_of(chunk).ok_or_else(unknown)?;
        let deadline = Instant::now() + self.shared.options.timeout;
        let (part, calls) = (&self.cluster.texts[part], &self.cluster.calls);
        let found = part.call(Call::Document, calls, deadline, |server, reply| {
            server.document(url, reply);
        });
        found
            .await
            .map_err(|error| error.into_search_error("the document server"))
    }

    /// Answers a query: a text as typed, words, or a tree of clauses.
    pub async fn search<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
        options: &SearchOptions,
    ) -> Result<SearchAnswer, SearchError> {
        self.search_told(query.into(), options).await.1
    }

    /// Returns the timeout of a query.
    pub(crate) fn timeout_of(&self, options: &SearchOptions) -> Duration {
        self.shared.options.timeout_of(options)
    }

    /// Assigns a number to a failed request that is no query, and logs the failure.
    pub(crate) fn failed(&self, error: &SearchError) -> u64 {
        let id = self.shared.next_query();
        self.shared.query_log.failed(id, self.name(), error);
        id
    }

    /// Answers a query and returns its number in the log.
    pub(crate) async fn search_told(
        &self,
        query: QuerySource<'_>,
        options: &SearchOptions,
    ) -> (u64, Result<SearchAnswer, SearchError>) {
        let arrived = Instant::now();
        let id = self.shared.next_query();
        let answered = self
            .search_numbered(id, query, options, arrived)
            .instrument(debug_span!("query", query = id, index = self.name()))
            .await;
        self.shared.query_log.note(id, self.name(), &answered);
        (id, answered)
    }

    async fn search_numbered(
        &self,
        id: u64,
        query: QuerySource<'_>,
        options: &SearchOptions,
        arrived: Instant,
    ) -> Result<SearchAnswer, SearchError> {
        validate(options)?;
        self.validate(options)?;
        let _admitted = self.admitted()?;
        let known = self.known();
        let rules = self.rules.of(&known);
        let facts = facts_of(&known, rules.as_deref())?;
        let prepared = PreparedQuery::new(id, query, limited(options), facts, arrived)?;
        // Before anything is read.
        let cache = self.shared.cache.as_ref();
        let epoch = cache.map(|_| self.cluster.trust_epoch());
        let of_index = |epoch| (self.number, known.generation, epoch);
        let key = epoch.and_then(|epoch| Key::of(&prepared, of_index(epoch)));
        if let Some(cache) = cache
            && let Some(answer) = cache.get(key.as_ref(), &prepared)
        {
            return Ok(answer);
        }
        let mut outcome = self.search_prepared(&prepared, &known).await?;
        if let Some(mut correction) = Correction::of(&prepared, &outcome) {
            let corrected = self.corrected(&mut correction, &prepared, &known).await;
            correction.end(&mut outcome)?;
            match corrected {
                Some(Corrected::Instead(text)) => {
                    let options = limited(options);
                    let instead =
                        PreparedQuery::corrected(id, query, &text, options, facts, arrived)?;
                    let found = self.search_prepared(&instead, &known).await?;
                    outcome = Outcome {
                        answer: shown_instead(outcome.answer, found.answer, arrived),
                        ..found
                    };
                }
                Some(Corrected::Offered(better)) => outcome.answer.did_you_mean = Some(better),
                None => {}
            }
        }
        let answer = outcome.answer;
        // An answer of a newer generation than was known at the arrival is not cached under the older
        // one, nor one during which a file changed. Servers have compared the stamps of all files after they made
        // their replies.
        if let (Some(cache), Some(key), Some(proof)) = (cache, key, &outcome.complete)
            && outcome.generation == known.generation
            && epoch == Some(self.cluster.trust_epoch())
        {
            cache.put(key, &answer, proof);
        }
        Ok(answer)
    }

    /// Returns up to `k` titles for a text that is being typed.
    pub async fn titles(
        &self,
        typed: &str,
        k: usize,
        timeout: Option<Duration>,
    ) -> Result<SuggestAnswer, SearchError> {
        let arrived = Instant::now();
        let id = self.shared.next_query();
        let _admitted = self.admitted()?;
        let known = self.known();
        let analyzer = analyzer_of(&known)?;
        let titles = Titles::new(id, typed, k, timeout, analyzer, arrived)?;
        self.titles_found(titles, &known).await
    }

    /// Admits a request, unless too many are under way.
    fn admitted(&self) -> Result<SemaphorePermit<'_>, SearchError> {
        let admitted = self.shared.admitted.try_acquire();
        admitted.map_err(|_| SearchError::Overloaded {
            part: "the front-end".into(),
            waiting: self.shared.options.concurrency,
        })
    }

    /// Refuses options that this front-end does not offer.
    fn validate(&self, options: &SearchOptions) -> Result<(), SearchError> {
        let refused = |parameter| SearchError::BadRequest {
            parameter,
            reason: "it is switched off at this server; leave it out".into(),
        };
        match options {
            SearchOptions { explain: true, .. } if !self.shared.options.explain => {
                Err(refused("explain"))
            }
            SearchOptions { trace: true, .. } if !self.shared.options.trace => {
                Err(refused("trace"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the upper limit on one answer, in bytes.
    pub(crate) fn answer_bytes_max(&self) -> usize {
        self.shared.options.answer_bytes_max
    }
}

/// Returns the analyzer of the index, once a server has told it.
fn analyzer_of(known: &Known) -> Result<Analyzer, SearchError> {
    known.analyzer.ok_or_else(|| SearchError::Unavailable {
        part: "the index servers".into(),
        reason: "none of them has reported its index yet; try again".into(),
    })
}

/// Returns options of a search as this front-end limits them.
fn limited(options: &SearchOptions) -> SearchOptions {
    SearchOptions {
        depth_max: Some(DEPTH_MAX),
        ..options.clone()
    }
}

/// Returns what queries are read with: the facts known of the index, and its rules.
fn facts_of<'a>(
    known: &'a Known,
    rules: Option<&'a QueryRules>,
) -> Result<IndexFacts<'a>, SearchError> {
    Ok(IndexFacts {
        analyzer: analyzer_of(known)?,
        fields: &known.fields,
        index_id: &known.index_id,
        rules,
    })
}
