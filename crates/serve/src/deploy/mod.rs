//! Assembly of servers into a running system: in one process, or of processes that a cluster file names.

pub mod cluster_file;
mod connect;
pub(crate) mod in_process;
pub(crate) mod partitioning;
pub mod server;
pub mod supervisor;
