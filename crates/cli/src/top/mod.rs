//! What does a running server do now? Its metrics, read twice, and what lies between.
//!
//! `fetch` gets the text, `exposition` reads it, `view` takes the difference of two readings, and
//! `screen` shows it. Whatever a server does not tell is unknown (`–`, `null`), never 0.

mod exposition;
mod fetch;
mod screen;
mod view;

pub(crate) use exposition::Exposition;
pub(crate) use fetch::{Target, fetch};
pub(crate) use screen::{line, screen};
pub(crate) use view::View;
