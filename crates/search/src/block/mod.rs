//! Blocks of documents on their way through the lists of a query.

pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod bitset;
pub(crate) mod columns;
pub(crate) mod impact_filter;
mod impact_limits;
pub(crate) mod matches;
pub(crate) mod term_scorer;
pub(crate) mod window;
