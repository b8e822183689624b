//! Execution: a plan meets segments, and the algorithm that suits it.

mod algorithm;
mod at_least;
mod best_of;
mod claims;
mod executor;
mod filtered;
pub mod gather;
mod given;
mod led;
mod open;
mod pinned;
pub mod profile;
pub mod run;
mod shape;
pub mod task;
mod walk;
pub mod worker;

pub use walk::Coverage;
