//! Opening of indexes for a command.

use crate::failure::note;
use crate::figures;
use crate::meter::Meter;
use anyhow::bail;
use index::{Index, PreloadParts, Segment};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use vfs::{Preload, PreloadOptions, RealStorage, SharedStorage};

/// Opens the directory of an index, which must exist.
pub fn existing_directory(directory: &Path) -> anyhow::Result<SharedStorage> {
    if !directory.exists() {
        bail!(
            "{}: no such directory; build an index with `shorttail index INDEX SOURCE`",
            directory.display()
        );
    }
    Ok(Arc::new(RealStorage::open(directory)?))
}

/// Opens the directory of an index to change, which must have a generation.
pub fn existing_index(directory: &Path) -> anyhow::Result<SharedStorage> {
    let storage = existing_directory(directory)?;
    match Index::newest_generation(&storage)? {
        Some(_) => Ok(storage),
        None => bail!(
            "{}: no index here; build one with `shorttail index INDEX SOURCE`",
            directory.display()
        ),
    }
}

/// Opens an index that must exist, for servers and the engine, which verify the blocks that they read.
pub fn open_index(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index = Index::open(existing_directory(directory)?)?;
    warn_of_unfinished(&index);
    Ok(Arc::new(index))
}

/// Opens an index that must exist and verifies all of it, for commands that read it directly.
pub fn open_verified(directory: &Path) -> anyhow::Result<Arc<Index>> {
    let index = open_index(directory)?;
    index.verify_whole()?;
    Ok(index)
}

/// Warns of a newer generation that has files and no manifest.
pub fn warn_of_unfinished(index: &Index) {
    if let Some(unfinished) = index.unfinished() {
        note(&format!("warning: {unfinished}"));
    }
}

/// Loads the files of an index, without texts, into memory, opens it and verifies all of it. Reports the progress and
/// the kind of memory obtained.
pub fn open_preloaded(directory: &Path, preload: Preload) -> anyhow::Result<Arc<Index>> {
    if preload == Preload::None {
        return open_verified(directory);
    }
    let parts = PreloadParts {
        index: true,
        texts: false,
    };
    let options = PreloadOptions::new(preload);
    let mut meter = Meter::start("loading", None);
    let storage = existing_directory(directory)?;
    let preloaded = index::preload(storage, 0..u32::MAX, parts, &options, &mut |at| {
        meter.update_of("loading", at.bytes_done, at.bytes_total, |_| {
            figures::bytes(at.bytes_done)
        });
        ControlFlow::Continue(())
    })?;
    drop(meter);
    let preloaded = Arc::new(preloaded);
    let index = Index::open(preloaded.clone())?;
    index.verify_whole()?;
    warn_of_unfinished(&index);
    note(&preloaded.report().to_string());
    Ok(Arc::new(index))
}

/// Returns the segments of all chunks.
pub fn all_segments(index: &Index) -> Vec<Arc<Segment>> {
    index.segments(0..index.chunks_count()).cloned().collect()
}

/// Returns the number of cores that this process may use.
pub fn cores_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
