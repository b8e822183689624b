//! Loss of acknowledged changes.

use std::path::PathBuf;

/// Acknowledged records that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLoss {
    /// Path of the log.
    pub path: PathBuf,
    /// Offset of the damage in the log, in bytes.
    pub offset: u64,
    /// Number of the first lost record of the log, from 0.
    pub first_record: u64,
    /// Number of lost records; `None` where it is unknown, because the end of the log is missing.
    pub records: Option<u64>,
}

impl LogLoss {
    /// Returns which changes are lost, as the subject of a sentence.
    pub fn what(&self) -> String {
        let first = self.first_record + 1;
        match self.records {
            Some(1) => format!("change {first} of this log cannot be read"),
            Some(records) => format!(
                "changes {first} to {} of this log cannot be read",
                self.first_record + records
            ),
            None => {
                format!("the end of this log is missing, and all changes from number {first} on")
            }
        }
    }
}
