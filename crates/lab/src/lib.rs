//! Experiments on the effect of a machine on the latency of a search service, measured from outside.
//!
//! This crate does not link the engine. Servers are processes reached over HTTP, so measurements show
//! the latency of users.

mod arm;
mod arm_run;
mod ask;
mod balance;
mod capability;
mod client;
mod co_runner;
mod codecs;
mod counters;
mod counting;
mod doctor;
mod energy;
mod engine;
mod error;
pub mod experiment;
mod journal;
mod knobs;
mod laboratory;
mod layouts;
mod measures;
mod policies;
mod prediction;
mod report;
mod results;
mod server;
mod setting;
mod simulated;
mod sizes;
mod svg;
mod timed;
mod tree;
mod views;

pub use capability::{Capability, State};
pub use doctor::examine;
pub use error::LabError;
pub use experiment::Experiment;
pub use journal::{Change, Journal, restore};
pub use knobs::Knob;
pub use laboratory::{Depth, Laboratory, Plan, Step};
pub use policies::{SpinAnswer, SpinClock, SpinQuery, SpinReport, SpinRequest};
pub use report::report;
pub use results::{
    Axis, ComparisonRow, ExperimentResult, Panel, Point, Series, Session, Table, read,
};
pub use tree::Tree;
