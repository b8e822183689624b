//! The laboratory's subcommands of the program `shorttail`: measure, predict, plan.
//!
//! ```text
//!   measure   load       response times of a server, over HTTP
//!             lab        experiments on this machine
//!   predict   model      formulas and simulations
//!             plan       servers for a rate and a percentile, from measured times
//!   map       hurry      requests of any server to cores of two kinds
//! ```
//!
//! Each module has the arguments of its subcommand and `run`. `load` and `lab` need the feature `lab`. Nothing here links a
//! server or the engine: what is measured is a process of its own.

pub mod hurry;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "lab")]
pub mod load;
#[cfg(feature = "lab")]
mod measured_run;
pub mod model;
pub mod plan;
mod policies;
mod search_times;
mod time_files;
mod times;
mod trace_file;
