//! Connections, responses and signals of a server process, and turns for work beside I/O.

pub(crate) mod blocking;
pub(crate) mod bodies;
pub(crate) mod health;
pub mod listener;
pub(crate) mod reload_signal;
pub(crate) mod response;
pub(crate) mod side;
pub(crate) mod socket;
pub(crate) mod turns;
pub(crate) mod write_timeout;
