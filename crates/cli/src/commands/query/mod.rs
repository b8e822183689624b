//! Commands that search an index and show what is found, why, and in which time.

pub(crate) mod analyze;
pub(crate) mod bench;
mod explain_schedule;
pub(crate) mod fields;
pub(crate) mod search;
mod topics;
