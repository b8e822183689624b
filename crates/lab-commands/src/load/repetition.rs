//! One repetition of a load run.

use ::load::{Outcome, RunRecord, Summary, WritesOutcome};

/// A repetition, with its record, its samples and its figures.
pub(super) struct Repetition {
    pub(super) record: RunRecord,
    pub(super) outcome: Outcome,
    pub(super) summary: Summary,
    /// What was written beside it.
    pub(super) written: Option<WritesOutcome>,
}
