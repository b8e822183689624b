//! What can go wrong in the frontier, by the decision that is left to the caller.
use vfs::StorageError;

/// The frontier cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// The disk refused an operation. The frontier must be opened again: what was not synced may be lost.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The manifest cannot be read, so the runs that belong to the frontier are unknown.
    #[error(
        "{file}: {what}; restore the file from a copy, or remove the files of the frontier and replay the WARC files"
    )]
    Manifest {
        /// The file.
        file: String,
        /// Cause.
        what: String,
    },
    /// The files are those of a crawl, not of queues.
    #[error("{0} has the frontier of a crawl; name another directory for queues")]
    NotQueues(String),
    /// An earlier write failed, so what is durable is unknown.
    #[error("an earlier write of the frontier failed; open it again")]
    Stopped,
}

/// Damaged place: its bytes are not those written. Its records are skipped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The file.
    pub file: String,
    /// Offset of the damage in the file.
    pub offset_bytes: u64,
    /// Cause.
    pub what: &'static str,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Damage {
            file,
            offset_bytes,
            what,
        } = self;
        write!(
            f,
            "{file}: byte {offset_bytes}: {what}; its URLs are unknown until they are found again"
        )
    }
}
