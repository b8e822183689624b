//! Messages between programs.
//!
//! [`answer`]: the answer of a search, as the API and `search --json` give it. [`rpc`]: what servers say
//! to each other.

pub mod answer;
#[cfg(feature = "rpc")]
pub mod rpc;

pub use answer::{Hit, PhaseTimes, SearchAnswer, Total};
