//! Text of archives, office documents, mail and PDF, read in child processes that can reach nothing.
//!
//! - [`Pool`]: the parent's side, an extractor for the readers of crate `corpus`.
//! - [`child`]: the child's side. It confines itself, then reads files from a pipe and writes lines of JSON.
//! - [`confine`]: the limits and filters that the child sets for itself.
//!
//! Readers of these formats are large, and their input is hostile: a child that dies costs one document.

// Without some readers, what only these share is unused.
#![cfg_attr(
    not(all(
        feature = "archives",
        feature = "mail",
        feature = "office",
        feature = "pdf"
    )),
    allow(dead_code)
)]

#[cfg(feature = "archives")]
mod archive;
mod budget;
pub mod child;
mod children;
mod confinement;
mod conversation;
mod fault;
mod format;
mod item;
mod launch;
#[cfg(feature = "mail")]
mod mail;
#[cfg(any(feature = "archives", feature = "mail"))]
mod members;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
mod pool;
mod protocol;
mod queue;
mod read;
mod results;
mod turns;
mod worker;

pub use confinement::{Limits, confine};
pub use launch::Launch;
pub use pool::Pool;
