//! Metrics of the handlers and the queue of one partition.

use super::register::Register;
use crate::api::chunks::Chunks;
use crate::api::chunks::shown;
use crate::index_server::figures::Figures;
use metrics::{Counter, Gauge};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Gauges and counters of the handlers and the queue of one partition in this process.
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

    /// Copies the counters of the handlers, when metrics are read.
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
