//! What the server counts and times for Prometheus.
//!
//! The recorder belongs to one server and is never made the process's: tests run several servers.
use crate::SearchError;
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use wire::PhaseTimes;

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
    errors: [(&'static str, Counter); 4],
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Json,
    Page,
}

impl Metrics {
    pub(crate) fn new(documents_count: u64, chunks_count: u32, partitions: usize) -> Metrics {
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
        let errors = ["bad_request", "index", "overloaded", "unavailable"].map(|kind| {
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
        ] {
            recorder.describe_counter(name.into(), None, help.into());
        }
        gauge(&recorder, "shorttail_documents", "Live documents").set(documents_count as f64);
        gauge(&recorder, "shorttail_chunks", "Chunks of the index").set(f64::from(chunks_count));
        gauge(&recorder, "shorttail_partitions", "Index servers").set(partitions as f64);
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
            handle: recorder.handle(),
        }
    }

    /// Notes an answered search.
    pub(crate) fn answered(&self, client: Client, times: &PhaseTimes) {
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
            SearchError::Overloaded { .. } => "overloaded",
            SearchError::Unavailable { .. } => "unavailable",
        };
        if let Some((_, counter)) = self.errors.iter().find(|(name, _)| *name == kind) {
            counter.increment(1);
        }
    }

    /// The text that Prometheus reads.
    pub(crate) fn render(&self) -> String {
        self.handle.render()
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
