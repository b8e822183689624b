//! Frontier: every known URL with its record, and the order of visits; durable, without clock or socket.
//!
//! ```text
//! discover ─▶ batch ─▶ sorted runs ─▶ queue of a host ─▶ heap of hosts by earliest instant ─▶ next
//!                ▲                                                                             │
//!             journal ◀── record, clock of the host ◀── finished, robots ◀── visit ◀───────────┘
//! ```
//!
//! Durability: the caller syncs the WARC record, calls `finished`, then `sync`: only then is a visit acknowledged.
//! A visit in flight at a crash is due again. The twin [`twin::Twin`] is a map in memory that says what is right.

mod core;
mod elsewhere;
mod error;
mod explain;
mod finish;
mod host;
mod key;
mod law;
mod options;
mod record;
mod refill;
mod schedule;
mod sighting;
mod state;
pub(crate) mod store;
pub mod twin;
mod visit;

#[cfg(test)]
mod tests;

pub use core::Frontier;
pub use error::{Damage, FrontierError};
pub use key::{origin_of, url_hash};
pub use options::FrontierOptions;
pub use record::{Record, Validators, WarcPlace};
pub use state::{Failure, Parked, Refusal, Source, State};
pub use store::{Recovered, StoreOptions};
pub use visit::{
    Counts, Deletion, Discovery, Effect, Explanation, Finished, Next, Notice, Outcome, Permission,
    RobotsAnswer, RobotsOutcome, Visit, VisitId, VisitKind, WaitReason, Waiting,
};
