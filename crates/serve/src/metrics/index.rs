//! Metrics of the index that a server serves.

use crate::telemetry::register::Register;
use engine::Generations;
use metrics::{Counter, Gauge};

pub(super) fn documents(register: &Register) -> Gauge {
    register.gauge("shorttail_documents", &[], "Live documents of the index")
}

pub(super) fn generation(register: &Register) -> Gauge {
    let help = "The generation of the index that is served";
    register.gauge("shorttail_generation", &[], help)
}

pub(super) fn chunks(register: &Register) -> Gauge {
    register.gauge("shorttail_chunks", &[], "Chunks of the index")
}

/// Changes of the files of the index, in a process that has them open.
pub(super) struct TrustMetrics {
    damaged: Gauge,
    trusted_again: Counter,
}

impl TrustMetrics {
    pub(super) fn new(register: &Register) -> TrustMetrics {
        let damaged = "Open files of the index that were changed since they were verified: their parts are left out of answers";
        let again = "Files of the index that changed while open and had their verified bytes still";
        TrustMetrics {
            damaged: register.gauge("shorttail_damaged_files", &[], damaged),
            trusted_again: register.counter("shorttail_files_trusted_again_total", &[], again),
        }
    }

    pub(super) fn take_over(&self, generations: &Generations) {
        self.damaged.set(generations.untrusted_files_count() as f64);
        let again = generations.newest().trusted_again_count();
        self.trusted_again.absolute(again);
    }
}
