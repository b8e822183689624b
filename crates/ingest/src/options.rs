//! Options of the live writer.

use std::time::Duration;

/// Options of the live writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOptions {
    /// Time within which a change can be searched, where the machine keeps up.
    pub refresh: Duration,
    /// Bytes of changes that may wait for a refresh; further ones are refused.
    pub pending_bytes_max: u64,
    /// Memory limit of a refresh, in bytes.
    pub memory_bytes: u64,
    /// Threads of a refresh of many changes; few changes take one.
    pub threads: usize,
    /// Segments of a partition above which small ones are merged, beside refreshes.
    pub segments: usize,
    /// Share of a core that a merge uses, in percent, until segments are too many. See
    /// [`LiveWriter::call_for_pace`](crate::LiveWriter::call_for_pace).
    pub merge_percent: u32,
}

impl Default for LiveOptions {
    fn default() -> LiveOptions {
        LiveOptions {
            refresh: Duration::from_secs(1),
            pending_bytes_max: 256 << 20,
            memory_bytes: 256 << 20,
            threads: 1,
            segments: 16,
            merge_percent: 50,
        }
    }
}
