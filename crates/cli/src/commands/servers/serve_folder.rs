//! Folders of indexes: one process, one set of threads, each index at its name.

use super::serving::{PreloadArguments, VerifyArguments};
use index::{Index, PreloadParts};
use ingest::LiveOptions;
use serve::{CatalogOptions, Chunks};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use vfs::{RealFolder, RealStorage, SharedStorage, StorageFolder};

/// Returns whether a directory is a folder of indexes: no index itself, and with one inside, or without files where one may
/// come.
pub(super) fn is_folder(directory: &Path, may_come: bool) -> anyhow::Result<bool> {
    if !directory.is_dir() || has_index(Arc::new(RealStorage::open(directory)?)) {
        return Ok(false);
    }
    let folder = RealFolder::open(directory)?;
    let holds_index = |name: &String| folder.open(name).ok().flatten().is_some_and(has_index);
    Ok(folder.list()?.iter().any(holds_index) || may_come && is_empty_of_files(directory)?)
}

fn has_index(storage: SharedStorage) -> bool {
    matches!(Index::newest_generation(&storage), Ok(Some(_)))
}

/// Returns whether a directory has no files: what is not a folder of indexes is not written to by mistake.
fn is_empty_of_files(directory: &Path) -> anyhow::Result<bool> {
    let storage = RealStorage::open(directory)?;
    Ok(vfs::Storage::list(&storage)?.is_empty())
}

/// Returns how the chunks of each index in a folder are opened, and what of them is loaded into memory, for servers of
/// front-ends.
pub(super) fn folder_of_parts(
    directory: &Path,
    chunks: Option<Chunks>,
    preload: PreloadArguments,
    parts: PreloadParts,
    verify: &VerifyArguments,
) -> anyhow::Result<CatalogOptions> {
    if parts.index {
        console::kernels::choose()?;
    }
    Ok(CatalogOptions {
        open: Box::new(move |_, storage| preload.open_storage(storage, chunks.as_ref(), parts)),
        verify_bytes_per_s: Some(verify.bytes_per_s()),
        ..CatalogOptions::new(Arc::new(RealFolder::open(directory)?))
    })
}

/// Returns the catalog of the indexes of a folder.
pub(super) fn catalog(
    directory: &Path,
    preload: PreloadArguments,
    verify: &VerifyArguments,
    writing: Option<LiveOptions>,
    refresh: Option<Duration>,
) -> anyhow::Result<CatalogOptions> {
    const WHOLE: PreloadParts = PreloadParts {
        index: true,
        texts: true,
    };
    console::kernels::choose()?;
    let folder = RealFolder::open(directory)?;
    if writing.is_some() {
        folder.end_removals()?;
    }
    Ok(CatalogOptions {
        open: Box::new(move |_, storage| preload.open_storage(storage, None, WHOLE)),
        writing,
        looks_for_newer: refresh.is_some(),
        verify_bytes_per_s: Some(verify.bytes_per_s()),
        observe: observing(directory),
        ..CatalogOptions::new(Arc::new(folder))
    })
}

/// Makes the server tell of the crawl in the directory of each index, in builds with the crawler.
#[cfg(feature = "crawler")]
fn observing(folder: &Path) -> Option<Box<serve::ObserveCrawl>> {
    let folder = folder.to_owned();
    Some(Box::new(move |name| {
        Arc::new(crate::commands::crawl::DirectoryCrawl(folder.join(name)))
    }))
}

#[cfg(not(feature = "crawler"))]
fn observing(_: &Path) -> Option<Box<serve::ObserveCrawl>> {
    None
}
