//! Counts of matches without scores.

pub(crate) mod difference;
pub(crate) mod union;
