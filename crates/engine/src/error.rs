//! Failures of a search in this process, one variant for each decision of the caller.

use index::IndexError;

/// Request without a possible answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {reason}")]
pub struct BadRequest {
    /// The parameter at fault.
    pub parameter: &'static str,
    /// Cause and remedy.
    pub reason: String,
}

/// Reason for which a search gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The request asks for an option that is not offered: change it.
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
    /// The index cannot be read: repair it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The timeout passed before the first hit was known: allow more time, or narrow the query.
    #[error("the timeout passed before anything was found; allow more time, or narrow the query")]
    TimedOut,
    /// The caller cancelled the search.
    #[error("the search was cancelled")]
    Cancelled,
    /// The answer lacks parts, and no partial one was wanted: allow more time, or take a partial answer.
    #[error("{reason}")]
    Partial {
        /// Cause of the loss.
        reason: String,
    },
    /// A hit belongs to no document of the searched index: please report this.
    #[error("{reason}; please report this")]
    Inconsistent {
        /// Missing object.
        reason: String,
    },
}

/// Reason for which the details of hits were not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetailsError {
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A hit is of no segment that is read here, or of no document of its segment.
    #[error("{reason}")]
    NotServed {
        /// Missing object.
        reason: String,
    },
    /// The search was cancelled.
    #[error("the search was cancelled before the details were read")]
    Cancelled,
    /// Details and explanations are longer than allowed.
    #[error("the hits are longer than {bytes_max} bytes")]
    TooLarge {
        /// Limit of the details, in bytes.
        bytes_max: usize,
    },
}
