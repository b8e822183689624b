//! What can go wrong at the disk, with the path it went wrong at.
use std::io;
use std::path::{Path, PathBuf};

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
    /// Another process or writer holds the lock.
    #[error("{}: another process is writing here; wait for it to end, or send documents to it where it is a server", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A name that could mean a file elsewhere, or none.
    #[error(
        "{}: {name:?} cannot be a file name here; use letters, digits, '-', '_' and '.', \
         not starting with '.', at most 255",
        directory.display()
    )]
    InvalidName {
        /// The storage.
        directory: PathBuf,
        /// The name asked for.
        name: String,
    },
    /// Anything else that the operating system refused.
    #[error("{}: cannot {operation}: {source}", path.display())]
    Io {
        /// Operation that failed: `create`, `write`, `sync`, …
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl StorageError {
    /// Returns the error for `source` in `operation` on `path`. An error that came through [`io::Write`] keeps the
    /// operation and path that it has.
    pub fn from_io(operation: &'static str, path: &Path, source: io::Error) -> StorageError {
        match source.downcast::<StorageError>() {
            Ok(error) => error,
            Err(source) if source.kind() == io::ErrorKind::NotFound => StorageError::NotFound {
                path: path.to_owned(),
            },
            Err(source) => StorageError::Io {
                operation,
                path: path.to_owned(),
                source,
            },
        }
    }

    /// Returns the kind of the operating system's error, or else the kind that fits.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            StorageError::NotFound { .. } => io::ErrorKind::NotFound,
            StorageError::Locked { .. } => io::ErrorKind::WouldBlock,
            StorageError::InvalidName { .. } => io::ErrorKind::InvalidInput,
            StorageError::Io { source, .. } => source.kind(),
        }
    }
}

/// Wraps the error for [`io::Write`]; path and operation stay inside.
impl From<StorageError> for io::Error {
    fn from(error: StorageError) -> io::Error {
        // `Write::write_all` repeats interrupted calls without end, and a file that failed once stays failed.
        let kind = match error.kind() {
            io::ErrorKind::Interrupted => io::ErrorKind::Other,
            kind => kind,
        };
        io::Error::new(kind, error)
    }
}
