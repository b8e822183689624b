//! Why are answers as slow as they are, and what would more cores, partitions or servers do?
//!
//! Pure: no clock, no files, no threads; chance comes from seeds. Three ways to an answer, from quick
//! to faithful:
//!
//! - [`formulas`]: closed forms of queueing theory, with their assumptions;
//! - [`simulate`]: discrete events, from measured search times, with the very policies that are deployed;
//! - [`shared_cores`]: the same of whole answers, on cores that everything shares;
//! - [`fan_out`]: many servers, the slowest of which decides.

pub mod costs;
pub mod energy;
pub mod error;
pub mod fan_out;
pub mod figures;
pub mod formulas;
pub mod plan;
mod roots;
pub mod shared_cores;
pub mod simulate;

pub use error::{ModelError, SERVERS_MAX};
