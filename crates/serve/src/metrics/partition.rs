//! Metrics of the handlers and the queue of one partition.

use crate::handlers::figures::Figures;
use crate::telemetry::partition_times::partition_name;
use crate::telemetry::register::Register;
use engine::calls::Chunks;
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
    helped: Counter,
    parked: Counter,
    prediction_error: Gauge,
    wake: Gauge,
    efficiency: Gauge,
}

impl HandlerMetrics {
    /// Returns the metrics of the handlers for some chunks, or of those that all indexes share.
    pub(super) fn new(
        register: &Register,
        chunks: Option<&Chunks>,
        figures: &Arc<Figures>,
    ) -> Self {
        let partition = partition_name(chunks);
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
            helped: register.counter(
                "shorttail_helped_total",
                &of_partition,
                "Searches that several handlers worked on",
            ),
            parked: register.counter(
                "shorttail_parked_total",
                &of_partition,
                "Times that a search was parked for a shorter or a more urgent one",
            ),
            prediction_error: register.gauge(
                "shorttail_prediction_error",
                &of_partition,
                "Mean of |ln(true / predicted time)| of searches of late",
            ),
            wake: register.gauge(
                "shorttail_wake_seconds",
                &of_partition,
                "Time from a wake-up to the first instruction of a helping handler of late",
            ),
            efficiency: register.gauge(
                "shorttail_helper_efficiency",
                &of_partition,
                "Work of a helping handler per unit of its time of late; the owner's is 1",
            ),
        }
    }

    /// Copies the counters of the handlers, when metrics are read.
    pub(super) fn take_over(&self) {
        let figures = &self.figures;
        self.queue_length.set(f64::from(figures.waiting()));
        self.busy.set(figures.busy.load(Ordering::Relaxed) as f64);
        for (counter, count) in [
            (&self.refused, &figures.refused),
            (&self.expired, &figures.never_begun),
            (&self.ended_early, &figures.ended_early),
            (&self.helped, &figures.helped),
            (&self.parked, &figures.parked),
        ] {
            counter.absolute(count.load(Ordering::Relaxed));
        }
        for (gauge, count, unit) in [
            (
                &self.prediction_error,
                &figures.prediction_error_milli,
                1e-3,
            ),
            (&self.wake, &figures.wake_ns, 1e-9),
            (&self.efficiency, &figures.efficiency_milli, 1e-3),
        ] {
            gauge.set(count.load(Ordering::Relaxed) as f64 * unit);
        }
    }
}

pub(super) fn handlers(
    register: &Register,
    labels: &[crate::telemetry::register::Labelled<'_>],
) -> Gauge {
    register.gauge("shorttail_handlers", labels, "Handlers")
}

pub(super) fn busy(
    register: &Register,
    labels: &[crate::telemetry::register::Labelled<'_>],
) -> Gauge {
    register.gauge(
        "shorttail_handlers_busy",
        labels,
        "Handlers that search, or requests for texts that are worked on",
    )
}

pub(super) fn expired(
    register: &Register,
    labels: &[crate::telemetry::register::Labelled<'_>],
) -> Counter {
    register.counter(
        "shorttail_expired_total",
        labels,
        "Requests never begun: their deadline had passed, or nobody waited",
    )
}

pub(super) fn ended_early(
    register: &Register,
    labels: &[crate::telemetry::register::Labelled<'_>],
) -> Counter {
    register.counter(
        "shorttail_ended_early_total",
        labels,
        "Requests ended by their deadline, or because nobody waited",
    )
}
