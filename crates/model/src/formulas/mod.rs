//! Queueing formulas with their assumptions.
//!
//! Closed forms, each with its source. Rates are in queries per second, times in milliseconds. Each
//! formula says whether it is exact or an approximation.

pub mod closed;
pub mod constant_arrivals;
pub mod constant_service;
pub mod crossing;
mod erlang;
pub mod fork_join;
pub mod general;
pub mod mmc;
pub mod scenarios;

pub use closed::Closed;
pub use constant_arrivals::Dmc;
pub use crossing::{Crossing, crossing};
pub use erlang::{erlang_b, erlang_c};
pub use fork_join::{ForkJoin, fork_join};
pub use mmc::Mmc;
pub use scenarios::{Machine, Scenario};
