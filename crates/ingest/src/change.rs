//! Conditions of changes, and their outcomes.

use crate::Version;
use document::Change;

/// Condition of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// There is no document.
    Absent,
    /// The document has this version.
    Version(Version),
}

/// Change, and its condition where it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalChange {
    /// The change.
    pub change: Change,
    /// Condition without which it is not made.
    pub condition: Option<Condition>,
}

impl From<Change> for ConditionalChange {
    fn from(change: Change) -> ConditionalChange {
        ConditionalChange {
            change,
            condition: None,
        }
    }
}

/// Outcome of a change that was considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The document is written, with this version.
    Written(Version),
    /// There is no document at the URL now.
    Deleted,
    /// There is no document to patch.
    Missing,
    /// The condition does not hold; the version is that of the present document, if any.
    Conflict(Option<Version>),
    /// The document would not be one after the patch, for the reason named.
    Invalid(String),
}

impl Outcome {
    /// Returns whether the change was made.
    pub fn is_made(&self) -> bool {
        matches!(self, Outcome::Written(_) | Outcome::Deleted)
    }
}
