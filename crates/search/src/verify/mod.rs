//! Clauses that are probed for documents found by other clauses.

pub(crate) mod filter;
pub(crate) mod filter_runs;
pub(crate) mod probe;
pub(crate) mod values;
