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
    /// No answer for now: a timeout, a lost connection, an interrupted call, a request refused because there are too many.
    /// The same call may succeed soon, and nothing follows for the file.
    #[error("{}: cannot {operation} now: {source}; try again", path.display())]
    Unavailable {
        /// Operation that failed: `open`, `read`, …
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
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
    /// operation and path that it has. Kinds of errors that pass by themselves become [`StorageError::Unavailable`].
    pub fn from_io(operation: &'static str, path: &Path, source: io::Error) -> StorageError {
        match source.downcast::<StorageError>() {
            Ok(error) => error,
            Err(source) if source.kind() == io::ErrorKind::NotFound => StorageError::NotFound {
                path: path.to_owned(),
            },
            Err(source) if passes(source.kind()) => StorageError::Unavailable {
                operation,
                path: path.to_owned(),
                source,
            },
            Err(source) => StorageError::Io {
                operation,
                path: path.to_owned(),
                source,
            },
        }
    }

    /// Returns whether the same call may succeed soon: nothing follows for the file, and nothing of the failure may be
    /// kept.
    pub fn is_transient(&self) -> bool {
        matches!(self, StorageError::Unavailable { .. })
    }

    /// Returns the kind of the operating system's error, or else the kind that fits.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            StorageError::NotFound { .. } => io::ErrorKind::NotFound,
            StorageError::Locked { .. } => io::ErrorKind::WouldBlock,
            StorageError::InvalidName { .. } => io::ErrorKind::InvalidInput,
            StorageError::Unavailable { source, .. } | StorageError::Io { source, .. } => {
                source.kind()
            }
        }
    }
}

/// Returns whether an error of this kind passes by itself. `EIO`, of which a disk reports lost bytes, is none of them.
fn passes(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::*;
    matches!(
        kind,
        TimedOut
            | Interrupted
            | WouldBlock
            | ConnectionRefused
            | ConnectionReset
            | ConnectionAborted
            | NotConnected
            | BrokenPipe
            | HostUnreachable
            | NetworkUnreachable
            | NetworkDown
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_lasts() {
        let of = |source: io::Error| StorageError::from_io("read", Path::new("a"), source);
        for kind in [
            io::ErrorKind::TimedOut,
            io::ErrorKind::Interrupted,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::ConnectionReset,
        ] {
            let error = of(kind.into());
            assert!(error.is_transient() && error.kind() == kind, "{error}");
            assert!(error.to_string().ends_with("; try again"), "{error}");
        }
        let lost = of(io::Error::from_raw_os_error(5));
        assert!(!lost.is_transient(), "{lost}");
        assert!(!of(io::ErrorKind::NotFound.into()).is_transient());
        assert!(!of(io::ErrorKind::StorageFull.into()).is_transient());
    }
}
