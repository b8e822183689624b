//! Times of the phases of a search at one partition.

use super::register::Register;
use crate::api::chunks::{Chunks, shown};
use crate::api::messages::PartitionHits;
use metrics::Histogram;
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
