//! Model test of the board: its threads under a checker that interleaves them at every lock, atomic and wake-up.
//!
//! The files of the board are compiled once more, with the primitives of `shuttle` in place of the standard library's. A
//! failure prints a schedule; `shuttle::replay` runs it again.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "the files of the server hold more than the model uses"
)]

mod model;

/// The files of `src/handlers` that threads meet in.
#[path = "."]
mod handlers {
    #[path = "../../src/handlers/asking.rs"]
    pub(crate) mod asking;
    #[path = "../../src/handlers/cpu_use.rs"]
    pub(crate) mod cpu_use;
    #[path = "../../src/handlers/deadline.rs"]
    pub(crate) mod deadline;
    #[path = "../../src/handlers/figures.rs"]
    pub(crate) mod figures;
    #[path = "../../src/handlers/guests.rs"]
    pub(crate) mod guests;
    #[path = "../../src/handlers/handler_visit.rs"]
    pub(crate) mod handler_visit;
    #[path = "../../src/handlers/learning.rs"]
    pub(crate) mod learning;
    #[path = "../../src/handlers/life.rs"]
    pub(crate) mod life;
    #[path = "../../src/handlers/options.rs"]
    pub(crate) mod options;
    #[path = "../../src/handlers/shared_board.rs"]
    pub(crate) mod shared_board;
    #[path = "../../src/handlers/steering.rs"]
    pub(crate) mod steering;

    /// What `src/handlers/sync.rs` takes from the standard library.
    pub(crate) mod sync {
        pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64};
        pub(crate) use shuttle::sync::{Mutex, MutexGuard};
        pub(crate) use shuttle::thread::{Thread, current, park, park_timeout};
    }
}

/// Types that the counters name.
mod telemetry {
    pub(crate) mod partition_times {
        /// Histograms that nothing is recorded in.
        #[derive(Debug)]
        pub(crate) struct PartitionTimes;
    }
}
