//! Are recorded machines understood, and is every handler well placed on each of them?

mod here;
mod placement;
mod recorded;
mod topology;
