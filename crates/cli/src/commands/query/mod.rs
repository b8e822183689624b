//! Commands that search an index and show what is found and why.

pub(crate) mod analyze;
mod explain_schedule;
pub(crate) mod fields;
pub(crate) mod search;
mod topics;
