//! Chunks under construction.

mod arena;
pub(crate) mod chunk;
mod inverter;
pub(crate) mod merge;
mod run;
