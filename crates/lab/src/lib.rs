//! What does a machine do to the latency of a search service? Experiments that find out, from outside.
//!
//! Nothing here links the engine: servers are processes, reached over HTTP, so that what is measured
//! is what a user gets.

mod arm_run;
mod ask;
mod balance;
mod capability;
mod co_runner;
mod codecs;
mod cores;
mod counters;
mod counting;
mod doctor;
mod energy;
mod engine;
mod error;
pub mod experiment;
mod journal;
mod knobs;
mod layouts;
mod measures;
mod prediction;
mod report;
mod results;
mod server;
mod setting;
mod simulated;
mod sizes;
mod svg;
mod tree;
mod views;

pub use capability::{Capability, State};
pub use doctor::examine;
pub use engine::{Depth, Laboratory, Plan, Step};
pub use error::LabError;
pub use experiment::Experiment;
pub use journal::{Change, Journal, restore};
pub use knobs::Knob;
pub use report::report;
pub use results::{
    Axis, ComparisonRow, ExperimentResult, Panel, Point, Series, Session, Table, read,
};
pub use tree::Tree;
