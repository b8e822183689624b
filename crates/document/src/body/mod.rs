//! Entries of a request's body, read one at a time: memory holds one entry, whatever the body has.
//!
//! ```text
//! body   := array | values | lines
//! array  := "[" (value ("," value)*)? "]"       first byte "["
//! values := object*                              first line "{" alone: objects printed over several lines
//! lines  := (value | text)*, one a line          any other first byte, or a content type of lines
//! ```
//!
//! A body has one meaning, by its content type or its first byte. An array, or objects over several lines, that are no
//! JSON up to the end are damaged: nothing says where the next entry begins. A bad line spoils no other.

mod entries;
mod scan;

#[cfg(test)]
mod tests;

pub use entries::{BodyEntries, BodyEntry, BodyError, BodyForm, EntryText};
pub use scan::{Scanned, ValueScan};
