//! Clauses asked about documents that were found otherwise.

pub(crate) mod filter;
pub(crate) mod probe;
