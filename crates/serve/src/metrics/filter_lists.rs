//! Metrics of the lists of documents that pass filters, of all indexes of the process.

use crate::telemetry::register::Register;
use metrics::{Counter, Gauge};

/// Metrics of lists.
pub(super) struct FilterListMetrics {
    bytes: Gauge,
    hits: Counter,
    misses: Counter,
    built: Counter,
}

impl FilterListMetrics {
    pub(super) fn new(register: &Register) -> FilterListMetrics {
        let counter = |name, help| register.counter(name, &[], help);
        FilterListMetrics {
            bytes: register.gauge(
                "shorttail_filter_list_bytes",
                &[],
                "Memory of the lists of documents that pass filters",
            ),
            hits: counter(
                "shorttail_filter_list_hits_total",
                "Segments searched from the list of a filter",
            ),
            misses: counter(
                "shorttail_filter_list_misses_total",
                "Segments in which a filter that few documents pass had no list",
            ),
            built: counter(
                "shorttail_filter_lists_built_total",
                "Lists of filters finished",
            ),
        }
    }

    /// Copies the counters, when metrics are read.
    pub(super) fn take_over(&self) {
        let figures = ::index::list_figures();
        self.bytes.set(figures.bytes as f64);
        self.hits.absolute(figures.hits);
        self.misses.absolute(figures.misses);
        self.built.absolute(figures.built);
    }
}
