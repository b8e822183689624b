//! Metrics of a front-end.

use super::filter_lists::FilterListMetrics;
use crate::front_end::FrontEnd;
use crate::metrics::crawl::CrawlMetrics;
use crate::metrics::index::{TrustMetrics, chunks, documents, generation};
use crate::metrics::partition::HandlerMetrics;
use crate::metrics::register::Register;
use crate::metrics::times::PartitionTimes;
use crate::metrics::writer::WriterMetrics;
use engine::SearchError;
use ingest::LiveWriter;
use metrics::{Counter, Gauge, Histogram};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};
use wire::{CrawlStatus, PhaseTimes, SearchAnswer};

/// Counters and histograms of one front-end.
pub(crate) struct Metrics {
    handle: PrometheusHandle,
    phases: [Histogram; 8],
    total: Histogram,
    queries_json: Counter,
    queries_page: Counter,
    optimization_searches: Counter,
    errors: [(&'static str, Counter); 7],
    rejected: Counter,
    partial_answers: Counter,
    hedges: Counter,
    hedges_won: Counter,
    failovers: Counter,
    calls: Counter,
    /// Lists of filters, where indexes are searched in this process.
    filter_lists: Option<FilterListMetrics>,
    cache_hits: Counter,
    cache_misses: Counter,
    documents: Gauge,
    generation: Gauge,
    /// Number of damaged files, where the files are open in this process.
    trust: Option<TrustMetrics>,
    partitions: Vec<HandlerMetrics>,
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

impl Metrics {
    pub(crate) fn new(front_end: &FrontEnd) -> Metrics {
        let cluster = &front_end.cluster;
        let register = Register::new();
        let phase = |(phase, _)| {
            register.histogram(
                "shorttail_phase_seconds",
                &[("phase", phase)],
                "Time of each phase of a search",
            )
        };
        let error = |kind| {
            let help = "Searches that gave no answer";
            let counter = register.counter("shorttail_errors_total", &[("kind", kind)], help);
            (kind, counter)
        };
        let queries = |client| {
            let help = "Searches answered";
            register.counter("shorttail_queries_total", &[("client", client)], help)
        };
        let plain = |name, help| register.counter(name, &[], help);
        let kinds = [
            "bad_request",
            "index",
            "damaged",
            "overloaded",
            "timed_out",
            "partial",
            "unavailable",
        ];
        chunks(&register).set(f64::from(front_end.known().chunks_count));
        register
            .gauge("shorttail_partitions", &[], "Partitions")
            .set(cluster.partitions.len() as f64);
        let times = cluster.partitions.iter();
        let times = times.map(|group| PartitionTimes::of_calls(&register, &group.chunks));
        // The first registration stays: a cluster has one front-end, and that has one set of metrics.
        let _ = cluster.times.set(times.collect());
        let partitions = cluster.handlers.iter();
        let partitions =
            partitions.map(|(chunks, figures)| HandlerMetrics::new(&register, chunks, figures));
        let searches_here = !cluster.handlers.is_empty();
        Metrics {
            filter_lists: searches_here.then(|| FilterListMetrics::new(&register)),
            phases: PhaseTimes::default().named().map(phase),
            total: register.histogram(
                "shorttail_search_seconds",
                &[],
                "Time of a whole search at the server",
            ),
            queries_json: queries("json"),
            queries_page: queries("page"),
            optimization_searches: plain(
                "shorttail_optimization_searches_total",
                "Searches that were repeated because the limit of hits a site left too few",
            ),
            errors: kinds.map(error),
            rejected: register.counter(
                "shorttail_rejected_total",
                &[("reason", "overloaded")],
                "Searches refused because too many waited",
            ),
            partial_answers: plain(
                "shorttail_partial_answers_total",
                "Answers that lack a part of the index, and say so",
            ),
            calls: plain(
                "shorttail_calls_total",
                "Calls to index servers and document servers, hedges not counted",
            ),
            hedges: plain(
                "shorttail_hedges_total",
                "Calls made a second time because the first was slow",
            ),
            hedges_won: plain(
                "shorttail_hedges_won_total",
                "Second calls that answered first",
            ),
            failovers: plain(
                "shorttail_failovers_total",
                "Calls made again because a replica failed",
            ),
            cache_hits: plain("shorttail_cache_hits_total", "Answers taken from the cache"),
            cache_misses: plain(
                "shorttail_cache_misses_total",
                "Answers that the cache did not have",
            ),
            documents: documents(&register),
            generation: generation(&register),
            trust: cluster
                .generations
                .is_some()
                .then(|| TrustMetrics::new(&register)),
            partitions: partitions.collect(),
            handle: register.handle(),
            register,
            writer: OnceLock::new(),
            crawl: Mutex::default(),
        }
    }

    /// Records an answered search.
    pub(crate) fn answered(&self, client: Client, answer: &SearchAnswer) {
        let times = &answer.phases_us;
        if !answer.degraded.is_empty() {
            self.partial_answers.increment(1);
        }
        match client {
            Client::Json => self.queries_json.increment(1),
            Client::Page => self.queries_page.increment(1),
        }
        for (histogram, (_, us)) in self.phases.iter().zip(times.named()) {
            histogram.record(us as f64 / 1e6);
        }
        self.total.record(times.total as f64 / 1e6);
        if times.optimization_searches > 0 {
            self.optimization_searches.increment(1);
        }
    }

    /// Records a search without an answer.
    pub(crate) fn failed(&self, error: &SearchError) {
        let kind = match error {
            SearchError::BadRequest { .. } => "bad_request",
            SearchError::Index(_) => "index",
            SearchError::Damaged { .. } => "damaged",
            SearchError::Overloaded { .. } => "overloaded",
            SearchError::TimedOut { .. } => "timed_out",
            SearchError::Partial { .. } => "partial",
            SearchError::GenerationGone { .. } | SearchError::Unavailable { .. } => "unavailable",
        };
        if kind == "overloaded" {
            self.rejected.increment(1);
        }
        if let Some((_, counter)) = self.errors.iter().find(|(name, _)| *name == kind) {
            counter.increment(1);
        }
    }

    /// Returns the metrics in the text format of Prometheus.
    pub(crate) fn render(
        &self,
        front_end: &FrontEnd,
        writer: Option<&LiveWriter>,
        crawl: Option<&CrawlStatus>,
    ) -> String {
        self.take_over(front_end);
        if let Some(status) = crawl {
            let mut metrics = self.crawl.lock().unwrap_or_else(PoisonError::into_inner);
            let metrics = metrics.get_or_insert_with(|| CrawlMetrics::new(&self.register));
            metrics.take_over(status, &self.register);
        }
        if let Some(writer) = writer {
            let metrics = self
                .writer
                .get_or_init(|| WriterMetrics::new(&self.register));
            metrics.take_over(&writer.status());
        }
        self.handle.render()
    }

    /// Copies the counters of other parts, when metrics are read.
    fn take_over(&self, front_end: &FrontEnd) {
        let calls = &front_end.cluster.calls;
        for (counter, count) in [
            (&self.calls, &calls.calls),
            (&self.hedges, &calls.hedges),
            (&self.hedges_won, &calls.hedges_won),
            (&self.failovers, &calls.failovers),
        ] {
            counter.absolute(count.load(Ordering::Relaxed));
        }
        if let Some(cache) = front_end.cache_figures() {
            self.cache_hits.absolute(cache.hits);
            self.cache_misses.absolute(cache.misses);
        }
        let known = front_end.known();
        self.documents.set(known.documents_count as f64);
        self.generation.set(known.generation as f64);
        if let (Some(trust), Some(generations)) = (&self.trust, &front_end.cluster.generations) {
            trust.take_over(generations);
        }
        for partition in &self.partitions {
            partition.take_over();
        }
        if let Some(lists) = &self.filter_lists {
            lists.take_over();
        }
    }

    /// Folds recorded values into their histograms. Without this, the values of a server that is never
    /// scraped accumulate.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
