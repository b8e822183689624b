//! Models of response time under load, for capacity planning of cores, partitions and servers.
//!
//! Pure: no clock, no files, no threads; randomness comes from seeds. The methods, from quick to
//! faithful:
//!
//! - [`formulas`]: closed forms of queueing theory, with their assumptions;
//! - [`simulate`]: discrete-event simulation from measured search times, with the deployed scheduling
//!   policies;
//! - [`handlers`]: simulation of one index server whose handlers share the ranges of queries, with the deployed board;
//! - [`shared_cores`]: simulation of whole answers, on cores shared by all stages;
//! - [`fan_out`]: queries to many servers that wait for the slowest.

pub mod costs;
pub mod energy;
pub mod error;
pub mod fan_out;
pub mod figures;
pub mod formulas;
pub mod handlers;
pub mod plan;
pub mod shared_cores;
pub mod simulate;

pub use error::{ModelError, SERVERS_MAX};
