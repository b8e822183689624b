//! Folder of a crawl in the directory of its index.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

/// Returns the folder of the crawl in the directory of an index.
pub(super) fn crawl_folder(directory: &Path) -> PathBuf {
    directory.join("crawl")
}

/// Opens the storage of a crawl that must exist.
pub(super) fn existing_crawl(directory: &Path) -> anyhow::Result<SharedStorage> {
    let folder = crawl_folder(directory);
    if !folder.is_dir() {
        anyhow::bail!(
            "{}: no crawl here; begin one with `shorttail crawl INDEX URL`",
            directory.display()
        );
    }
    Ok(Arc::new(RealStorage::open(folder)?))
}
