//! Writing of merged segments and of their statistics, beside commits.

use super::install::{Merged, MergedSegments, Source};
use super::plan::MergeJob;
use crate::derive::{self, Gathered};
use crate::manifest::Manifest;
use crate::names::merged_statistics_file;
use crate::opener::open_segment;
use crate::optimize::rewrite::{RewriteOptions, rewrite_jobs};
use crate::sources::Sources;
use crate::statistics::{Replaced, write_replaced};
use crate::{IndexError, Order, Segment, Statistics, pairing};
use std::sync::Arc;
use vfs::SharedStorage;

impl MergeJob {
    /// Writes the merged segments and their statistics. Calls `step` often between reads and writes, so that it may pause.
    /// An error of `step` ends the counting of terms, and an error of `storage` any write; both end the merge.
    ///
    /// # Errors
    /// Nothing is visible; the next commit without the reservation removes what was written.
    pub fn run(
        self,
        storage: &SharedStorage,
        memory_bytes: u64,
        step: &(dyn Fn() -> Result<(), IndexError> + Sync),
    ) -> Result<MergedSegments, IndexError> {
        let MergeJob {
            manifest: begun,
            jobs,
            gone,
            reservation,
        } = self;
        let read = Sources::over(storage);
        let storage: &SharedStorage = &(Arc::clone(&read) as SharedStorage);
        let first = reservation.segments.start;
        let options = RewriteOptions {
            order: Order::Arrival,
            memory_bytes,
            threads: 1,
            list_bytes_max: None,
            deletions: Some(&gone),
            // Writes end by an error of the storage.
            progress: &|_| drop(step()),
        };
        let sources: Vec<(u32, Vec<Source>)> = jobs
            .iter()
            .map(|job| {
                let sources = job
                    .entries
                    .iter()
                    .map(|entry| Source::new(entry, gone.get(&entry.segment)));
                (first + job.number, sources.collect())
            })
            .collect();
        let mut manifest = begun.clone();
        manifest.next_segment = first;
        rewrite_jobs(storage, &mut manifest, jobs, &options)?;
        write_parts(storage, &mut manifest, first)?;

        let open = |of: &Manifest| -> Result<Vec<Arc<Segment>>, IndexError> {
            let mut segments = Vec::with_capacity(of.segments.len());
            for entry in &of.segments {
                // Commits may have removed the file of deletions meanwhile; counts of lists include deleted documents.
                let mut entry = entry.clone();
                entry.deletions = None;
                segments.push(Arc::new(open_segment(storage, of, &entry)?));
            }
            Ok(segments)
        };
        let (before, after) = (open(&begun)?, open(&manifest)?);
        let is_source = |segment: &&Segment| {
            let mut sources = sources.iter().flat_map(|(_, sources)| sources);
            sources.any(|source| source.segment == segment.id())
        };
        let replaced: Vec<&Segment> = before.iter().map(Arc::as_ref).filter(is_source).collect();
        let is_merged = |segment: &&Segment| segment.id() >= first;
        let merged: Vec<&Segment> = after.iter().map(Arc::as_ref).filter(is_merged).collect();
        let statistics = write_replaced(
            storage,
            &manifest,
            &Statistics::open(storage, &begun, Vec::new(), None)?,
            &Replaced {
                sources: &replaced,
                merged: &merged,
            },
            &after,
            merged_statistics_file(first),
            step,
        )?;
        read.ensure_unchanged()?;
        let entry_of = |segment: u32| {
            let mut entries = manifest.segments.iter();
            entries.find(|entry| entry.segment == segment).cloned()
        };
        let segments = sources.into_iter().map(|(segment, sources)| Merged {
            entry: entry_of(segment),
            sources,
        });
        Ok(MergedSegments {
            index_id: begun.index_id.clone(),
            segments: segments.collect(),
            layers_before: begun.statistics_layers(),
            layers: statistics,
            reservation,
        })
    }
}

/// Writes pairs and columns of the segments from `first` on, and adds them to `manifest`.
fn write_parts(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    first: u32,
) -> Result<(), IndexError> {
    let mut merged = manifest.clone();
    merged.segments.retain(|entry| entry.segment >= first);
    let segments: Vec<Segment> = merged
        .segments
        .iter()
        .map(|entry| open_segment(storage, &merged, entry))
        .collect::<Result<_, _>>()?;
    pairing::write_missing(storage, &mut merged, &segments, first, 1)?;
    // The fields of the sources are known.
    let known = Some(&Gathered::default());
    derive::write_missing(storage, &mut merged, &segments, first, known)?;
    manifest.segments.retain(|entry| entry.segment < first);
    manifest.segments.extend(merged.segments);
    manifest.sort_segments();
    Ok(())
}
