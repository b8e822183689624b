//! Execution: a plan meets segments, and the algorithm that suits it.

mod algorithm;
mod executor;
mod open;
pub mod parallel;
pub mod profile;
pub mod run;
mod shape;
