//! What can go wrong with an index, by the decision its user can make.
use crate::chunks::Chunks;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use vfs::StorageError;

/// An index cannot be built, opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The disk refused.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file is damaged.
    #[error("{}: byte {offset}: {what}; restore the file or rebuild the index", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A file of the open index was changed, or trusted again, while it was read: what was read may be wrong. Read again.
    #[error("{}: a file of the index changed while it was read; ask again", path.display())]
    Changed {
        /// The directory.
        path: PathBuf,
    },
    /// The index was written in a format that this program does not read.
    #[error(
        "{}: format version {found}, but this program reads version {read}; rebuild the index",
        path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        found: u32,
        /// The version of this program.
        read: u32,
    },
    /// There is no index in the directory.
    #[error("{}: no index here (no MANIFEST file); build one with `shorttail index SOURCE --into DIR`", path.display())]
    NoIndex {
        /// The directory.
        path: PathBuf,
    },
    /// The options of this run do not fit the index that is there.
    #[error("{}: {reason}", path.display())]
    Mismatch {
        /// The directory.
        path: PathBuf,
        /// What differs, and what to do.
        reason: String,
    },
    /// More documents than a segment can hold.
    #[error(
        "{}: over {max} documents in one segment; build with more chunks, or lay the index out for more partitions",
        Chunks::from(chunks.clone())
    )]
    TooManyDocuments {
        /// The chunks of the segment.
        chunks: RangeInclusive<u32>,
        /// The most that a segment holds.
        max: u32,
    },
}

/// Returns the error of a worker thread that ended without a result.
pub(crate) fn stopped() -> IndexError {
    IndexError::Mismatch {
        path: Default::default(),
        reason: "a thread that builds segments stopped; this is a bug, please report it".into(),
    }
}
