//! State of HTTP requests: of one index its front-end, metrics, writer and reloads; of the process what all indexes share.

use crate::addresses::Addresses;
use crate::api::draining::Draining;
use crate::api::observed_crawl::ObservedCrawl;
use crate::api::options::SearchOptions;
use crate::cluster::replicas::CallFigures;
use crate::front_end::{FrontEnd, told};
use crate::http::page;
use crate::http::params::SearchParameters;
use crate::metrics::exposition;
use crate::metrics::front_end::FrontEndMetrics;
use crate::metrics::served::{Client, IndexMetrics};
use crate::net::bodies::BodyPlaces;
use crate::net::turns::{Turn, Turns};
use crate::snapshot::reloads::{Reloaded, Reloads};
use crate::snapshot::writing::WriterSlot;
use crate::telemetry::CacheFigures;
use engine::SearchError;
use ingest::{LiveStatus, LiveWriter, ResumingWriter};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;
use tokio::runtime::Handle;
use wire::{CrawlStatus, SearchAnswer};

/// What the requests of a process share, whatever their index.
pub(crate) struct ServerState {
    pub(crate) draining: Draining,
    pub(crate) metrics: FrontEndMetrics,
    pub(crate) calls: Arc<CallFigures>,
    /// Places of the large bodies of requests that write.
    pub(crate) body_places: Arc<BodyPlaces>,
    turns: Turns,
}

impl ServerState {
    pub(crate) fn new(
        draining: Draining,
        metrics: FrontEndMetrics,
        calls: Arc<CallFigures>,
    ) -> ServerState {
        let cores_count = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        ServerState {
            draining,
            metrics,
            calls,
            body_places: Arc::default(),
            turns: Turns::new(cores_count),
        }
    }

    /// Returns the metrics of the process in the text format of Prometheus.
    pub(crate) fn render(&self, cache: Option<CacheFigures>) -> String {
        self.metrics.render(&self.calls, cache)
    }
}

/// One index, as requests see it.
pub(crate) struct App {
    pub(crate) front_end: FrontEnd,
    metrics: IndexMetrics,
    /// Writer of the index, where this server writes.
    pub(crate) writer: WriterSlot,
    /// Crawl that fills the index, where this server has its directory.
    pub(crate) crawl: OnceLock<Arc<dyn ObservedCrawl>>,
    pub(crate) server: Arc<ServerState>,
    reloads: Arc<Reloads<SearchError>>,
}

impl App {
    /// Returns the state of an index that is the only one of its process.
    pub(crate) fn only(front_end: FrontEnd) -> App {
        let cluster = &front_end.cluster;
        let partitions = cluster.partitions.iter();
        let partitions: Vec<_> = partitions.map(|one| Some(one.chunks.clone())).collect();
        let handlers = cluster.handlers.iter();
        let handlers: Vec<_> = handlers
            .map(|(chunks, figures)| (Some(chunks.clone()), Arc::clone(figures)))
            .collect();
        let metrics = FrontEndMetrics::new(&partitions, &handlers);
        let calls = Arc::clone(&cluster.calls);
        let server = ServerState::new(Draining::default(), metrics, calls);
        App::new(front_end, Arc::new(server))
    }

    /// Returns the state of an index of a process.
    pub(crate) fn new(front_end: FrontEnd, server: Arc<ServerState>) -> App {
        // The first registration stays: a cluster has one front-end.
        let _ = front_end.cluster.times.set(server.metrics.times());
        App {
            metrics: IndexMetrics::new(front_end.name(), &front_end.cluster),
            front_end,
            writer: WriterSlot::default(),
            crawl: OnceLock::new(),
            server,
            reloads: Arc::default(),
        }
    }

    /// Makes the server search what refreshes of a writer commit.
    pub(crate) fn hooked(
        app: &Weak<App>,
        runtime: &Handle,
        writer: LiveWriter,
    ) -> Result<ResumingWriter, index::IndexError> {
        let (app, runtime) = (Weak::clone(app), runtime.clone());
        writer.call_after_refresh(move |_| {
            if let Some(app) = app.upgrade()
                && let Err(error) = runtime.block_on(app.reload())
            {
                tracing::warn!(%error, "cannot open what was written; the next refresh tries again");
            }
        });
        ResumingWriter::new(writer)
    }

    /// Records an answered search.
    pub(crate) fn answered(&self, client: Client, answer: &SearchAnswer) {
        self.metrics.answered(client, answer);
        self.server.metrics.answered(&answer.phases_us);
    }

    /// Records a search without an answer.
    pub(super) fn failed(&self, error: &SearchError) {
        self.metrics.failed(error);
        if matches!(error, SearchError::Overloaded { .. }) {
            self.server.metrics.rejected();
        }
    }

    /// Returns the metrics of the index in the text format of Prometheus. It reads the files of a crawl.
    pub(crate) fn render(&self) -> String {
        let status = |writer: Arc<ResumingWriter>| -> LiveStatus { writer.current().status() };
        let writer = self.writer.opened().map(status);
        let crawl: Option<CrawlStatus> = self.crawl.get().and_then(|crawl| {
            crawl.status().unwrap_or_else(|error| {
                tracing::warn!(%error, "the figures of the crawl cannot be read");
                None
            })
        });
        self.metrics
            .render(&self.front_end.cluster, writer.as_ref(), crawl.as_ref())
    }

    /// Returns all metrics of a process that has this index alone.
    pub(crate) fn render_all(&self) -> String {
        let cache = self.front_end.cache_figures();
        exposition::joined([self.server.render(cache), self.render()])
    }

    /// Folds recorded values into their histograms.
    pub(crate) fn upkeep(&self) {
        self.metrics.upkeep();
    }

    /// Makes every server open the newest generation, off the threads that read requests.
    pub(crate) async fn reload(self: &Arc<Self>) -> Reloaded<SearchError> {
        let (app, runtime) = (Arc::clone(self), Handle::current());
        let lost = || SearchError::Unavailable {
            part: "the front-end".into(),
            reason: "the reload was given up; see the server's log".into(),
        };
        let reload = move || runtime.block_on(app.front_end.reload());
        self.reloads.run(reload, lost).await
    }

    /// Returns other searches that find something.
    pub(super) async fn suggestions(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Vec<page::Suggestion> {
        let mut suggestions = Vec::new();
        let addresses = self.front_end.addresses();
        for one in page::suggestions(query, options) {
            let probe = SearchOptions {
                filters: real_filters(&addresses, &one.options),
                k: 0,
                suggest: false,
                correct: false,
                explain: false,
                trace: false,
                ..one.options.clone()
            };
            let real = addresses.real_query(&one.query);
            let found = self.front_end.search(&*real, &probe).await;
            if found.is_ok_and(|found| found.total.value > 0) {
                suggestions.push(one);
            }
        }
        suggestions
    }

    /// Answers a query after the wait for its turn. The turn ends when the answer is rendered.
    pub(super) async fn search(
        &self,
        parameters: &SearchParameters,
        query: &str,
    ) -> Result<(SearchAnswer, Option<Turn<'_>>), Failure> {
        let (mut options, arrived) = (parameters.options.clone(), Instant::now());
        let timeout = self.front_end.timeout_of(&options);
        let turn = self.server.turns.take(&options, timeout).await;
        let turn = turn.map_err(|error| self.failure(error))?;
        let waited = arrived.elapsed();
        if turn.is_some() {
            options.timeout = Some(timeout.saturating_sub(waited));
        }
        let addresses = self.front_end.addresses();
        options.filters = real_filters(&addresses, &options);
        let real = addresses.real_query(query);
        let (number, answered) = self.front_end.search_told((&*real).into(), &options).await;
        let mut answer = answered.map_err(|error| Failure { error, number })?;
        let shown = addresses.show(&mut answer, query, &options.sort);
        shown.map_err(|error| self.failure(error))?;
        if turn.is_some() {
            answer.phases_us.total += waited.as_micros() as u64;
        }
        told::without_paths(&mut answer.degraded, number);
        Ok((answer, turn))
    }

    /// Returns the failure of a request that never became a query.
    pub(super) fn failure(&self, error: SearchError) -> Failure {
        Failure {
            number: self.front_end.failed(&error),
            error,
        }
    }
}

/// Returns filters with the names that sites have in the index.
fn real_filters(addresses: &Addresses, options: &SearchOptions) -> Vec<String> {
    let filters = options.filters.iter();
    filters
        .map(|filter| addresses.real_query(filter).into_owned())
        .collect()
}

/// Request without an answer, with its number in the log.
pub(super) struct Failure {
    pub(super) error: SearchError,
    pub(super) number: u64,
}
