//! The manifest: the one file that says what an index is made of at a generation.
//!
//! `MANIFEST-<generation>` holds JSON in a sealed envelope: options of the index, every live file with
//! its length and checksum, and counts. A generation exists from the moment its manifest has its name.

mod plausible;

use crate::layout::{Chunks, Layout};
use crate::postings::PostingsCodec;
use crate::sealed::{Identity, Kind, Seal, SealedWriter};
use crate::section::open_sealed;
use crate::{IndexError, Order, Pairs, Texts};
use text::Analyzer;
use vfs::SharedStorage;

const PREFIX: &str = "MANIFEST-";

/// Everything about one generation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Manifest {
    pub(crate) generation: u64,
    /// Made when the index is built; every file of the index carries it.
    pub(crate) index_id: String,
    pub(crate) chunks: u32,
    /// Partitions that new segments are laid out for; left out where they are the chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) partitions: Option<u32>,
    pub(crate) analyzer: Analyzer,
    pub(crate) codec: PostingsCodec,
    /// Said only where it is not the usual.
    #[serde(default, skip_serializing_if = "Texts::is_stored")]
    pub(crate) texts: Texts,
    #[serde(default, skip_serializing_if = "Pairs::is_frequent")]
    pub(crate) pairs: Pairs,
    pub(crate) next_segment: u32,
    pub(crate) segments: Vec<SegmentEntry>,
    pub(crate) statistics: Option<StatisticsEntry>,
    pub(crate) documents_count: u64,
    /// Words of live documents, by field of `Field::WITH_LENGTHS`.
    pub(crate) words_counts: [u64; 2],
}

/// The files of one segment.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct SegmentEntry {
    pub(crate) segment: u32,
    #[serde(rename = "chunk")]
    pub(crate) chunks: Chunks,
    pub(crate) documents_count: u32,
    pub(crate) index: FileEntry,
    /// The texts; `None` in an index without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) documents: Option<FileEntry>,
    /// Stored pairs; `None` where none were worth it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<FileEntry>,
    pub(crate) deletions: Option<FileEntry>,
    /// The order of its documents; left out where they are as they came.
    #[serde(default, skip_serializing_if = "Order::is_arrival")]
    pub(crate) order: Order,
}

/// The files that count terms over segments.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub(crate) enum StatisticsEntry {
    /// One file that counts all segments.
    Whole(FileEntry),
    /// A base that counts some, and what changed since. A program that knows the first form alone refuses this one.
    Layers(StatisticsLayers),
}

/// Counts of some segments, and of the documents that were deleted since. The lists of further segments count themselves.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct StatisticsLayers {
    /// Counts the segments `counted`; `None` where that is one, without deleted documents at the time.
    pub(crate) base: Option<FileEntry>,
    /// The segments that the base counts, in its order.
    pub(crate) counted: Vec<u32>,
    /// Terms of the documents that were deleted since, each deletion in one file; the largest file first.
    pub(crate) deleted: Vec<FileEntry>,
}

impl StatisticsEntry {
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let (base, deleted) = match self {
            StatisticsEntry::Whole(file) => (Some(file), &[][..]),
            StatisticsEntry::Layers(layers) => (layers.base.as_ref(), &layers.deleted[..]),
        };
        base.into_iter().chain(deleted)
    }
}

/// A file by name, with its length and checksum.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct FileEntry {
    pub(crate) name: String,
    /// The number in the file's header, where it is not the segment's.
    pub(crate) number: u64,
    pub(crate) seal: Seal,
}

impl Manifest {
    pub(crate) fn new(
        index_id: u128,
        layout: Layout,
        analyzer: Analyzer,
        codec: PostingsCodec,
        texts: Texts,
        pairs: Pairs,
    ) -> Manifest {
        let mut manifest = Manifest {
            generation: 0,
            index_id: format!("{index_id:032x}"),
            chunks: layout.chunks,
            partitions: None,
            analyzer,
            codec,
            texts,
            pairs,
            next_segment: 1,
            segments: Vec::new(),
            statistics: None,
            documents_count: 0,
            words_counts: [0; 2],
        };
        manifest.set_layout(layout);
        manifest
    }

    /// Chunks, and the partitions that they are laid out for.
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            chunks: self.chunks,
            partitions: self.partitions.unwrap_or(self.chunks),
        }
    }

    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.chunks = layout.chunks;
        self.partitions = (layout.partitions != layout.chunks).then_some(layout.partitions);
    }

    /// Puts the segments in the order of partitions, those of one by age.
    pub(crate) fn sort_segments(&mut self) {
        self.segments
            .sort_by_key(|entry| (entry.chunks.first(), entry.segment));
    }

    pub(crate) fn index_id(&self) -> u128 {
        u128::from_str_radix(&self.index_id, 16).unwrap_or(0)
    }

    /// The order that some segment was put into, or arrival.
    pub(crate) fn order(&self) -> Order {
        let mut orders = self.segments.iter().map(|entry| entry.order);
        orders.find(|order| !order.is_arrival()).unwrap_or_default()
    }

    /// Every file that it names, with what it is.
    pub(crate) fn files_by_kind(&self) -> impl Iterator<Item = (Kind, &FileEntry)> {
        let segments = self.segments.iter();
        let statistics = self.statistics.iter().flat_map(StatisticsEntry::files);
        segments
            .flat_map(|entry| {
                [
                    (Kind::Segment, Some(&entry.index)),
                    (Kind::Documents, entry.documents.as_ref()),
                    (Kind::Pairs, entry.pairs.as_ref()),
                    (Kind::Deletions, entry.deletions.as_ref()),
                ]
            })
            .filter_map(|(kind, file)| Some((kind, file?)))
            .chain(statistics.map(|file| (Kind::Statistics, file)))
    }

    /// The statistics as layers: one file that counts all segments is a base.
    pub(crate) fn statistics_layers(&self) -> StatisticsLayers {
        let base = match &self.statistics {
            Some(StatisticsEntry::Layers(layers)) => return layers.clone(),
            Some(StatisticsEntry::Whole(file)) => Some(file.clone()),
            None => None,
        };
        StatisticsLayers {
            base,
            counted: self.segments.iter().map(|entry| entry.segment).collect(),
            deleted: Vec::new(),
        }
    }

    fn files(&self) -> impl Iterator<Item = &FileEntry> {
        self.files_by_kind().map(|(_, file)| file)
    }

    /// The names of all files that this generation needs, its own included.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        let own = std::iter::once(manifest_name(self.generation));
        own.chain(self.files().map(|entry| entry.name.clone()))
    }

    /// Files of the generation, the manifest left out.
    pub(crate) fn files_count(&self) -> usize {
        self.files().count()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files().map(|entry| entry.seal.bytes).sum()
    }

    /// Bytes of the search index, without the document store.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.bytes() - self.store_bytes()
    }

    pub(crate) fn store_bytes(&self) -> u64 {
        self.segments
            .iter()
            .filter_map(|entry| entry.documents.as_ref())
            .map(|file| file.seal.bytes)
            .sum()
    }
}

pub(crate) fn manifest_name(generation: u64) -> String {
    format!("{PREFIX}{generation}")
}

/// The generation whose manifest has this name.
pub(crate) fn generation_of(name: &str) -> Option<u64> {
    let generation = name.strip_prefix(PREFIX)?.parse().ok()?;
    // `MANIFEST-02` and `MANIFEST-+2` are not what a commit writes.
    (manifest_name(generation) == name).then_some(generation)
}

/// Generations whose manifests are there, newest first.
pub(crate) fn generations(storage: &SharedStorage) -> Result<Vec<u64>, IndexError> {
    let names = storage.list()?;
    let mut found: Vec<u64> = names
        .iter()
        .filter_map(|name| generation_of(name))
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// Reads one generation's manifest.
pub(crate) fn read(storage: &SharedStorage, generation: u64) -> Result<Manifest, IndexError> {
    let name = manifest_name(generation);
    let (payload, identity) = open_sealed(storage, &name, Kind::Manifest, None)?;
    let damaged = |what: String| payload.damaged(0, &what);
    let manifest: Manifest = serde_json::from_slice(payload.whole().unwrap_or_default())
        .map_err(|error| damaged(format!("manifest unreadable: {error}")))?;
    let same = identity.index_id == manifest.index_id()
        && identity.number == generation
        && manifest.generation == generation;
    if !same {
        return Err(damaged(
            "this is the manifest of another index or generation".into(),
        ));
    }
    if let Some(what) = plausible::implausible(&manifest) {
        return Err(damaged(what));
    }
    Ok(manifest)
}

/// Reads the newest generation, which is the index. Whatever an interrupted commit left behind has
/// no manifest of that name yet, so the newest one is never incomplete; damage in it is an error.
pub(crate) fn read_newest(storage: &SharedStorage) -> Result<Option<Manifest>, IndexError> {
    match newest(storage)? {
        Some(generation) => read(storage, generation).map(Some),
        None => Ok(None),
    }
}

/// The newest generation. An error where something that is no file has the name of a newer manifest:
/// no commit leaves that, and the generation before it would be answered in its place.
pub(crate) fn newest(storage: &SharedStorage) -> Result<Option<u64>, IndexError> {
    let newest = generations(storage)?.first().copied();
    let others = storage.list_others()?.into_iter();
    let odd = others.filter_map(|other| Some((generation_of(&other.name)?, other)));
    match odd.max_by_key(|&(generation, _)| generation) {
        Some((generation, other)) if newest.is_none_or(|newest| newest < generation) => {
            Err(IndexError::Damaged {
                path: storage.location().join(other.name),
                offset: 0,
                what: format!(
                    "this is {}, and should be the manifest of the newest generation",
                    other.kind
                ),
            })
        }
        _ => Ok(newest),
    }
}

/// Makes `manifest` the newest generation: everything that it names is durable before it has its
/// name, and its name is durable before this returns.
pub(crate) fn commit(storage: &SharedStorage, manifest: &Manifest) -> Result<(), IndexError> {
    storage.sync_directory()?;
    let name = manifest_name(manifest.generation);
    let temporary = format!("tmp-{name}");
    let identity = Identity {
        kind: Kind::Manifest,
        index_id: manifest.index_id(),
        number: manifest.generation,
    };
    let mut out = SealedWriter::create(storage, &temporary, identity)?;
    out.write(&serde_json::to_vec_pretty(manifest).unwrap_or_default())?;
    out.finish()?;
    storage.rename(&temporary, &name)?;
    storage.sync_directory()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::RangeInclusive;
    use std::sync::Arc;
    use vfs::MemoryStorage;

    /// What reading says of an index of eight chunks whose one segment has `chunks`.
    fn read_back(partitions: u32, chunks: RangeInclusive<u32>) -> Result<Manifest, IndexError> {
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let layout = Layout {
            chunks: 8,
            partitions,
        };
        let analyzer = Analyzer::default();
        let (codec, pairs) = (PostingsCodec::default(), Pairs::default());
        let mut manifest = Manifest::new(1, layout, analyzer, codec, Texts::None, pairs);
        let file = FileEntry {
            name: "segment-00000001.index".to_owned(),
            number: 1,
            seal: Seal {
                bytes: 100,
                checksum: 0,
            },
        };
        manifest.next_segment = 2;
        manifest.documents_count = 1;
        manifest.segments.push(SegmentEntry {
            segment: 1,
            chunks: chunks.into(),
            documents_count: 1,
            index: file,
            documents: None,
            pairs: None,
            deletions: None,
            order: Order::Arrival,
        });
        commit(&storage, &manifest)?;
        read(&storage, 0)
    }

    #[test]
    fn the_chunks_of_a_segment_are_a_partition() {
        for (partitions, chunks) in [(8, 7..=7), (3, 2..=4), (1, 0..=7)] {
            let manifest = read_back(partitions, chunks.clone()).unwrap();
            assert_eq!(manifest.segments[0].chunks.range(), chunks);
            assert_eq!(manifest.layout().partitions, partitions);
        }
        for (partitions, chunks) in [(8, 8..=8), (8, 0..=1), (3, 2..=3), (1, 0..=0), (1, 9..=12)] {
            let refused = read_back(partitions, chunks.clone())
                .unwrap_err()
                .to_string();
            assert!(
                refused.contains("no partition of the index"),
                "{chunks:?}: {refused}"
            );
        }
        for partitions in [0, 9, u32::MAX] {
            let refused = read_back(partitions, 0..=0).unwrap_err().to_string();
            assert!(refused.contains("can be laid out for"), "{refused}");
        }
    }
}
