//! Durable map of keys to records: journal, batch in memory, sorted runs.
//!
//! A discovered URL enters the batch without a look at the disk; a checkpoint checks the whole batch against the
//! runs in key order (as DRUM of IRLbot, 2008) and writes it as a new run. Runs of a tier are merged by eight, a few
//! entries with each change. Order of durability: files, their names, the manifest, then removal of what it replaced.

mod checkpoint;
mod cursor;
mod filter;
mod found;
mod journal;
mod manifest;
mod map;
mod merge;
mod open;
mod run;
mod run_builder;
mod scan;

pub(crate) use map::Store;
pub use map::StoreOptions;
pub use open::Recovered;
