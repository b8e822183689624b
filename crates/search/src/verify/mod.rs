//! Clauses that are probed for documents found by other clauses.

pub(crate) mod filter;
pub(crate) mod probe;
