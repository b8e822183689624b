//! Gauges of the index that a server serves.

use crate::metrics::register::Register;
use metrics::Gauge;

pub(super) fn documents(register: &Register) -> Gauge {
    register.gauge("shorttail_documents", &[], "Live documents of the index")
}

pub(super) fn generation(register: &Register) -> Gauge {
    let help = "The generation of the index that is served";
    register.gauge("shorttail_generation", &[], help)
}

pub(super) fn damaged_files(register: &Register) -> Gauge {
    let help = "Open files of the index that were changed since they were verified: their parts are left out of answers";
    register.gauge("shorttail_damaged_files", &[], help)
}

pub(super) fn chunks(register: &Register) -> Gauge {
    register.gauge("shorttail_chunks", &[], "Chunks of the index")
}
