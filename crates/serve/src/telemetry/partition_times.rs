//! Phase times of searches at one partition.

use super::register::Register;
use crate::api::messages::PartitionHits;
use engine::calls::{Chunks, chunks_shown};
use metrics::Histogram;
use std::time::Duration;

/// Histograms of one partition by phase.
#[derive(Debug, Clone)]
pub(crate) struct PartitionTimes {
    parse: Histogram,
    queueing: Histogram,
    search: Histogram,
    /// CPU time of searches that are measured.
    search_cpu: Histogram,
    run_queue: Histogram,
    /// Call times; at the server itself, which makes no calls, nothing is recorded.
    call: Histogram,
}

impl PartitionTimes {
    /// Returns the times as the handlers measure them.
    pub(crate) fn of_handlers(register: &Register, chunks: Option<&Chunks>) -> PartitionTimes {
        let times = |phase| partition_seconds(register, chunks, phase);
        PartitionTimes {
            parse: times("parse"),
            queueing: times("queueing"),
            search: times("search"),
            search_cpu: times("search_cpu"),
            run_queue: times("run_queue"),
            call: Histogram::noop(),
        }
    }

    /// Returns the times as the front-end measures them, with the duration of calls.
    pub(crate) fn of_calls(register: &Register, chunks: Option<&Chunks>) -> PartitionTimes {
        PartitionTimes {
            call: partition_seconds(register, chunks, "call"),
            ..PartitionTimes::of_handlers(register, chunks)
        }
    }

    /// Records the duration of a call, whatever its result.
    pub(crate) fn called(&self, call: Duration) {
        self.call.record(call.as_secs_f64());
    }

    /// Records the phases of a completed search.
    pub(crate) fn searched(&self, found: &PartitionHits) {
        for (histogram, us) in [
            (&self.parse, found.parse_us),
            (&self.queueing, found.queueing_us),
            (&self.search, found.search_us),
        ] {
            histogram.record(us as f64 / 1e6);
        }
        if let Some(times) = found.handlers_us {
            self.search_cpu.record(times.cpu as f64 / 1e6);
            self.run_queue.record(times.run_queue as f64 / 1e6);
        }
    }
}

/// Returns the histogram of one phase of one partition.
pub(crate) fn partition_seconds(
    register: &Register,
    chunks: Option<&Chunks>,
    phase: &'static str,
) -> Histogram {
    register.histogram(
        "shorttail_partition_seconds",
        &[("partition", &partition_name(chunks)), ("phase", phase)],
        "Time of each phase at one partition: parse, queueing and search as its index server says, call as \
         the front-end waits, summaries at a document server; of long searches also search_cpu, the CPU time of \
         handlers, and run_queue, their wait for a CPU",
    )
}

/// Returns the label of a partition: its chunks, or `all` for handlers that all indexes share.
pub(crate) fn partition_name(chunks: Option<&Chunks>) -> String {
    chunks.map_or_else(|| "all".to_owned(), chunks_shown)
}
