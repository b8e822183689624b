//! Accuracy of the load generator against servers of known behaviour.

mod endings;
mod queueing;
mod server;
mod truth;
