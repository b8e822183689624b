//! Cursors of a plan's clauses, which walk the postings of one segment document by document.

mod all;
pub(crate) mod any;
mod at_least;
mod best_of;
mod boolean;
mod constant;
mod listed;
mod pattern;
mod phrase;
pub(crate) mod term;
mod titles;
mod value;
pub(crate) mod walk;
