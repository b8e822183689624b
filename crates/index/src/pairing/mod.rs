//! The pairs of a finished segment: chosen by what they save, counted in its lists, and written to a file of their own.
//!
//! The module `segment::pairs` documents the file, and reads it.

mod choose;
mod walk;
mod write;

pub(crate) use walk::count_in_each;
pub(crate) use write::write_missing;

#[cfg(test)]
mod tests;
