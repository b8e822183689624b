//! What the server counts and times for Prometheus.
//!
//! The recorder belongs to one server and is never made the process's: tests run several servers.
use crate::handlers::Figures;
use crate::tables::shown;
use crate::{FrontEnd, SearchError};
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::{PhaseTimes, SearchAnswer};

/// Upper bounds of the histograms, in seconds: from what one phase of a small index takes to what
/// nobody waits for.
const BUCKETS_S: [f64; 22] = [
    10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 300e-6, 500e-6, 750e-6, 1e-3, 2e-3, 3e-3, 5e-3, 7.5e-3,
    10e-3, 20e-3, 50e-3, 100e-3, 200e-3, 500e-3, 1.0, 2.0, 10.0,
];

/// Counters and histograms of one server.
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
    cache_hits: Counter,
    cache_misses: Counter,
    documents: Gauge,
    generation: Gauge,
    partitions: Vec<PartitionMetrics>,
}

/// Of one partition whose handlers are in this process.
struct PartitionMetrics {
    figures: Arc<Figures>,
    queue_length: Gauge,
    busy: Gauge,
    refused: Counter,
    expired: Counter,
    ended_early: Counter,
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Json,
    Page,
}

impl Metrics {
    pub(crate) fn new(front_end: &FrontEnd) -> Metrics {
        let known = front_end.known();
        let cluster = &front_end.cluster;
        let builder = PrometheusBuilder::new();
        // The bounds are a constant that is not empty, the one thing that is refused.
        let recorder = builder
            .set_buckets(&BUCKETS_S)
            .unwrap_or_else(|_| PrometheusBuilder::new())
            .build_recorder();
        let labelled = |name, label, value: &'static str| {
            Key::from_parts(name, vec![Label::from_static_parts(label, value)])
        };
        let phases = PhaseTimes::default().named().map(|(phase, _)| {
            histogram(
                &recorder,
                labelled("shorttail_phase_seconds", "phase", phase),
            )
        });
        let kinds = [
            "bad_request",
            "index",
            "damaged",
            "overloaded",
            "timed_out",
            "partial",
            "unavailable",
        ];
        let errors = kinds.map(|kind| {
            (
                kind,
                counter(&recorder, labelled("shorttail_errors_total", "kind", kind)),
            )
        });
        let queries = |client| labelled("shorttail_queries_total", "client", client);
        for (name, help) in [
            ("shorttail_phase_seconds", "Time of each phase of a search"),
            (
                "shorttail_search_seconds",
                "Time of a whole search at the server",
            ),
        ] {
            recorder.describe_histogram(name.into(), None, help.into());
        }
        for (name, help) in [
            ("shorttail_queries_total", "Searches answered"),
            ("shorttail_errors_total", "Searches that gave no answer"),
            (
                "shorttail_optimization_searches_total",
                "Searches that were repeated because the limit of hits a site left too few",
            ),
            (
                "shorttail_rejected_total",
                "Searches refused because too many waited",
            ),
            (
                "shorttail_partial_answers_total",
                "Answers that lack a part of the index, and say so",
            ),
            (
                "shorttail_calls_total",
                "Calls to index servers and document servers, hedges not counted",
            ),
            (
                "shorttail_hedges_total",
                "Calls made a second time because the first was slow",
            ),
            (
                "shorttail_hedges_won_total",
                "Second calls that answered first",
            ),
            (
                "shorttail_failovers_total",
                "Calls made again because a replica failed",
            ),
            ("shorttail_cache_hits_total", "Answers taken from the cache"),
            (
                "shorttail_cache_misses_total",
                "Answers that the cache did not have",
            ),
            (
                "shorttail_expired_total",
                "Requests never begun: their deadline had passed, or nobody waited",
            ),
            (
                "shorttail_ended_early_total",
                "Searches ended by their deadline, or because nobody waited",
            ),
        ] {
            recorder.describe_counter(name.into(), None, help.into());
        }
        let documents = gauge(&recorder, "shorttail_documents", "Live documents");
        documents.set(known.documents_count as f64);
        let generation = gauge(
            &recorder,
            "shorttail_generation",
            "The generation of the index",
        );
        gauge(&recorder, "shorttail_chunks", "Chunks of the index")
            .set(f64::from(known.chunks_count));
        gauge(&recorder, "shorttail_partitions", "Partitions").set(cluster.partitions.len() as f64);
        for (name, help) in [
            ("shorttail_queue_length", "Requests that wait for handlers"),
            ("shorttail_handlers", "Handlers"),
            ("shorttail_handlers_busy", "Handlers that search"),
        ] {
            recorder.describe_gauge(name.into(), None, help.into());
        }
        let partitions = cluster.handlers.iter().map(|(chunks, figures)| {
            let key = |name| Key::from_parts(name, vec![Label::new("partition", shown(chunks))]);
            recorder
                .register_gauge(&key("shorttail_handlers"), &METADATA)
                .set(figures.handlers as f64);
            PartitionMetrics {
                figures: Arc::clone(figures),
                queue_length: recorder.register_gauge(&key("shorttail_queue_length"), &METADATA),
                busy: recorder.register_gauge(&key("shorttail_handlers_busy"), &METADATA),
                refused: counter(&recorder, key("shorttail_refused_total")),
                expired: counter(&recorder, key("shorttail_expired_total")),
                ended_early: counter(&recorder, key("shorttail_ended_early_total")),
            }
        });
        let partitions = partitions.collect();
        let plain = |name: &'static str| counter(&recorder, Key::from_static_name(name));
        Metrics {
            phases,
            total: histogram(&recorder, Key::from_static_name("shorttail_search_seconds")),
            queries_json: counter(&recorder, queries("json")),
            queries_page: counter(&recorder, queries("page")),
            optimization_searches: counter(
                &recorder,
                Key::from_static_name("shorttail_optimization_searches_total"),
            ),
            errors,
            rejected: counter(
                &recorder,
                labelled("shorttail_rejected_total", "reason", "overloaded"),
            ),
            partial_answers: plain("shorttail_partial_answers_total"),
            calls: plain("shorttail_calls_total"),
            hedges: plain("shorttail_hedges_total"),
            hedges_won: plain("shorttail_hedges_won_total"),
            failovers: plain("shorttail_failovers_total"),
            cache_hits: plain("shorttail_cache_hits_total"),
            cache_misses: plain("shorttail_cache_misses_total"),
            documents,
            generation,
            partitions,
            handle: recorder.handle(),
        }
    }

    /// Notes an answered search.
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

    /// Notes a search without an answer.
    pub(crate) fn failed(&self, error: &SearchError) {
        let kind = match error {
            SearchError::BadRequest { .. } => "bad_request",
            SearchError::Index(_) => "index",
            SearchError::Damaged { .. } => "damaged",
            SearchError::Overloaded { .. } => "overloaded",
            SearchError::TimedOut { .. } => "timed_out",
            SearchError::Partial { .. } => "partial",
            SearchError::Unavailable { .. } => "unavailable",
        };
        if kind == "overloaded" {
            self.rejected.increment(1);
        }
        if let Some((_, counter)) = self.errors.iter().find(|(name, _)| *name == kind) {
            counter.increment(1);
        }
    }

    /// The text that Prometheus reads.
    pub(crate) fn render(&self, front_end: &FrontEnd) -> String {
        self.take_over(front_end);
        self.handle.render()
    }

    /// What others count is read when it is asked for.
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
        for partition in &self.partitions {
            let figures = &partition.figures;
            partition
                .queue_length
                .set(figures.waiting.load(Ordering::Relaxed) as f64);
            partition
                .busy
                .set(figures.busy.load(Ordering::Relaxed) as f64);
            partition
                .refused
                .absolute(figures.refused.load(Ordering::Relaxed));
            partition
                .expired
                .absolute(figures.never_begun.load(Ordering::Relaxed));
            partition
                .ended_early
                .absolute(figures.ended_early.load(Ordering::Relaxed));
        }
    }

    /// Folds recorded values into their histograms. Without this, values of a server that nobody
    /// scrapes pile up.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}

const METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, None);

fn histogram(recorder: &PrometheusRecorder, key: Key) -> Histogram {
    recorder.register_histogram(&key, &METADATA)
}

fn counter(recorder: &PrometheusRecorder, key: Key) -> Counter {
    let counter = recorder.register_counter(&key, &METADATA);
    // Named from the start, so that a rate can be taken over the first one.
    counter.absolute(0);
    counter
}

fn gauge(recorder: &PrometheusRecorder, name: &'static str, help: &'static str) -> Gauge {
    recorder.describe_gauge(name.into(), None, help.into());
    recorder.register_gauge(&Key::from_static_name(name), &METADATA)
}
