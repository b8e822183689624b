//! Loading of an index into memory before it is opened.

use crate::manifest::{self, FileEntry, Manifest, StatisticsEntry};
use crate::{Index, IndexError, snapshot};
use std::ops::Range;
use vfs::preload::OnProgress;
use vfs::{PreloadOptions, PreloadedStorage, SharedStorage, StorageError};

/// Parts of an index to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreloadParts {
    /// Files that searches read: segments, deletions, statistics.
    pub index: bool,
    /// Files that summaries read: texts.
    pub texts: bool,
}

/// Loads the files of `chunks` of the newest generation into memory. The returned storage has the whole index; open it
/// there ([`crate::Index::open`]). Chunks beyond the last are ignored.
///
/// A concurrent commit puts a newer generation in place; its files are read from the disk.
pub fn preload(
    storage: SharedStorage,
    chunks: Range<u32>,
    parts: PreloadParts,
    options: &PreloadOptions,
    on_progress: &mut OnProgress,
) -> Result<PreloadedStorage, IndexError> {
    preload_after(storage, chunks, parts, options, None, on_progress)
}

/// Does the same as [`preload`] where a generation and its storage are open already; trusted files that both
/// generations have are not loaded again.
pub fn preload_after(
    storage: SharedStorage,
    chunks: Range<u32>,
    parts: PreloadParts,
    options: &PreloadOptions,
    before: Option<(&Index, &PreloadedStorage)>,
    on_progress: &mut OnProgress,
) -> Result<PreloadedStorage, IndexError> {
    let mut tries = 0;
    loop {
        let Some(manifest) = manifest::read_newest(&storage)? else {
            return Err(IndexError::NoIndex {
                path: storage.location(),
            });
        };
        let trusted = before.map(|(index, _)| index.trusted_files(&manifest));
        let trusted = trusted.unwrap_or_default();
        let mut names = Vec::new();
        let mut kept = Vec::new();
        for file in files(&manifest, &chunks, parts) {
            let shared = before.filter(|_| trusted.get(file.name.as_str()) == Some(&file));
            match shared.and_then(|(_, loaded)| loaded.loaded(&file.name)) {
                Some(loaded) => kept.push((file.name.clone(), loaded)),
                None => names.push(file.name.clone()),
            }
        }
        match PreloadedStorage::load_beside(storage.clone(), &names, kept, options, on_progress) {
            // A commit removed a file that it replaced.
            Err(StorageError::NotFound { .. })
                if tries < snapshot::TRIES
                    && manifest::generations(&storage)?.first() != Some(&manifest.generation) =>
            {
                tries += 1;
            }
            loaded => return Ok(loaded?),
        }
    }
}

fn files<'a>(
    manifest: &'a Manifest,
    chunks: &Range<u32>,
    parts: PreloadParts,
) -> Vec<&'a FileEntry> {
    let mut files = Vec::new();
    for entry in &manifest.segments {
        if !entry.chunks.touch(chunks) {
            continue;
        }
        if parts.index {
            files.push(&entry.index);
            files.extend(&entry.deletions);
            files.extend(&entry.pairs);
            files.extend(&entry.columns);
        }
        if parts.texts {
            files.extend(&entry.documents);
        }
    }
    if parts.index {
        files.extend(manifest.statistics.iter().flat_map(StatisticsEntry::files));
    }
    files
}
