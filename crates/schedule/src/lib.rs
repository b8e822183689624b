//! Who runs where, and with how many handlers at once: the machine's topology, the place of every handler
//! on it, and policies.
//!
//! Pure: no clock, no file, no thread. Texts of `/sys` come in as a function, places go out as
//! values, so a simulator and tests decide by the very code that servers run.

mod cpu_set;
pub mod placement;
pub mod policy;
pub mod topology;

pub use cpu_set::{CPU_MAX, CpuListError, CpuSet};
pub use placement::{Placement, PlacementError, PlacementRequest, Places, place};
pub use topology::CpuTopology;
