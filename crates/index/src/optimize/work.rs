//! Work on one partition of a rewrite: its parameters, cost and outcome.

use super::progress::Phase;
use crate::deletions::Deletions;
use crate::manifest::{Manifest, SegmentEntry};
use crate::order::{GapBits, Order, levels};
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::SharedStorage;

/// Parameters of the work on a partition.
pub(super) struct PartitionWork<'a> {
    pub(super) storage: &'a SharedStorage,
    pub(super) manifest: &'a Manifest,
    /// Number of the partition in the manifest's layout.
    pub(super) number: u32,
    /// Segments with any of its chunks, in the manifest's order.
    pub(super) entries: &'a [SegmentEntry],
    pub(super) order: Order,
    pub(super) memory_bytes: u64,
    pub(super) list_bytes_max: Option<u64>,
    pub(super) deletions: Option<&'a BTreeMap<u32, Arc<Deletions>>>,
    pub(super) threads: usize,
    /// Callback for work done, in the units of `work_of`.
    pub(super) progress: &'a (dyn Fn(Phase, u64) + Sync),
}

impl PartitionWork<'_> {
    /// Returns a function that takes parts of `total`, and reports their share of the phase's work.
    pub(super) fn progress_of(&self, phase: Phase, total: u64) -> impl Fn(u64) + Sync + '_ {
        let work = work_of(self.entries, self.order, phase);
        let each = work as f64 / total.max(1) as f64;
        move |done| (self.progress)(phase, (done as f64 * each) as u64)
    }
}

/// Rewritten partition.
#[derive(Default)]
pub(super) struct Rewritten {
    /// New segment; `None` where no document is alive.
    pub(super) entry: Option<SegmentEntry>,
    pub(super) words_counts: [u64; 2],
    pub(super) gaps_before: GapBits,
    pub(super) gaps_after: GapBits,
    /// Frequent terms that the order ignored for lack of memory.
    pub(super) terms_left_out: u64,
}

/// Returns the work of a phase for a partition, in units of the time that a byte of index takes to write.
pub(super) fn work_of(entries: &[SegmentEntry], order: Order, phase: Phase) -> u64 {
    let bytes: u64 = entries.iter().map(|entry| entry.index.seal.bytes).sum();
    let documents: u64 = entries
        .iter()
        .map(|entry| u64::from(entry.documents_count))
        .sum();
    match (phase, order) {
        (Phase::Writing, _) => bytes,
        // A level costs about a tenth of writing; a sort by URL is negligible.
        (Phase::Ordering, Order::Bisection) => bytes / 10 * u64::from(levels(documents as u32)),
        (Phase::Ordering, Order::Arrival | Order::Url) => 0,
    }
}
