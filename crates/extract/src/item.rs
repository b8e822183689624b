//! Items that the child reads: a file, and the members inside it.

use crate::budget::{Budget, HELD_BYTES_MAX, read_up_to};
use crate::fault::Fault;
use crate::results::Results;
use std::io::{Cursor, Read};

/// A file, or a member of one.
pub(crate) struct Item<'a> {
    /// Its name without folders.
    pub(crate) name: &'a str,
    /// Its path inside the file; empty for the file itself.
    pub(crate) path: &'a str,
    /// Number of archives around it.
    pub(crate) depth: u32,
}

/// State of the reading of one file with all of its members.
pub(crate) struct Work<'a> {
    pub(crate) budget: Budget,
    pub(crate) results: &'a mut Results,
    /// Reader of any item, for members.
    pub(crate) read: fn(&Item, Bytes, &mut Work) -> Result<(), Fault>,
}

/// Bytes of an item.
pub(crate) enum Bytes {
    /// Bytes that arrive as they are read.
    Stream(Box<dyn Read + Send>),
    /// Bytes in memory.
    Held(Vec<u8>),
}

impl Bytes {
    /// Returns the bytes as a stream.
    pub(crate) fn stream(self) -> Box<dyn Read + Send> {
        match self {
            Bytes::Stream(stream) => stream,
            Bytes::Held(bytes) => Box::new(Cursor::new(bytes)),
        }
    }

    /// Returns all bytes, up to 128 MiB.
    pub(crate) fn held(self) -> Result<Vec<u8>, Fault> {
        match self {
            Bytes::Stream(stream) => read_up_to(stream, HELD_BYTES_MAX, "the file"),
            Bytes::Held(bytes) => Ok(bytes),
        }
    }
}
