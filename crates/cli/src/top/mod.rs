//! Live view of a running server: the difference between two readings of its metrics.
//!
//! `fetch` requests the text, `exposition` parses it, `view` takes the difference of two readings, and `screen` formats
//! it. A metric that a server does not report is unknown (`–`, `null`), never 0.

mod exposition;
mod fetch;
mod screen;
mod view;

pub(crate) use exposition::Exposition;
pub(crate) use fetch::{Target, fetch};
pub(crate) use screen::{line, screen};
pub(crate) use view::View;
