//! Metrics of the front-ends of a process, of all their indexes together.

use super::filter_lists::FilterListMetrics;
use crate::cluster::replicas::CallFigures;
use crate::handlers::figures::Figures;
use crate::metrics::partition::HandlerMetrics;
use crate::telemetry::CacheFigures;
use crate::telemetry::partition_times::PartitionTimes;
use crate::telemetry::register::Register;
use engine::calls::Chunks;
use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::PhaseTimes;

/// Counters and histograms of the front-ends of a process.
pub(crate) struct FrontEndMetrics {
    handle: PrometheusHandle,
    phases: [Histogram; 9],
    optimization_searches: Counter,
    rejected: Counter,
    hedges: Counter,
    hedges_won: Counter,
    failovers: Counter,
    calls: Counter,
    /// Lists of filters, where indexes are searched in this process.
    filter_lists: Option<FilterListMetrics>,
    cache_hits: Counter,
    cache_misses: Counter,
    handlers: Vec<HandlerMetrics>,
    /// Phase times of each partition.
    times: Vec<PartitionTimes>,
}

impl FrontEndMetrics {
    /// Returns the metrics for partitions of the given chunks, and for the handlers of this process: those of each
    /// partition, or the ones that all indexes share, without chunks.
    pub(crate) fn new(
        partitions: &[Option<Chunks>],
        handlers: &[(Option<Chunks>, Arc<Figures>)],
    ) -> FrontEndMetrics {
        let register = Register::new(None);
        let phase = |(phase, _)| {
            register.histogram(
                "shorttail_phase_seconds",
                &[("phase", phase)],
                "Time of each phase of a search",
            )
        };
        let plain = |name, help| register.counter(name, &[], help);
        register
            .gauge("shorttail_partitions", &[], "Partitions")
            .set(partitions.len() as f64);
        let times = partitions.iter();
        let times = times.map(|chunks| PartitionTimes::of_calls(&register, chunks.as_ref()));
        let searches_here = !handlers.is_empty();
        let of_handlers = handlers
            .iter()
            .map(|(chunks, figures)| HandlerMetrics::new(&register, chunks.as_ref(), figures));
        FrontEndMetrics {
            filter_lists: searches_here.then(|| FilterListMetrics::new(&register)),
            phases: PhaseTimes::default().named().map(phase),
            optimization_searches: plain(
                "shorttail_optimization_searches_total",
                "Searches that were repeated to fill a page under the limit of hits a site",
            ),
            rejected: register.counter(
                "shorttail_rejected_total",
                &[("reason", "overloaded")],
                "Searches refused because too many waited",
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
            handlers: of_handlers.collect(),
            times: times.collect(),
            handle: register.handle(),
        }
    }

    /// Returns the phase times of each partition, for clusters to record.
    pub(crate) fn times(&self) -> Vec<PartitionTimes> {
        self.times.clone()
    }

    /// Records the phases of an answered search.
    pub(crate) fn answered(&self, times: &PhaseTimes) {
        for (histogram, (_, us)) in self.phases.iter().zip(times.named()) {
            histogram.record(us as f64 / 1e6);
        }
        if times.optimization_searches > 0 {
            self.optimization_searches.increment(1);
        }
    }

    /// Counts a search that was refused because too many waited.
    pub(crate) fn rejected(&self) {
        self.rejected.increment(1);
    }

    /// Returns the metrics in the text format of Prometheus.
    pub(crate) fn render(&self, calls: &CallFigures, cache: Option<CacheFigures>) -> String {
        for (counter, count) in [
            (&self.calls, &calls.calls),
            (&self.hedges, &calls.hedges),
            (&self.hedges_won, &calls.hedges_won),
            (&self.failovers, &calls.failovers),
        ] {
            counter.absolute(count.load(Ordering::Relaxed));
        }
        if let Some(cache) = cache {
            self.cache_hits.absolute(cache.hits);
            self.cache_misses.absolute(cache.misses);
        }
        for handlers in &self.handlers {
            handlers.take_over();
        }
        if let Some(lists) = &self.filter_lists {
            lists.take_over();
        }
        self.handle.render()
    }

    /// Folds recorded values into their histograms. Without this, the values of a server that is never
    /// scraped accumulate.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
