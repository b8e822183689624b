//! Discrete-event simulation of queries on a machine.
//!
//! Queries arrive, are split into parts, wait, run on cores, and are merged. All random numbers come
//! from one seed, in separate streams for arrivals, for search times and for the rest, so two set-ups
//! see the same queries.
//!
//! [`run`] simulates the whole machine, event by event. [`recursion`] is its slow and obvious twin for
//! queues in order of arrival.

mod arrivals;
pub mod assignment;
mod earliest;
mod engine;
mod event_loop;
mod hurry_up;
mod machine;
pub mod recursion;
mod replication;
mod report;
mod speeds;
pub(crate) mod streams;
mod summary;
mod times;

pub use arrivals::{ArrivalClock, Arrivals};
pub(crate) use earliest::Earliest;
pub use engine::{Settings, run};
pub use hurry_up::HurryUp;
pub use machine::{Core, Disturbances, Layout, Machine, NextCore};
pub use replication::replicate;
pub use report::Report;
pub(crate) use report::sorted_quantile;
pub use stats::Estimate;
pub(crate) use streams::Streams;
pub use summary::{Summary, summarise};
pub use times::{Distribution, Order, Searches, Split, TimeSource, Times};
