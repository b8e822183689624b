//! Failures of calls to parts of an index, each with its retry rule.
//!
//! | failure | retry | reason in an answer | gRPC code |
//! |---|---|---|---|
//! | `Index`, `Damaged` | another replica | `damaged` | `DATA_LOSS` |
//! | `Changed`, also a storage without an answer for now | the same or another replica | `unreachable` | `UNAVAILABLE` |
//! | `Overloaded` | another replica | `overloaded` | `RESOURCE_EXHAUSTED` |
//! | `Expired` | another replica, before the deadline | `deadline` | `DEADLINE_EXCEEDED` |
//! | `Cancelled` | another replica | `unreachable` | `CANCELLED` |
//! | `TooLarge`, `TooManyBuckets` | none | `limit` | `OUT_OF_RANGE` |
//! | `GenerationGone` | another replica, then the query with a newer generation | `unreachable` | `FAILED_PRECONDITION` |
//! | `NotServed` | another replica | `unreachable` | `NOT_FOUND` |
//! | `Protocol` | another replica | `unreachable` | `INTERNAL` |
//! | `Unreachable` | the same or another replica | `unreachable` | `UNAVAILABLE` |
//!
//! Decisions rest on the variant, never on the text of a message. Between processes the variant travels as
//! `Failure` in the details of a gRPC status.

use crate::error::DetailsError;
use crate::search_error::{SearchError, too_large};
use index::IndexError;
use search::FacetError;

/// A server's failure to answer a call.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The server's index cannot be read.
    #[error(transparent)]
    Index(IndexError),
    /// The index of a server behind gRPC cannot be read.
    #[error("{reason}")]
    Damaged {
        /// The damaged file; empty where the server named none.
        file: String,
        /// Offset of the damage in the file, in bytes.
        offset: u64,
        /// The server's message.
        reason: String,
    },
    /// A file of the index changed while it was read, or its storage gave no answer for now. A further call may succeed.
    #[error("{reason}")]
    Changed {
        /// The server's message.
        reason: String,
    },
    /// The server's queue is full.
    #[error("{waiting} requests wait already")]
    Overloaded {
        /// Length of the queue, in requests.
        waiting: usize,
    },
    /// The deadline passed before the work was done.
    #[error("the deadline passed before it had time")]
    Expired,
    /// The caller closed the request before the work was done.
    #[error("the request was cancelled")]
    Cancelled,
    /// The answer would be larger than the request allows.
    #[error("{}", too_large(*explain, *bytes_max))]
    TooLarge {
        /// Whether the request asked for explanations.
        explain: bool,
        /// Limit of the answer, in bytes.
        bytes_max: usize,
    },
    /// Facets within buckets take more memory than one request may.
    #[error("{}", FacetError::TooManyBuckets)]
    TooManyBuckets,
    /// The server has closed the generation that the request names.
    #[error("it no longer has generation {generation} of the index open")]
    GenerationGone {
        /// Generation of the request.
        generation: u64,
    },
    /// The server does not hold the object that the request names.
    #[error("{reason}")]
    NotServed {
        /// The missing object, and the remedy.
        reason: String,
    },
    /// The server's answer cannot be read, or contradicts the request.
    #[error("{reason}")]
    Protocol {
        /// The contradiction, and the remedy.
        reason: String,
    },
    /// The server cannot be reached, or ended before it answered.
    #[error("{reason}")]
    Unreachable {
        /// The cause, and the remedy where there is one.
        reason: String,
    },
}

/// Retry rule of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Retry at any replica, the same one included: the failure may have passed.
    AnyReplica,
    /// Retry at another replica: the same one would fail again.
    OtherReplica,
    /// No retry: every replica would fail.
    None,
}

impl PartError {
    /// Returns the retry rule of the failure, within the deadline of the call.
    pub fn retry(&self) -> Retry {
        match self {
            PartError::Changed { .. } | PartError::Unreachable { .. } => Retry::AnyReplica,
            PartError::TooLarge { .. } | PartError::TooManyBuckets => Retry::None,
            PartError::Index(_)
            | PartError::Damaged { .. }
            | PartError::Overloaded { .. }
            | PartError::Expired
            | PartError::Cancelled
            | PartError::GenerationGone { .. }
            | PartError::NotServed { .. }
            | PartError::Protocol { .. } => Retry::OtherReplica,
        }
    }

    /// Returns whether the whole query may succeed with a newer generation.
    pub fn is_generation_gone(&self) -> bool {
        matches!(self, PartError::GenerationGone { .. })
    }

    /// Returns the `reason` of a missing part in an answer.
    pub fn reason(&self) -> &'static str {
        match self {
            PartError::Index(_) | PartError::Damaged { .. } => "damaged",
            PartError::Overloaded { .. } => "overloaded",
            PartError::Expired => "deadline",
            PartError::TooLarge { .. } | PartError::TooManyBuckets => "limit",
            PartError::Changed { .. }
            | PartError::Cancelled
            | PartError::GenerationGone { .. }
            | PartError::NotServed { .. }
            | PartError::Protocol { .. }
            | PartError::Unreachable { .. } => "unreachable",
        }
    }

    /// Returns the failure of higher rank of two replicas: damage, closed generation, full queue,
    /// deadline, the rest.
    pub fn graver(self, other: PartError) -> PartError {
        let rank = |error: &PartError| match error {
            PartError::Index(_) | PartError::Damaged { .. } => 4,
            PartError::GenerationGone { .. } => 3,
            PartError::Overloaded { .. } => 2,
            PartError::Expired | PartError::TooLarge { .. } | PartError::TooManyBuckets => 1,
            _ => 0,
        };
        match rank(&self) > rank(&other) {
            true => self,
            false => other,
        }
    }

    /// Returns the error of a query whose part `part` failed with this failure.
    pub fn into_search_error(self, part: &str) -> SearchError {
        let part = part.to_owned();
        match self {
            PartError::Index(error) => SearchError::Index(error),
            PartError::Damaged { reason, .. } => SearchError::Damaged { part, reason },
            PartError::Overloaded { waiting } => SearchError::Overloaded { part, waiting },
            PartError::Expired => SearchError::TimedOut { part },
            PartError::TooLarge { explain, bytes_max } => {
                SearchError::too_large(explain, bytes_max)
            }
            PartError::TooManyBuckets => SearchError::BadRequest {
                parameter: "facet",
                reason: self.to_string(),
            },
            PartError::GenerationGone { generation } => {
                SearchError::GenerationGone { part, generation }
            }
            error @ (PartError::Changed { .. }
            | PartError::Cancelled
            | PartError::NotServed { .. }
            | PartError::Protocol { .. }
            | PartError::Unreachable { .. }) => SearchError::Unavailable {
                part,
                reason: error.to_string(),
            },
        }
    }
}

impl PartError {
    /// Returns the failure to read details; `explain` says whether explanations were asked for.
    pub fn of_details(error: DetailsError, explain: bool) -> PartError {
        match error {
            DetailsError::Index(error) => error.into(),
            DetailsError::Cancelled => PartError::Expired,
            DetailsError::TooLarge { bytes_max } => PartError::TooLarge { explain, bytes_max },
            DetailsError::NotServed { reason } => PartError::NotServed { reason },
        }
    }
}

impl From<IndexError> for PartError {
    fn from(error: IndexError) -> PartError {
        match error {
            IndexError::Storage(error) if error.is_transient() => PartError::Changed {
                // Without the path, which is for the log of the server.
                reason: format!(
                    "the storage of the index gave no answer ({}); ask again",
                    error.kind()
                ),
            },
            error if error.is_transient() => PartError::Changed {
                reason: error.to_string(),
            },
            error => PartError::Index(error),
        }
    }
}

impl From<FacetError> for PartError {
    fn from(error: FacetError) -> PartError {
        match error {
            FacetError::Index(error) => error.into(),
            FacetError::TooManyBuckets => PartError::TooManyBuckets,
            FacetError::Cancelled => PartError::Expired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_replica_is_named_before_a_silent_one() {
        let silent = || PartError::Unreachable {
            reason: "gone".into(),
        };
        let gone = || PartError::GenerationGone { generation: 3 };
        assert_eq!(silent().graver(gone()).reason(), "unreachable");
        assert!(silent().graver(gone()).is_generation_gone());
        assert!(gone().graver(PartError::Expired).is_generation_gone());
        let damaged = PartError::Damaged {
            file: String::new(),
            offset: 0,
            reason: "bits".into(),
        };
        assert_eq!(gone().graver(damaged).reason(), "damaged");
    }

    #[test]
    fn a_storage_without_an_answer_is_no_damage() {
        let of = |kind: std::io::ErrorKind| {
            let path = std::path::Path::new("/srv/index/3.index");
            PartError::from(IndexError::from(vfs::StorageError::from_io(
                "read",
                path,
                kind.into(),
            )))
        };
        let late = of(std::io::ErrorKind::TimedOut);
        assert_eq!(
            (late.reason(), late.retry()),
            ("unreachable", Retry::AnyReplica)
        );
        assert!(!late.to_string().contains("/srv"), "{late}");
        assert_eq!(of(std::io::ErrorKind::PermissionDenied).reason(), "damaged");
    }

    #[test]
    fn only_a_failure_that_may_pass_is_retried_at_the_same_replica() {
        let unreachable = PartError::Unreachable {
            reason: String::new(),
        };
        assert_eq!(unreachable.retry(), Retry::AnyReplica);
        let gone = PartError::GenerationGone { generation: 1 };
        assert_eq!(gone.retry(), Retry::OtherReplica);
        let large = PartError::TooLarge {
            explain: false,
            bytes_max: 1,
        };
        assert_eq!(large.retry(), Retry::None);
    }
}
