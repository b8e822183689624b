//! Failures of searches, by the decision that their caller can make.

use crate::error::{BadRequest, EngineError};
use index::IndexError;

/// Reason for which a search gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The request asks for an option that is not offered: change it.
    #[error("{parameter}: {reason}")]
    BadRequest {
        /// The parameter at fault.
        parameter: &'static str,
        /// Cause and remedy.
        reason: String,
    },
    /// The index cannot be read: repair it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The index of a part on another machine cannot be read: repair it there.
    #[error("{part} cannot read its index: {reason}")]
    Damaged {
        /// Name of the part.
        part: String,
        /// Message of the part.
        reason: String,
    },
    /// Too many searches wait already: come back later.
    #[error("{waiting} requests wait for {part} already; try again in a moment")]
    Overloaded {
        /// Name of the part.
        part: String,
        /// Length of its queue, in requests.
        waiting: usize,
    },
    /// The deadline passed: allow more time, or ask for less.
    #[error(
        "the deadline passed while {part} worked; allow more with timeout=MILLISECONDS, or narrow the query"
    )]
    TimedOut {
        /// Name of the part.
        part: String,
    },
    /// The answer lacks parts and the client refuses a partial answer: come back later.
    #[error(
        "only {share} of the documents could be searched ({reason}), and partial=0 was asked for"
    )]
    Partial {
        /// Share of the documents searched, formatted for people.
        share: String,
        /// Cause of the loss.
        reason: String,
        /// Whether the deadline was the only cause.
        timed_out: bool,
    },
    /// A part closed the generation of the query, and no time was left to begin the query again.
    #[error("{part} no longer has generation {generation} of the index open; search again")]
    GenerationGone {
        /// Name of the part.
        part: String,
        /// The generation that the query began with.
        generation: u64,
    },
    /// A part of the system gave no answer: an answer without it would be wrong.
    #[error("{part} did not answer: {reason}")]
    Unavailable {
        /// Name of the part.
        part: String,
        /// Cause and remedy.
        reason: String,
    },
}

impl From<BadRequest> for SearchError {
    fn from(refused: BadRequest) -> SearchError {
        SearchError::BadRequest {
            parameter: refused.parameter,
            reason: refused.reason,
        }
    }
}

impl SearchError {
    /// Returns the error for an answer that would exceed `bytes_max` bytes.
    pub fn too_large(explain: bool, bytes_max: usize) -> SearchError {
        SearchError::BadRequest {
            parameter: if explain { "explain" } else { "k" },
            reason: too_large(explain, bytes_max),
        }
    }
}

impl From<SearchError> for EngineError {
    fn from(error: SearchError) -> EngineError {
        match error {
            SearchError::BadRequest { parameter, reason } => {
                BadRequest { parameter, reason }.into()
            }
            SearchError::Index(error) => EngineError::Index(error),
            SearchError::TimedOut { .. } => EngineError::TimedOut,
            error @ SearchError::Partial { .. } => EngineError::Partial {
                reason: error.to_string(),
            },
            error => EngineError::Inconsistent {
                reason: error.to_string(),
            },
        }
    }
}

/// Returns the message for an answer that would exceed `bytes_max` bytes, with the remedy.
pub(crate) fn too_large(explain: bool, bytes_max: usize) -> String {
    let limit = format!("larger than {bytes_max} bytes, the limit of one answer");
    match explain {
        true => format!(
            "the explanations of these hits are {limit}; ask for fewer hits with k, or for fewer words"
        ),
        false => format!("these hits are {limit}; ask for fewer with k, and page with start"),
    }
}
