//! Bytes and counts of a list.

use super::PostingsCodec;
use crate::section::LazyBytes;
use std::path::Path;

/// Where a list's bytes came from, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) path: &'a Path,
    pub(crate) postings_offset: u64,
    pub(crate) positions_offset: u64,
}

/// A list's bytes and counts, as the dictionary gives them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListBytes<'a> {
    pub(crate) codec: PostingsCodec,
    pub(crate) documents_count: u32,
    pub(crate) occurrences_count: u64,
    /// Documents of the segment: every id must be below.
    pub(crate) docs_limit: u32,
    pub(crate) postings: &'a [u8],
    /// Long, and few searches read them.
    pub(crate) positions: LazyBytes<'a>,
}
