//! Topologies of recorded machines, and placements of handlers on each.

mod here;
mod placement;
mod recorded;
mod seats;
mod topology;
