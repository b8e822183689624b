//! Scheduling of handlers: CPU topology, placement of handlers on it, policies for the degree of parallelism,
//! and moves between big and little cores.
//!
//! Pure: no clock, no file, no thread. A function supplies the texts of `/sys`, and placements are
//! returned as values, so the simulator and the tests run the same code as the servers.

pub mod board;
pub mod cost;
mod cpu_set;
pub mod hurry;
pub mod placement;
pub mod topology;

pub use cpu_set::{CPU_MAX, CpuListError, CpuSet};
pub use placement::{Placement, PlacementError, PlacementRequest, Places, place};
pub use topology::CpuTopology;
