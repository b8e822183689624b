//! What can keep the laboratory from working, by the decision that a caller can make.
use std::path::Path;

/// Why an experiment, a report or a restoration failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A file or folder cannot be read or written, or is not what it should be.
    #[error("{path}: {reason}")]
    File {
        /// Which.
        path: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// No experiment is named so.
    #[error("no experiment is named `{name}`; `shorttail lab list` shows all")]
    Unknown {
        /// As asked for.
        name: String,
    },
    /// A setting of the machine has no such value, or the machine no such setting.
    #[error("{setting}: {reason}")]
    Setting {
        /// As asked for.
        setting: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The program under test did not start, or ended.
    #[error("`{command}`: {reason}")]
    Program {
        /// What was started.
        command: String,
        /// What it said, and what to do.
        reason: String,
    },
    /// Load could not be offered.
    #[error(transparent)]
    Load(#[from] load::LoadError),
    /// The model refused what was measured.
    #[error("the model: {0}")]
    Model(String),
    /// The person asked for the end.
    #[error("stopped before the end; what was measured until then is kept")]
    Stopped,
}

impl LabError {
    pub(crate) fn file(path: &Path, reason: impl std::fmt::Display) -> LabError {
        LabError::File {
            path: path.display().to_string(),
            reason: reason.to_string(),
        }
    }
}
