//! Execution: a plan meets segments, and the algorithm that suits it.

mod algorithm;
mod at_least;
mod executor;
mod filtered;
pub mod gather;
mod open;
pub mod profile;
pub mod run;
mod shape;
pub mod task;
mod walk;

pub use walk::Coverage;
