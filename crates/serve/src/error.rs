//! What can go wrong with a search or with serving, by the decision its user can make.
use index::IndexError;
use std::io;

/// A search gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The request asks for something that is not offered: change it.
    #[error("{parameter}: {reason}")]
    BadRequest {
        /// The parameter at fault.
        parameter: &'static str,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// The index cannot be read: repair it.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Too many searches wait already: come back later.
    #[error("{waiting} requests wait for partition {partition} already; try again in a moment")]
    Overloaded {
        /// The partition.
        partition: usize,
        /// Length of its queue.
        waiting: usize,
    },
    /// A part of the system gave no answer: an answer without it would be wrong.
    #[error("{part} did not answer: {reason}")]
    Unavailable {
        /// Which part.
        part: String,
        /// Why, and what to do.
        reason: String,
    },
}

/// The server cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Options that do not fit the index or each other.
    #[error("{option}: {reason}")]
    Options {
        /// The option at fault.
        option: &'static str,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error(
        "cannot listen on {address}: {source}; stop what listens there, or choose another address \
         (`--listen 127.0.0.1:0` takes any free port)"
    )]
    Listen {
        /// The address asked for.
        address: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system refused threads or sockets.
    #[error("cannot {operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}
