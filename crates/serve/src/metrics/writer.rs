//! Metrics of the writer of a server that writes.

use crate::telemetry::register::Register;
use ingest::LiveStatus;
use metrics::{Counter, Gauge};

/// Counters and gauges of a writer.
pub(super) struct WriterMetrics {
    changes: Counter,
    refreshes: Counter,
    pending: Gauge,
    pending_bytes: Gauge,
    last_refresh: Gauge,
    failing: Gauge,
}

impl WriterMetrics {
    pub(super) fn new(register: &Register) -> WriterMetrics {
        let counter = |name, help| register.counter(name, &[], help);
        let gauge = |name, help| register.gauge(name, &[], help);
        WriterMetrics {
            changes: counter(
                "shorttail_writer_changes_total",
                "Changes of documents accepted",
            ),
            refreshes: counter(
                "shorttail_writer_refreshes_total",
                "Generations committed by refreshes",
            ),
            pending: gauge(
                "shorttail_writer_pending",
                "Documents with changes that cannot be searched yet",
            ),
            pending_bytes: gauge(
                "shorttail_writer_pending_bytes",
                "Approximate memory of these changes",
            ),
            last_refresh: gauge(
                "shorttail_writer_refresh_seconds",
                "Time of the last refresh",
            ),
            failing: gauge(
                "shorttail_writer_failing",
                "1 while the log or the last refresh has failed",
            ),
        }
    }

    /// Copies the figures, when metrics are read.
    pub(super) fn take_over(&self, status: &LiveStatus) {
        self.changes.absolute(status.changes_accepted);
        self.refreshes.absolute(status.refreshes);
        self.pending.set(status.changes_pending as f64);
        self.pending_bytes.set(status.pending_bytes as f64);
        self.last_refresh.set(status.last_refresh.as_secs_f64());
        self.failing
            .set(f64::from(u8::from(status.failure.is_some())));
    }
}
