//! Contents of a manifest: options of the index, segments, files and counts.

use crate::chunks::Chunks;
use crate::layout::Layout;
use crate::names::manifest_name;
use crate::postings::PostingsCodec;
use crate::sealed::{Kind, Seal};
use crate::{Order, Pairs, Texts};
use fields::{Rules, Schema};
use std::collections::BTreeMap;
use text::Analyzer;

/// Description of one generation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Manifest {
    pub(crate) generation: u64,
    /// Identifier drawn when the index is built; the header of every file repeats it.
    pub(crate) index_id: String,
    pub(crate) chunks: u32,
    /// Number of partitions that new segments are laid out for; absent where it equals `chunks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) partitions: Option<u32>,
    pub(crate) analyzer: Analyzer,
    pub(crate) codec: PostingsCodec,
    /// Whether texts are stored; absent where it has the default value.
    #[serde(default, skip_serializing_if = "Texts::is_stored")]
    pub(crate) texts: Texts,
    #[serde(default, skip_serializing_if = "Pairs::is_frequent")]
    pub(crate) pairs: Pairs,
    /// Fields of documents: types, and how words are searched; absent where no document has any.
    #[serde(default, skip_serializing_if = "Schema::is_empty")]
    pub(crate) fields: Schema,
    /// Folders of the files that documents were read from, as `file:` URLs; absent where none was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) folders: Vec<String>,
    /// Rules of relevance; absent where there are none.
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub(crate) rules: Rules,
    /// Number of the last write-ahead log whose changes are in this generation; absent where there was none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) logged: u64,
    pub(crate) next_segment: u32,
    pub(crate) segments: Vec<SegmentEntry>,
    pub(crate) statistics: Option<StatisticsEntry>,
    pub(crate) documents_count: u64,
    /// Words of live documents, by field in the order of `Field::WITH_LENGTHS`.
    pub(crate) words_counts: [u64; 2],
    /// Words of live documents in further fields, by number; absent where there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) further_words: BTreeMap<u8, u64>,
}

/// Files of one segment.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct SegmentEntry {
    pub(crate) segment: u32,
    #[serde(rename = "chunk")]
    pub(crate) chunks: Chunks,
    pub(crate) documents_count: u32,
    pub(crate) index: FileEntry,
    /// Texts; `None` in an index without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) documents: Option<FileEntry>,
    /// Stored pairs; `None` where no pair was worth its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<FileEntry>,
    /// Columns of fields; `None` in an index without fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) columns: Option<FileEntry>,
    pub(crate) deletions: Option<FileEntry>,
    /// Order of its documents; absent for the order of arrival.
    #[serde(default, skip_serializing_if = "Order::is_arrival")]
    pub(crate) order: Order,
}

/// Files that count terms over segments.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub(crate) enum StatisticsEntry {
    /// One file that counts all segments.
    Whole(FileEntry),
    /// Base that counts some segments, and later changes. Programs that know only the first form refuse this one.
    Layers(StatisticsLayers),
}

/// Counts of some segments, and of documents deleted since. Other segments are counted by their own lists.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct StatisticsLayers {
    /// Counts of the segments `counted`; `None` for a single segment that had no deleted documents.
    pub(crate) base: Option<FileEntry>,
    /// Segments that the base counts, in its order.
    pub(crate) counted: Vec<u32>,
    /// Files with the terms of documents deleted since the base, the largest first. Each deletion is in one file.
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

/// Name, length and checksum of a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct FileEntry {
    pub(crate) name: String,
    /// Number in the header of the file: the segment, or another number for deletions and statistics.
    pub(crate) number: u64,
    pub(crate) seal: Seal,
}

/// Upper limit on the folders that a manifest names.
const FOLDERS_MAX: usize = 256;

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Manifest {
    /// Notes folders of files, without those that are within a noted one. Beyond the limit the first ones stay.
    pub(crate) fn note_folders(&mut self, folders: &[String]) {
        for folder in folders {
            let folder = folder.trim_end_matches('/');
            let is_within = |noted: &String| {
                let rest = folder.strip_prefix(noted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if self.folders.len() < FOLDERS_MAX && !self.folders.iter().any(is_within) {
                self.folders.push(folder.to_owned());
            }
        }
    }

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
            fields: Schema::default(),
            folders: Vec::new(),
            rules: Rules::default(),
            logged: 0,
            next_segment: 1,
            segments: Vec::new(),
            statistics: None,
            documents_count: 0,
            words_counts: [0; 2],
            further_words: BTreeMap::new(),
        };
        manifest.set_layout(layout);
        manifest
    }

    /// Returns the chunks and the partitions that they are laid out for.
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

    /// Sorts the segments by partition, and by age within a partition.
    pub(crate) fn sort_segments(&mut self) {
        self.segments
            .sort_by_key(|entry| (entry.chunks.first(), entry.segment));
    }

    pub(crate) fn index_id(&self) -> u128 {
        u128::from_str_radix(&self.index_id, 16).unwrap_or(0)
    }

    /// Returns the order of the first segment that is not in the order of arrival; without one, the order of arrival.
    pub(crate) fn order(&self) -> Order {
        let mut orders = self.segments.iter().map(|entry| entry.order);
        orders.find(|order| !order.is_arrival()).unwrap_or_default()
    }

    /// Returns every file that the manifest names, with its kind.
    pub(crate) fn files_by_kind(&self) -> impl Iterator<Item = (Kind, &FileEntry)> {
        let segments = self.segments.iter();
        let statistics = self.statistics.iter().flat_map(StatisticsEntry::files);
        segments
            .flat_map(|entry| {
                [
                    (Kind::Segment, Some(&entry.index)),
                    (Kind::Documents, entry.documents.as_ref()),
                    (Kind::Pairs, entry.pairs.as_ref()),
                    (Kind::Columns, entry.columns.as_ref()),
                    (Kind::Deletions, entry.deletions.as_ref()),
                ]
            })
            .filter_map(|(kind, file)| Some((kind, file?)))
            .chain(statistics.map(|file| (Kind::Statistics, file)))
    }

    /// Returns the statistics as layers; a file that counts all segments becomes a base.
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

    /// Returns the names of all files of this generation, the manifest included.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        let own = std::iter::once(manifest_name(self.generation));
        own.chain(self.files().map(|entry| entry.name.clone()))
    }

    /// Counts the files of the generation without the manifest.
    pub(crate) fn files_count(&self) -> usize {
        self.files().count()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files().map(|entry| entry.seal.bytes).sum()
    }

    /// Returns the size of the search index in bytes, without the document store.
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
