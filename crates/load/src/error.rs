//! What can keep a run from starting or ending, by the decision that a caller can make.
use std::io;

/// Why no load could be offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The address of the target makes no sense: correct it.
    #[error("{url}: {reason}")]
    Target {
        /// As given.
        url: String,
        /// What is wrong with it, and what to write.
        reason: String,
    },
    /// What was asked for cannot be done: correct the setting.
    #[error("{setting}: {reason}")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// What is wrong with it, and what to write.
        reason: String,
    },
    /// The machine refuses something that the generator needs.
    #[error("cannot {doing}: {source}")]
    Machine {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of a run cannot be written or read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it, and what to do.
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

    /// For `map_err`: the machine refused what was being done.
    pub(crate) fn machine<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> LoadError {
        move |source| LoadError::Machine {
            doing,
            source: source.into(),
        }
    }
}
