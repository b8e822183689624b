//! Ranges of chunks, and their names in messages and timelines.

use std::ops::RangeInclusive;

/// Range of chunks, both ends included.
pub type Chunks = RangeInclusive<u32>;

/// Returns the name of the server of `chunks` in timelines.
pub fn part_of(chunks: &Chunks) -> String {
    format!("chunks {}", chunks_shown(chunks))
}

/// Formats chunks as `7`, or `0-3`.
pub fn chunks_shown(chunks: &Chunks) -> String {
    match chunks.start() == chunks.end() {
        true => chunks.start().to_string(),
        false => format!("{}-{}", chunks.start(), chunks.end()),
    }
}

/// Returns the name of the index server of `chunks` in messages.
pub fn index_server_of(chunks: &Chunks) -> String {
    format!("the index server of chunks {}", chunks_shown(chunks))
}
