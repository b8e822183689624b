//! Errors of the laboratory, one for each decision that a caller can make.
use std::path::Path;

/// Reason why an experiment, a report or a restoration failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A file or folder cannot be read or written, or has unexpected contents.
    #[error("{path}: {reason}")]
    File {
        /// Path of the file or folder.
        path: String,
        /// Defect and remedy.
        reason: String,
    },
    /// No experiment has this name.
    #[error("no experiment is named `{name}`; `shorttail lab list` shows all")]
    Unknown {
        /// Name as requested.
        name: String,
    },
    /// A machine setting does not accept the value, or does not exist on the machine.
    #[error("{setting}: {reason}")]
    Setting {
        /// Name of the setting.
        setting: String,
        /// Defect and remedy.
        reason: String,
    },
    /// The program under test failed to start, or ended.
    #[error("`{command}`: {reason}")]
    Program {
        /// The command line.
        command: String,
        /// Error message of the program, and the remedy.
        reason: String,
    },
    /// Load could not be offered.
    #[error(transparent)]
    Load(#[from] load::LoadError),
    /// The model rejected the measurements.
    #[error("the model: {0}")]
    Model(String),
    /// The user requested a stop.
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
