//! Contents of a manifest: options of the index, segments, files and counts.

use crate::chunks::Chunks;
use crate::layout::Layout;
use crate::names::manifest_name;
use crate::postings::PostingsCodec;
use crate::sealed::{Kind, Seal};
use crate::{Order, Pairs, Texts};
use text::Analyzer;

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

    pub(super) fn files(&self) -> impl Iterator<Item = &FileEntry> {
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
