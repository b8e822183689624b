//! Errors of a run, one for each decision that a caller can make.
use std::io;

/// Reason why no load could be offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The URL of the target is invalid: correct it.
    #[error("{url}: {reason}")]
    Target {
        /// URL as given.
        url: String,
        /// Defect and remedy.
        reason: String,
    },
    /// A setting is invalid: correct it.
    #[error("{setting}: {reason}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Defect and remedy.
        reason: String,
    },
    /// The operating system refused a resource.
    #[error("cannot {doing}: {source}")]
    Machine {
        /// The attempted operation.
        doing: &'static str,
        /// Cause of the failure.
        source: io::Error,
    },
    /// A file of a run cannot be written or read.
    #[error("{path}: {reason}")]
    File {
        /// Path of the file.
        path: String,
        /// Defect and remedy.
        reason: String,
    },
}

impl LoadError {
    pub(crate) fn setting(setting: &'static str, reason: impl Into<String>) -> LoadError {
        LoadError::Setting {
            setting,
            reason: reason.into(),
        }
    }

    /// Returns a converter for `map_err`: the system refused the operation `doing`.
    pub(crate) fn machine<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> LoadError {
        move |source| LoadError::Machine {
            doing,
            source: source.into(),
        }
    }
}
