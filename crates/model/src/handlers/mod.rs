//! Simulation of the handlers of one index server: queries cut into ranges that several handlers take in turn.
//!
//! The decisions are those of the servers: the [`Board`](schedule::board::Board) and its policies are the same code. What is simulated is time:
//! arrivals, the time of each range, wake-ups, and the lower efficiency of helpers. [`simulate`](crate::simulate) is
//! the simulator of whole machines with partitions, SMT and shared caches; its queries are not cut while they run.

mod event_loop;
mod report;
mod runs;
mod settings;
mod work;

pub use event_loop::run;
pub use report::{HandlersReport, HandlersSummary};
pub use runs::summarise;
pub use settings::{HandlersSettings, RangeCosts};
