//! Commands that make an index and change what it holds.

pub(crate) mod add;
pub(crate) mod delete;
pub(crate) mod index;
pub(crate) mod optimize;
mod reading;
pub(crate) mod recover;
pub(crate) mod rules;
pub(crate) mod sync;
mod target;

pub(crate) use target::create_target;
