//! Optimization of an index: one segment for each partition, without deleted documents, with documents in a given
//! order.
//!
//! ```text
//! segments of a partition ──► live documents ──► an order ──► one segment and its texts ──commit──► MANIFEST-<n+1>
//! ```
//!
//! Answers do not change: hits, scores, counts and order are the same. Readers of the generation before continue. A
//! power cut leaves that generation or the new one, as with every commit.

mod arrange;
mod forward;
pub(crate) mod live;
pub(crate) mod pages;
mod partition;
mod progress;
pub(crate) mod rewrite;
mod rows;
mod terms;
mod work;

pub use progress::{OptimizeProgress, Phase};

use crate::leftovers::remove_leftovers;
use crate::manifest::{self, Manifest};
use crate::names::LOCK_NAME;
use crate::opener::open_segments;
use crate::sources::Sources;
use crate::statistics::write_statistics;
use crate::{IndexError, Order, derive, pairing};
use rewrite::{RewriteOptions, rewrite};
use vfs::SharedStorage;

/// Options of an optimization.
#[derive(Debug, Clone, Copy)]
pub struct OptimizeOptions {
    /// Order of documents; `None`: the index's present order, or arrival.
    pub order: Option<Order>,
    /// Partitions to lay the index out for; the chunks of each become one segment. `None`: the present ones.
    pub partitions: Option<u32>,
    /// Memory limit, in bytes. Reclaimable pages of files do not count.
    pub memory_bytes: u64,
    /// Threads; 0 counts as 1. The number does not affect the index.
    pub threads: usize,
    /// Memory for one posting list, in bytes; a larger list is read in pieces. `None`: what the memory limit allows. It
    /// does not affect the index. For tests, whose lists are short.
    pub list_bytes_max: Option<u64>,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        OptimizeOptions {
            order: None,
            partitions: None,
            memory_bytes: 512 << 20,
            threads: 1,
            list_bytes_max: None,
        }
    }
}

/// Summary of an optimization.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OptimizeSummary {
    /// Newest generation; the old one where nothing had to be done.
    pub generation: u64,
    /// Order requested, or found.
    pub order: Order,
    /// Partitions of the new layout.
    pub partitions: u64,
    /// Chunks rewritten.
    pub chunks_rewritten: u64,
    /// Segments of the index before.
    pub segments_before: u64,
    /// Segments of the index after.
    pub segments_after: u64,
    /// Live documents of the whole index.
    pub documents_count: u64,
    /// Deleted documents dropped from segments.
    pub documents_dropped: u64,
    /// Bytes of the search index before.
    pub index_bytes_before: u64,
    /// Bytes of the search index after.
    pub index_bytes_after: u64,
    /// Bytes of the document store before.
    pub store_bytes_before: u64,
    /// Bytes of the document store after.
    pub store_bytes_after: u64,
    /// Mean log2 of the gaps of all rewritten lists, in the order of arrival.
    pub gap_bits_before: f64,
    /// Mean log2 of the same gaps in the new order.
    pub gap_bits_after: f64,
    /// Frequent terms that bisection ignored for lack of memory.
    pub terms_left_out: u64,
}

/// Merges the segments of every partition into one, drops deleted documents, and puts the rest into an order, as a new
/// generation. Takes the writer lock. Writes nothing where the index has that form already.
pub fn optimize(
    storage: SharedStorage,
    options: &OptimizeOptions,
    progress: &(dyn Fn(OptimizeProgress) + Sync),
) -> Result<OptimizeSummary, IndexError> {
    let sources = Sources::over(&storage);
    let storage: SharedStorage = sources.clone();
    // Checked before locking, because the lock file does not belong into a directory without an index.
    newest(&storage)?;
    let _lock = storage.lock(LOCK_NAME)?;
    let before = newest(&storage)?;
    remove_leftovers(&storage, &before, None)?;
    let order = options.order.unwrap_or_else(|| before.order());
    let mut manifest = before.clone();
    manifest.generation += 1;
    if let Some(partitions) = options.partitions {
        let layout = before
            .layout()
            .with_partitions(storage.location(), partitions)?;
        manifest.set_layout(layout);
    }
    let rewrite_options = RewriteOptions {
        order,
        memory_bytes: options.memory_bytes,
        threads: options.threads,
        list_bytes_max: options.list_bytes_max,
        deletions: None,
        progress,
    };
    let outcome = rewrite(&storage, &mut manifest, &rewrite_options)?;
    if outcome.chunks > 0 || manifest.partitions != before.partitions {
        let segments = open_segments(&storage, &manifest)?;
        pairing::write_missing(&storage, &mut manifest, &segments, 0, options.threads)?;
        derive::write_missing(&storage, &mut manifest, &segments, 0, None)?;
        write_statistics(&storage, &mut manifest, segments)?;
        manifest::commit(&storage, &manifest, &sources.ensure_unchanged()?)?;
        // The commit is durable now; the next writer removes files that could not be removed.
        let _ = remove_leftovers(&storage, &manifest, None);
    } else {
        manifest = before.clone();
    }
    let documents_in = |manifest: &Manifest| -> u64 {
        let counts = manifest
            .segments
            .iter()
            .map(|entry| u64::from(entry.documents_count));
        counts.sum()
    };
    Ok(OptimizeSummary {
        generation: manifest.generation,
        order,
        partitions: manifest.layout().partitions.into(),
        chunks_rewritten: outcome.chunks,
        segments_before: before.segments.len() as u64,
        segments_after: manifest.segments.len() as u64,
        documents_count: manifest.documents_count,
        documents_dropped: documents_in(&before) - documents_in(&manifest),
        index_bytes_before: before.index_bytes(),
        index_bytes_after: manifest.index_bytes(),
        store_bytes_before: before.store_bytes(),
        store_bytes_after: manifest.store_bytes(),
        gap_bits_before: outcome.gaps_before.mean(),
        gap_bits_after: outcome.gaps_after.mean(),
        terms_left_out: outcome.terms_left_out,
    })
}

fn newest(storage: &SharedStorage) -> Result<Manifest, IndexError> {
    manifest::read_newest(storage)?.ok_or_else(|| IndexError::NoIndex {
        path: storage.location(),
    })
}
