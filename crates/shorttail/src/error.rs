//! Failures, one variant for each decision of the caller. No message names a command or an option of a program.

use crate::cancel::CancelToken;
use engine::{BadRequest, EngineError};
use index::IndexError;
use std::io;
use std::path::PathBuf;
use vfs::StorageError;

/// Outcome of an operation on an index.
pub type Result<T> = std::result::Result<T, Error>;

/// Failure of an operation on an index.
///
/// ```
/// use shorttail::{Error, Index};
///
/// let missing = std::env::temp_dir().join("no such index");
/// assert!(matches!(Index::open(missing), Err(Error::NoIndex { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Request without a possible answer: change it.
    #[error("{parameter}: {reason}")]
    BadRequest {
        /// The part of the request at fault.
        parameter: &'static str,
        /// Cause and remedy.
        reason: String,
    },
    /// Directory without an index: create one there.
    #[error("{}: no index here; create one", path.display())]
    NoIndex {
        /// The directory.
        path: PathBuf,
    },
    /// Directory that has an index already: open it, or choose another directory.
    #[error("{}: there is an index here already; open it, or choose another directory", path.display())]
    AlreadyExists {
        /// The directory.
        path: PathBuf,
    },
    /// Another writer, of this process or of another, has the index: wait for it.
    #[error("{}: another writer has the index; wait until it has ended", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// Settings that do not fit the index.
    #[error("{}: {reason}", path.display())]
    Mismatch {
        /// The index.
        path: PathBuf,
        /// The difference, and the remedy.
        reason: String,
    },
    /// Damaged file: restore it, or build the index anew.
    #[error("{}: byte {offset}: {what}; restore the file, or build the index anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the damage in the file, in bytes.
        offset: u64,
        /// Description of the damage.
        what: String,
    },
    /// Acknowledged changes of an ended process that cannot be read: restore the file.
    #[error("{}: byte {offset}: {what}, and had been acknowledged; restore the file", path.display())]
    LostChanges {
        /// The log of changes.
        path: PathBuf,
        /// Offset of the loss in the file, in bytes.
        offset: u64,
        /// The changes lost.
        what: String,
    },
    /// File of the index that changed while it was read: ask again.
    #[error("{}: a file of the index changed while it was read; ask again", path.display())]
    Changed {
        /// The index.
        path: PathBuf,
    },
    /// Storage that gave no answer for now: ask again.
    #[error("{}: cannot {operation} now: {source}; ask again", path.display())]
    Unavailable {
        /// The operation.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// Format that this version of the library does not read: build the index anew.
    #[error("{}: format version {found}, but this library reads version {read}; build the index anew", path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Version in the file.
        found: u32,
        /// Version that is read.
        read: u32,
    },
    /// File of the writer that was removed or replaced while it wrote: open another writer.
    #[error("{}: {what} was removed or replaced while this process wrote to the index", path.display())]
    Removed {
        /// The file.
        path: PathBuf,
        /// Purpose of the file.
        what: &'static str,
    },
    /// More documents than an index holds.
    #[error(
        "over {max} documents in one part of the index; divide the documents among several indexes"
    )]
    TooManyDocuments {
        /// Upper limit of a part.
        max: u32,
    },
    /// Writer that was used after it had failed: open another one.
    #[error("the writer failed before; open another one")]
    WriterFailed,
    /// Time limit that passed before anything was found: allow more time, or narrow the query.
    #[error(
        "the time limit passed before anything was found; allow more time, or narrow the query"
    )]
    TimedOut,
    /// Cancellation by the caller.
    #[error("cancelled")]
    Cancelled,
    /// Operation that the system refused.
    #[error("{}: cannot {operation}: {source}", path.display())]
    Io {
        /// The operation.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// Contradiction within the index or the engine: please report it.
    #[error("{reason}; please report this")]
    Internal {
        /// The contradiction.
        reason: String,
    },
}

impl Error {
    /// Returns the refusal of a query.
    pub(crate) fn query(reason: impl Into<String>) -> Error {
        Error::refused("query", reason)
    }

    pub(crate) fn refused(parameter: &'static str, reason: impl Into<String>) -> Error {
        Error::BadRequest {
            parameter,
            reason: reason.into(),
        }
    }

    /// Returns the error of an operation that its caller may have cancelled.
    pub(crate) fn unless_cancelled(error: IndexError, token: Option<&CancelToken>) -> Error {
        match token.is_some_and(CancelToken::is_cancelled) {
            true => Error::Cancelled,
            false => Error::of_index(error),
        }
    }

    /// Returns the error of a failed access to files.
    pub(crate) fn of_storage(error: StorageError) -> Error {
        match error {
            StorageError::Locked { path } => Error::Locked { path },
            StorageError::Unavailable {
                operation,
                path,
                source,
            } => Error::Unavailable {
                operation,
                path,
                source,
            },
            StorageError::Io {
                operation,
                path,
                source,
            } => Error::Io {
                operation,
                path,
                source,
            },
            StorageError::NotFound { path } => Error::Io {
                operation: "open",
                path,
                source: io::ErrorKind::NotFound.into(),
            },
            other => Error::Internal {
                reason: other.to_string(),
            },
        }
    }

    /// Returns the error of an index.
    pub(crate) fn of_index(error: IndexError) -> Error {
        match error {
            IndexError::Storage(error) => Error::of_storage(error),
            IndexError::Damaged { path, offset, what } => Error::Damaged { path, offset, what },
            IndexError::Changed { path } => Error::Changed { path },
            IndexError::OtherVersion { path, found, read } => {
                Error::OtherVersion { path, found, read }
            }
            IndexError::NoIndex { path } => Error::NoIndex { path },
            IndexError::Mismatch { path, reason } => Error::Mismatch { path, reason },
            IndexError::LogLost { loss } => Error::LostChanges {
                what: loss.what().to_string(),
                offset: loss.offset,
                path: loss.path,
            },
            IndexError::Removed { path, what } => Error::Removed { path, what },
            IndexError::TooManyDocuments { max, .. } => Error::TooManyDocuments { max },
            other => Error::Internal {
                reason: other.to_string(),
            },
        }
    }

    /// Returns the error of a search.
    pub(crate) fn of_engine(error: EngineError) -> Error {
        match error {
            EngineError::BadRequest(BadRequest { parameter, reason }) => {
                Error::BadRequest { parameter, reason }
            }
            EngineError::Index(error) => Error::of_index(error),
            EngineError::TimedOut => Error::TimedOut,
            EngineError::Cancelled => Error::Cancelled,
            EngineError::Partial { reason } | EngineError::Inconsistent { reason } => {
                Error::Internal { reason }
            }
            other => Error::Internal {
                reason: other.to_string(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_an_index_name_no_command() {
        let path = || PathBuf::from("dir");
        let reason = || "an option".to_owned();
        let path_of = |error: IndexError| Error::of_index(error).to_string();
        let storage = |error: StorageError| path_of(error.into());
        let source = io::Error::other("no room");
        let operation = "write";
        for message in [
            path_of(IndexError::NoIndex { path: path() }),
            path_of(IndexError::Changed { path: path() }),
            path_of(IndexError::Mismatch {
                path: path(),
                reason: reason(),
            }),
            path_of(IndexError::Damaged {
                path: path(),
                offset: 3,
                what: reason(),
            }),
            path_of(IndexError::OtherVersion {
                path: path(),
                found: 1,
                read: 2,
            }),
            path_of(IndexError::TooManyDocuments {
                chunks: 0..=1,
                max: 7,
            }),
            storage(StorageError::NotFound { path: path() }),
            storage(StorageError::Locked { path: path() }),
            storage(StorageError::Io {
                operation,
                path: path(),
                source,
            }),
            Error::of_engine(EngineError::TimedOut).to_string(),
            Error::WriterFailed.to_string(),
        ] {
            let names_a_command = message.contains("--") || message.contains("shorttail ");
            assert!(!names_a_command, "{message}");
        }
    }
}
