//! Indexes built in memory, and comparison of their contents.

use document::Document;
use index::{BuildOptions, Index, Writer};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Adds documents and commits.
pub(crate) fn add(
    storage: &SharedStorage,
    documents: impl IntoIterator<Item = Document>,
    options: BuildOptions,
) {
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for document in documents {
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

/// Returns the payloads of the index files of the newest generation, which hold neither id nor number, in the order of
/// partitions.
pub(crate) fn payloads(disk: &MemoryStorage) -> Vec<Vec<u8>> {
    let index = Index::open(Arc::new(disk.clone())).unwrap();
    let segments = index.segments(..);
    segments
        .map(|segment| {
            let name = format!("segment-{:08}.index", segment.id());
            let file = disk.read_raw(&name).unwrap();
            let tail = &file[file.len() - 24..];
            let bytes = u64::from_le_bytes(tail[..8].try_into().unwrap()) as usize;
            file[64..64 + bytes].to_vec()
        })
        .collect()
}
