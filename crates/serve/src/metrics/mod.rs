//! Metrics for Prometheus: of a front-end, and of index servers and document servers.

mod crawl;
pub(crate) mod exposition;
mod filter_lists;
pub(crate) mod front_end;
mod index;
mod partition;
pub(crate) mod process;
pub(crate) mod served;
#[cfg(test)]
mod tests;
mod writer;
