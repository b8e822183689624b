//! Errors of the index, one variant for each decision of its user.
use crate::chunks::Chunks;
use crate::log::LogLoss;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use vfs::StorageError;

/// Failure to build, open or read an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Error of the storage. Where it [is transient](StorageError::is_transient), nothing is known of the file but that a
    /// read failed: read again.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Damaged file.
    #[error("{}: byte {offset}: {what}; restore the file or rebuild the index", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Offset of the damage in the file, in bytes.
        offset: u64,
        /// Description of the damage.
        what: String,
    },
    /// Change of a file of the open index, or of the trust in it, during a read: the bytes read may be wrong. Read
    /// again.
    #[error("{}: a file of the index changed while it was read; ask again", path.display())]
    Changed {
        /// Directory of the index.
        path: PathBuf,
    },
    /// Index in a format that this program does not read.
    #[error(
        "{}: format version {found}, but this program reads version {read}; rebuild the index",
        path.display()
    )]
    OtherVersion {
        /// Path of the file.
        path: PathBuf,
        /// Version in the header of the file.
        found: u32,
        /// Version that this program reads.
        read: u32,
    },
    /// Directory without an index.
    #[error("{}: no index here (no MANIFEST file); build one with `shorttail index INDEX SOURCE`", path.display())]
    NoIndex {
        /// Path of the directory.
        path: PathBuf,
    },
    /// Options that do not fit the existing index.
    #[error("{}: {reason}", path.display())]
    Mismatch {
        /// Directory of the index.
        path: PathBuf,
        /// The difference, and the remedy.
        reason: String,
    },
    /// Acknowledged changes in the write-ahead log that cannot be read.
    #[error(
        "{}: byte {}: {}, and had been acknowledged; restore the file, or go on without them: shorttail recover {} --accept-loss",
        loss.path.display(), loss.offset, loss.what(), loss.path.parent().unwrap_or(&loss.path).display()
    )]
    LogLost {
        /// Lost changes.
        loss: Box<LogLoss>,
    },
    /// File that this writer needs, removed or replaced by another program: the log that it writes, or its lock, so
    /// that another writer may have the index.
    #[error(
        "{}: {what} was removed or replaced while this process wrote to the index; leave its files alone, and start the process again where it does not go on",
        path.display()
    )]
    Removed {
        /// Path of the file.
        path: PathBuf,
        /// Name of the file's purpose.
        what: &'static str,
    },
    /// More documents than a segment can hold.
    #[error(
        "{}: over {max} documents in one segment; build with more chunks, or lay the index out for more partitions",
        Chunks::from(chunks.clone())
    )]
    TooManyDocuments {
        /// Chunks of the segment.
        chunks: RangeInclusive<u32>,
        /// Highest number of documents of a segment.
        max: u32,
    },
}

impl IndexError {
    /// Returns whether the same read may succeed soon: a storage that gave no answer for now, or a file that changed while it
    /// was read. Nothing follows for the index, and nothing of the failure may be kept.
    pub fn is_transient(&self) -> bool {
        match self {
            IndexError::Storage(error) => error.is_transient(),
            IndexError::Changed { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the device, or the quota of its user, had no room.
    pub fn is_out_of_room(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        let IndexError::Storage(error) = self else {
            return false;
        };
        matches!(error.kind(), StorageFull | QuotaExceeded)
    }
}

/// Returns the error of a worker thread that ended without a result.
pub(crate) fn stopped() -> IndexError {
    IndexError::Mismatch {
        path: Default::default(),
        reason: "a thread that builds segments stopped; this is a bug, please report it".into(),
    }
}
