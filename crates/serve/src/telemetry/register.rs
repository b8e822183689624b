//! Registration of counters, gauges and histograms, each with its description.
//!
//! The recorder belongs to one server and is never installed for the process: tests run several
//! servers.

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// Upper bounds of the histogram buckets, in seconds: from one phase of a small index to times beyond
/// any timeout in use.
const BUCKETS_S: [f64; 22] = [
    10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 300e-6, 500e-6, 750e-6, 1e-3, 2e-3, 3e-3, 5e-3, 7.5e-3,
    10e-3, 20e-3, 50e-3, 100e-3, 200e-3, 500e-3, 1.0, 2.0, 10.0,
];

const METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, None);

/// Register of the metrics of one server.
pub(crate) struct Register(PrometheusRecorder);

/// Label and value.
pub(crate) type Labelled<'a> = (&'static str, &'a str);

impl Register {
    /// Returns an empty register; every sample has the label `index` where a name is given.
    pub(crate) fn new(index: Option<&str>) -> Register {
        // Only an empty list of bounds is refused, and this one is a constant.
        let builder = PrometheusBuilder::new()
            .set_buckets(&BUCKETS_S)
            .unwrap_or_else(|_| PrometheusBuilder::new());
        let builder = match index {
            Some(name) => builder.add_global_label("index", name),
            None => builder,
        };
        Register(builder.build_recorder())
    }

    /// Returns the handle that renders all registered metrics.
    pub(crate) fn handle(&self) -> PrometheusHandle {
        self.0.handle()
    }

    pub(crate) fn histogram(
        &self,
        name: &'static str,
        labels: &[Labelled<'_>],
        help: &'static str,
    ) -> Histogram {
        self.0.describe_histogram(name.into(), None, help.into());
        self.0.register_histogram(&key(name, labels), &METADATA)
    }

    pub(crate) fn counter(
        &self,
        name: &'static str,
        labels: &[Labelled<'_>],
        help: &'static str,
    ) -> Counter {
        self.0.describe_counter(name.into(), None, help.into());
        let counter = self.0.register_counter(&key(name, labels), &METADATA);
        // The counter exists from the start, so that a rate covers its first event.
        counter.absolute(0);
        counter
    }

    pub(crate) fn gauge(
        &self,
        name: &'static str,
        labels: &[Labelled<'_>],
        help: &'static str,
    ) -> Gauge {
        self.0.describe_gauge(name.into(), None, help.into());
        self.0.register_gauge(&key(name, labels), &METADATA)
    }
}

fn key(name: &'static str, labels: &[Labelled<'_>]) -> Key {
    let labels = labels.iter();
    let labels: Vec<Label> = labels
        .map(|(label, value)| Label::new(*label, (*value).to_owned()))
        .collect();
    Key::from_parts(name, labels)
}
