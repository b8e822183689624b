//! What is measured of one partition: by who calls it, and by the handlers themselves.

use super::register::Register;
use crate::api::chunks::Chunks;
use crate::api::chunks::shown;
use crate::api::messages::PartitionHits;
use crate::index_server::workers::Figures;
use metrics::{Counter, Gauge, Histogram};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Histograms of one partition by phase.
#[derive(Debug)]
pub(crate) struct PartitionTimes {
    parse: Histogram,
    queueing: Histogram,
    search: Histogram,
    /// Nothing where there are no calls: at the server that is called.
    call: Histogram,
}

impl PartitionTimes {
    /// As the handlers see them.
    pub(super) fn of_handlers(register: &Register, chunks: &Chunks) -> PartitionTimes {
        let times = |phase| partition_seconds(register, chunks, phase);
        PartitionTimes {
            parse: times("parse"),
            queueing: times("queueing"),
            search: times("search"),
            call: Histogram::noop(),
        }
    }

    /// As the front-end sees them: what it waits for a call, too.
    pub(super) fn of_calls(register: &Register, chunks: &Chunks) -> PartitionTimes {
        PartitionTimes {
            call: partition_seconds(register, chunks, "call"),
            ..PartitionTimes::of_handlers(register, chunks)
        }
    }

    /// Notes a call, whatever came of it.
    pub(crate) fn called(&self, call: Duration) {
        self.call.record(call.as_secs_f64());
    }

    /// Notes a search that was made.
    pub(crate) fn searched(&self, found: &PartitionHits) {
        for (histogram, us) in [
            (&self.parse, found.parse_us),
            (&self.queueing, found.queueing_us),
            (&self.search, found.search_us),
        ] {
            histogram.record(us as f64 / 1e6);
        }
    }
}

/// A histogram of one phase of one partition.
pub(super) fn partition_seconds(
    register: &Register,
    chunks: &Chunks,
    phase: &'static str,
) -> Histogram {
    register.histogram(
        "shorttail_partition_seconds",
        &[("partition", &shown(chunks)), ("phase", phase)],
        "Time of each phase at one partition: parse, queueing and search as its index server says, call as \
         the front-end waits, summaries at a document server",
    )
}

/// Gauges and counters of the handlers and the queue of one partition, where they are in this process.
pub(super) struct HandlerMetrics {
    figures: Arc<Figures>,
    queue_length: Gauge,
    busy: Gauge,
    refused: Counter,
    expired: Counter,
    ended_early: Counter,
}

impl HandlerMetrics {
    pub(super) fn new(register: &Register, chunks: &Chunks, figures: &Arc<Figures>) -> Self {
        let partition = shown(chunks);
        let of_partition = [("partition", partition.as_str())];
        handlers(register, &of_partition).set(figures.handlers as f64);
        HandlerMetrics {
            figures: Arc::clone(figures),
            queue_length: register.gauge(
                "shorttail_queue_length",
                &of_partition,
                "Requests that wait for handlers",
            ),
            busy: busy(register, &of_partition),
            refused: register.counter(
                "shorttail_refused_total",
                &of_partition,
                "Requests refused because the queue was full",
            ),
            expired: expired(register, &of_partition),
            ended_early: ended_early(register, &of_partition),
        }
    }

    /// What handlers count is read when it is asked for.
    pub(super) fn take_over(&self) {
        let figures = &self.figures;
        self.queue_length
            .set(figures.waiting.load(Ordering::Relaxed) as f64);
        self.busy.set(figures.busy.load(Ordering::Relaxed) as f64);
        for (counter, count) in [
            (&self.refused, &figures.refused),
            (&self.expired, &figures.never_begun),
            (&self.ended_early, &figures.ended_early),
        ] {
            counter.absolute(count.load(Ordering::Relaxed));
        }
    }
}

pub(super) fn handlers(register: &Register, labels: &[super::register::Labelled<'_>]) -> Gauge {
    register.gauge("shorttail_handlers", labels, "Handlers")
}

pub(super) fn busy(register: &Register, labels: &[super::register::Labelled<'_>]) -> Gauge {
    register.gauge(
        "shorttail_handlers_busy",
        labels,
        "Handlers that search, or requests for texts that are worked on",
    )
}

pub(super) fn expired(register: &Register, labels: &[super::register::Labelled<'_>]) -> Counter {
    register.counter(
        "shorttail_expired_total",
        labels,
        "Requests never begun: their deadline had passed, or nobody waited",
    )
}

pub(super) fn ended_early(
    register: &Register,
    labels: &[super::register::Labelled<'_>],
) -> Counter {
    register.counter(
        "shorttail_ended_early_total",
        labels,
        "Requests ended by their deadline, or because nobody waited",
    )
}
