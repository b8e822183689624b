//! Names of indexes, and the indexes that a folder has.

use index::{Index, IndexError};
use vfs::{SharedStorage, StorageFolder, is_storage_name};

/// Names that no index can have, since the server has pages of these names, or may have.
const RESERVED: [&str; 14] = [
    "crawl",
    "delete-by-query",
    "document",
    "documents",
    "favicon.ico",
    "favicon.svg",
    "healthz",
    "indexes",
    "metrics",
    "page.js",
    "refresh",
    "reload",
    "search",
    "style.css",
];

/// Returns whether an index may have a name.
pub(super) fn is_name(name: &str) -> bool {
    is_storage_name(name) && !RESERVED.contains(&name)
}

/// Returns the storage of an index; `None` where there is no index of the name.
pub(super) fn storage_of(
    folder: &dyn StorageFolder,
    name: &str,
) -> Result<Option<SharedStorage>, IndexError> {
    let Some(storage) = folder.open(name)? else {
        return Ok(None);
    };
    let newest = Index::newest_generation(&storage)?;
    Ok(newest.map(|_| storage))
}

/// Returns the names of all indexes of a folder, sorted. Those that are open are not looked at.
pub(super) fn in_folder(
    folder: &dyn StorageFolder,
    is_open: impl Fn(&str) -> bool,
) -> Result<Vec<String>, IndexError> {
    let mut names = folder.list()?;
    // A directory that cannot be read is none of an index.
    let is_index = |name: &str| matches!(storage_of(folder, name), Ok(Some(_)));
    names.retain(|name| is_name(name) && (is_open(name) || is_index(name)));
    Ok(names)
}
