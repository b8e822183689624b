//! Server processes: one index or many, in one process or of processes that a cluster file names.

pub mod cluster_file;
pub mod connect;
pub mod server;
pub mod supervisor;
