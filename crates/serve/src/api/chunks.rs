//! Ranges of chunks, and their names in messages and timelines.

use std::ops::RangeInclusive;

/// Range of chunks, both ends included.
pub type Chunks = RangeInclusive<u32>;

/// Returns the name of the server of `chunks` in timelines.
pub(crate) fn part_of(chunks: &Chunks) -> String {
    format!("chunks {}", shown(chunks))
}

/// Formats chunks as `7`, or `0-3`.
pub(crate) fn shown(chunks: &Chunks) -> String {
    match chunks.start() == chunks.end() {
        true => chunks.start().to_string(),
        false => format!("{}-{}", chunks.start(), chunks.end()),
    }
}

/// Returns the name of the index server of `chunks` in messages.
pub(crate) fn index_server_of(chunks: &Chunks) -> String {
    format!("the index server of chunks {}", shown(chunks))
}
