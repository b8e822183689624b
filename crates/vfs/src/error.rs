//! What can go wrong at the disk, with the path it went wrong at.
use std::io;
use std::path::PathBuf;

/// An operation on a file failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The file or directory is not there.
    #[error("{}: not found", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else holds the lock.
    #[error("{}: another process is writing here; wait for it to end", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// Anything else that the operating system refused.
    #[error("{}: cannot {operation}: {source}", path.display())]
    Io {
        /// What was tried: `create`, `write`, `sync`, …
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}
