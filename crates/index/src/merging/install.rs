//! Installation of merged segments in place of their sources, without the documents removed meanwhile.

use crate::deletions::Deletions;
use crate::manifest::{FileEntry, Manifest, SegmentEntry, StatisticsEntry, StatisticsLayers};
use crate::opener::open_deletions;
use crate::optimize::rewrite::GoneBySegment;
use crate::{IndexError, MergeReservation};
use std::collections::HashSet;
use std::sync::Arc;
use vfs::SharedStorage;

/// Finished merge, which a commit installs ([`crate::Writer::install`]).
#[derive(Debug)]
pub struct MergedSegments {
    pub(super) index_id: String,
    pub(super) segments: Vec<Merged>,
    /// Statistics of the generation at the start of the merge, and those that replace them.
    pub(super) layers_before: StatisticsLayers,
    pub(super) layers: StatisticsLayers,
    pub(super) reservation: MergeReservation,
}

/// Merged segment of a partition.
#[derive(Debug)]
pub(super) struct Merged {
    /// `None` where no document was alive.
    pub(super) entry: Option<SegmentEntry>,
    /// Sources, in the order of their documents.
    pub(super) sources: Vec<Source>,
}

/// Segment that was merged.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) segment: u32,
    documents_count: u32,
    /// Documents left out.
    gone: Option<Arc<Deletions>>,
    gone_file: Option<FileEntry>,
}

impl Source {
    pub(super) fn new(entry: &SegmentEntry, gone: Option<&Arc<Deletions>>) -> Source {
        Source {
            segment: entry.segment,
            documents_count: entry.documents_count,
            gone: gone.cloned(),
            gone_file: entry.deletions.clone(),
        }
    }
}

impl MergedSegments {
    /// Returns the numbers and files that commits must leave to this merge until it is installed or given up.
    pub fn reservation(&self) -> &MergeReservation {
        &self.reservation
    }

    /// Counts the segments that it replaces.
    pub(crate) fn sources_count(&self) -> u64 {
        let counts = self.segments.iter().map(|merged| merged.sources.len());
        counts.sum::<usize>() as u64
    }

    /// Returns whether the manifest has the sources, and its statistics began with those of the merge.
    pub(crate) fn fits(&self, manifest: &Manifest) -> bool {
        let known: HashSet<u32> = manifest.segments.iter().map(|one| one.segment).collect();
        let sources = self.segments.iter().flat_map(|merged| &merged.sources);
        let mut numbers = self.reservation.segments.clone();
        let now = manifest.statistics_layers();
        let StatisticsLayers {
            base,
            counted,
            deleted,
        } = &self.layers_before;
        manifest.index_id == self.index_id
            && sources
                .into_iter()
                .all(|source| known.contains(&source.segment))
            && !numbers.any(|number| known.contains(&number))
            && (&now.base, &now.counted) == (base, counted)
            && now.deleted.starts_with(deleted)
    }

    /// Replaces the sources in `manifest`, and the statistics of the generation that the merge began with; returns the
    /// documents of merged segments that were removed from the sources since. The caller must write them.
    pub(crate) fn install(
        &self,
        storage: &SharedStorage,
        manifest: &mut Manifest,
    ) -> Result<GoneBySegment, IndexError> {
        let mut inherited = GoneBySegment::new();
        for Merged { entry, sources } in &self.segments {
            let Some(entry) = entry else { continue };
            let mut gone = Deletions::none(entry.documents_count);
            let mut first = 0;
            for source in sources {
                if let Some(file) = file_now(manifest, source) {
                    let now = open_deletions(storage, manifest, file, source.documents_count)?;
                    newly_gone(source.gone.as_deref(), &now, first, |doc| {
                        gone.insert(doc);
                    });
                }
                let left_out = source.gone.as_ref().map_or(0, |gone| gone.count());
                first += source.documents_count - left_out;
            }
            if gone.count() > 0 {
                inherited.insert(entry.segment, Arc::new(gone));
            }
        }
        let since = manifest.statistics_layers().deleted;
        let since = since.into_iter().skip(self.layers_before.deleted.len());
        let mut layers = self.layers.clone();
        layers.deleted.extend(since);
        manifest.statistics = Some(StatisticsEntry::Layers(layers));
        let sources = self.segments.iter().flat_map(|merged| &merged.sources);
        let sources: HashSet<u32> = sources.map(|source| source.segment).collect();
        manifest
            .segments
            .retain(|entry| !sources.contains(&entry.segment));
        let merged = self.segments.iter().filter_map(|one| one.entry.clone());
        manifest.segments.extend(merged);
        manifest.sort_segments();
        Ok(inherited)
    }
}

/// Returns the file of deletions of a source, where it is another one than the merge began with.
fn file_now<'m>(manifest: &'m Manifest, source: &Source) -> Option<&'m FileEntry> {
    let mut entries = manifest.segments.iter();
    let entry = entries.find(|entry| entry.segment == source.segment)?;
    let file = entry.deletions.as_ref();
    file.filter(|&file| Some(file) != source.gone_file.as_ref())
}

/// Calls `each` with the merged number of every document that is gone `now` and was not `then`. The merged segment has
/// the documents that were not gone then, in their order, from the number `first` on.
fn newly_gone(then: Option<&Deletions>, now: &Deletions, first: u32, mut each: impl FnMut(u32)) {
    let mut before = then.into_iter().flat_map(Deletions::docs).peekable();
    let mut left_out = 0;
    for doc in now.docs() {
        while before.next_if(|&gone| gone < doc).is_some() {
            left_out += 1;
        }
        if before.peek() != Some(&doc) {
            each(first + doc - left_out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn deletions(docs: &[bool]) -> Deletions {
        let mut gone = Deletions::none(docs.len() as u32);
        let numbered = (0..).zip(docs);
        for (doc, _) in numbered.filter(|(_, is_gone)| **is_gone) {
            gone.insert(doc);
        }
        gone
    }

    proptest! {
        #[test]
        fn documents_keep_their_places_among_the_live(
            states in prop::collection::vec((any::<bool>(), any::<bool>()), 0..300),
            first in 0u32..1000,
        ) {
            let then: Vec<bool> = states.iter().map(|&(then, _)| then).collect();
            let now: Vec<bool> = states.iter().map(|&(then, later)| then || later).collect();
            // The slow twin: numbers as the merge gives them.
            let mut next = first;
            let mut expected = Vec::new();
            for (&then, &now) in then.iter().zip(&now) {
                if !then {
                    if now {
                        expected.push(next);
                    }
                    next += 1;
                }
            }
            let mut found = Vec::new();
            newly_gone(Some(&deletions(&then)), &deletions(&now), first, |doc| found.push(doc));
            prop_assert_eq!(&found, &expected);
            if !then.contains(&true) {
                let mut found = Vec::new();
                newly_gone(None, &deletions(&now), first, |doc| found.push(doc));
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
