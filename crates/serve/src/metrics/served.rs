//! Metrics of one index that a front-end answers for.

use crate::cluster::Cluster;
use crate::metrics::crawl::CrawlMetrics;
use crate::metrics::index::{TrustMetrics, chunks, documents, generation};
use crate::metrics::writer::WriterMetrics;
use crate::telemetry::register::Register;
use engine::SearchError;
use ingest::LiveStatus;
use metrics::{Counter, Gauge, Histogram};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::{Mutex, OnceLock, PoisonError};
use wire::{CrawlStatus, SearchAnswer};

/// Counters and histograms of one index. Where a process has several, each sample has the name of its index.
pub(crate) struct IndexMetrics {
    handle: PrometheusHandle,
    total: Histogram,
    queries_json: Counter,
    queries_page: Counter,
    errors: [(&'static str, Counter); 7],
    partial_answers: Counter,
    documents: Gauge,
    generation: Gauge,
    /// Number of damaged files, where the files are open in this process.
    trust: Option<TrustMetrics>,
    register: Register,
    writer: OnceLock<WriterMetrics>,
    /// Metrics of the crawl that fills the index, once there is one.
    crawl: Mutex<Option<CrawlMetrics>>,
}

/// Kind of client of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Json,
    Page,
}

impl IndexMetrics {
    /// Returns the metrics of the index of a cluster; its name is given where the process has several.
    pub(crate) fn new(name: Option<&str>, cluster: &Cluster) -> IndexMetrics {
        let register = Register::new(name);
        let error = |kind| {
            let help = "Searches that gave no answer";
            let counter = register.counter("shorttail_errors_total", &[("kind", kind)], help);
            (kind, counter)
        };
        let queries = |client| {
            let help = "Searches answered";
            register.counter("shorttail_queries_total", &[("client", client)], help)
        };
        let kinds = [
            "bad_request",
            "index",
            "damaged",
            "overloaded",
            "timed_out",
            "partial",
            "unavailable",
        ];
        chunks(&register).set(f64::from(cluster.known().chunks_count));
        let has_files = cluster.generations.is_some();
        IndexMetrics {
            total: register.histogram(
                "shorttail_search_seconds",
                &[],
                "Time of a whole search at the server",
            ),
            queries_json: queries("json"),
            queries_page: queries("page"),
            errors: kinds.map(error),
            partial_answers: register.counter(
                "shorttail_partial_answers_total",
                &[],
                "Answers that lack a part of the index, and say so",
            ),
            documents: documents(&register),
            generation: generation(&register),
            trust: has_files.then(|| TrustMetrics::new(&register)),
            handle: register.handle(),
            register,
            writer: OnceLock::new(),
            crawl: Mutex::default(),
        }
    }

    /// Records an answered search.
    pub(crate) fn answered(&self, client: Client, answer: &SearchAnswer) {
        if !answer.degraded.is_empty() {
            self.partial_answers.increment(1);
        }
        match client {
            Client::Json => self.queries_json.increment(1),
            Client::Page => self.queries_page.increment(1),
        }
        self.total.record(answer.phases_us.total as f64 / 1e6);
    }

    /// Records a search without an answer.
    pub(crate) fn failed(&self, error: &SearchError) {
        let kind = match error {
            SearchError::BadRequest { .. } => "bad_request",
            SearchError::Index(error) if error.is_transient() => "unavailable",
            SearchError::Index(_) => "index",
            SearchError::Damaged { .. } => "damaged",
            SearchError::Overloaded { .. } => "overloaded",
            SearchError::TimedOut { .. } => "timed_out",
            SearchError::Partial { .. } => "partial",
            SearchError::GenerationGone { .. } | SearchError::Unavailable { .. } => "unavailable",
        };
        if let Some((_, counter)) = self.errors.iter().find(|(name, _)| *name == kind) {
            counter.increment(1);
        }
    }

    /// Returns the metrics in the text format of Prometheus.
    pub(crate) fn render(
        &self,
        cluster: &Cluster,
        writer: Option<&LiveStatus>,
        crawl: Option<&CrawlStatus>,
    ) -> String {
        let known = cluster.known();
        self.documents.set(known.documents_count as f64);
        self.generation.set(known.generation as f64);
        if let (Some(trust), Some(generations)) = (&self.trust, &cluster.generations) {
            trust.take_over(generations);
        }
        if let Some(status) = crawl {
            let mut metrics = self.crawl.lock().unwrap_or_else(PoisonError::into_inner);
            let metrics = metrics.get_or_insert_with(|| CrawlMetrics::new(&self.register));
            metrics.take_over(status, &self.register);
        }
        if let Some(status) = writer {
            let metrics = self
                .writer
                .get_or_init(|| WriterMetrics::new(&self.register));
            metrics.take_over(status);
        }
        self.handle.render()
    }

    /// Folds recorded values into their histograms.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
