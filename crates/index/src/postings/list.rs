//! Encoded posting list: bytes and counts.

use super::PostingsCodec;
use crate::section::LazyBytes;
use std::path::Path;

/// Place of a list's bytes in its file, for error messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) path: &'a Path,
    pub(crate) postings_offset: u64,
    pub(crate) positions_offset: u64,
}

/// Bytes and counts of a list, as given by the dictionary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListBytes<'a> {
    pub(crate) codec: PostingsCodec,
    pub(crate) documents_count: u32,
    pub(crate) occurrences_count: u64,
    /// Documents of the segment: upper limit of every id.
    pub(crate) docs_limit: u32,
    pub(crate) postings: &'a [u8],
    /// Bytes of positions, verified when they are read: they are long, and few searches read them.
    pub(crate) positions: LazyBytes<'a>,
}
