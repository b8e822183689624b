//! Metrics for Prometheus: of a front-end, and of index servers and document servers.

mod crawl;
mod filter_lists;
pub(crate) mod front_end;
mod index;
mod partition;
pub(crate) mod process;
mod register;
#[cfg(test)]
mod tests;
pub(crate) mod times;
mod writer;
