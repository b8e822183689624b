//! Errors of the live writer, by what its caller does next.

use index::IndexError;

/// Failure to change a document.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// More changes wait for a refresh than memory allows.
    #[error("{bytes} bytes of changes wait for the next refresh; send fewer, or try again soon")]
    Full {
        /// Bytes that wait.
        bytes: u64,
    },
    /// The log cannot be written. Whether the last changes are durable is not known; earlier ones are.
    #[error(
        "the write-ahead log failed, and nothing is written until its changes are recovered: {reason}"
    )]
    LogFailed {
        /// The failure.
        reason: String,
    },
    /// The device has no room to recover the changes of the log. Nothing is accepted until it has.
    #[error(
        "nothing was changed: the disk had no room to recover what the write-ahead log has, and until it has, nothing is written: {reason}"
    )]
    NoRoom {
        /// The failure.
        reason: String,
    },
    /// The matches of a query are uncertain, so nothing was deleted.
    #[error("nothing was deleted, since what matches cannot be told for certain: {reason}")]
    Undecided {
        /// The failure.
        reason: String,
    },
    /// The changes are durable in the log, but no generation has them yet; the next refresh tries again.
    #[error("the changes are safe, but cannot be searched yet: {reason}")]
    NotRefreshed {
        /// The failure.
        reason: String,
    },
    /// Rules were not committed.
    #[error("the rules were not changed: {reason}")]
    RulesNotSet {
        /// The failure.
        reason: String,
    },
    /// The writer is ending.
    #[error("the server is ending; try again on another one, or later")]
    Ending,
    /// The index keeps no texts, which patches and conditions need.
    #[error(
        "the index was built with --texts none, so documents can be put and deleted, but not read, patched or compared"
    )]
    NoTexts,
    /// The index cannot be read.
    #[error("the document cannot be read: {reason}")]
    Unreadable {
        /// The failure.
        reason: String,
    },
}

impl From<IndexError> for LiveError {
    fn from(error: IndexError) -> LiveError {
        LiveError::Unreadable {
            reason: error.to_string(),
        }
    }
}
