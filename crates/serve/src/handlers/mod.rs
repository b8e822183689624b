//! Handlers: threads that work on the queries of one board, for index servers and document servers.

pub(crate) mod asking;
mod cpu_use;
pub(crate) mod deadline;
pub(crate) mod figures;
pub(crate) mod guests;
pub(crate) mod handler_visit;
mod learning;
mod life;
pub(crate) mod options;
pub(crate) mod pinning;
pub(crate) mod shared_board;
mod steering;
mod sync;
pub(crate) mod thread_times;
pub(crate) mod workers;
