//! Failures of requests for indexes as a whole.

use crate::api::error::ServeError;
use index::IndexError;

/// Failure of a request for an index as a whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogError {
    /// There is no index of the name.
    #[error("there is no index {name:?} here; GET /indexes lists them")]
    Unknown {
        /// The name.
        name: String,
    },
    /// No index can have the name.
    #[error(
        "an index cannot be called {name:?}: names have letters, digits, -, _ and ., begin with a letter or a digit, \
         have at most {} bytes, and are not those of pages of the server",
        vfs::STORAGE_NAME_BYTES_MAX
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The server does not change its indexes.
    #[error("this server does not write; start it with --writable")]
    ReadOnly,
    /// The indexes are at other servers.
    #[error(
        "this front-end does not write; indexes are created and dropped at the server that writes them, \
         shorttail serve --writable"
    )]
    NotHere,
    /// No server of other processes answers.
    #[error("{reason}; try again")]
    Unavailable {
        /// The server, and what it said.
        reason: String,
    },
    /// There is an index of the name already.
    #[error("there is an index {name:?} already; DELETE /{name} drops it")]
    Exists {
        /// The name.
        name: String,
    },
    /// The directory holds more than an index.
    #[error(
        "{name:?} is not dropped, since its directory holds entries that are not of an index: {}; remove them, or the \
         directory itself",
        .entries.join(", ")
    )]
    HoldsMore {
        /// The name.
        name: String,
        /// Some of the entries.
        entries: Vec<String>,
    },
    /// The files of the index.
    #[error("{source}")]
    Index {
        /// The failure.
        #[from]
        source: IndexError,
    },
    /// The servers of the index.
    #[error("{source}")]
    Serve {
        /// The failure.
        #[from]
        source: ServeError,
    },
    /// The request was given up.
    #[error("the request was given up; see the server's log")]
    GivenUp,
}

impl From<vfs::StorageError> for CatalogError {
    fn from(error: vfs::StorageError) -> CatalogError {
        IndexError::from(error).into()
    }
}
