//! Outcome of a change at the state of the moment.

use crate::change::{Condition, ConditionalChange, Outcome};
use crate::shared::State;
use crate::{LiveError, Version};
use document::{Change, Document};
use index::LogRecord;

/// Returns the outcome of a change, and its record where it is made.
pub(crate) fn consider(
    state: &State,
    asked: ConditionalChange,
    has_texts: bool,
) -> Result<(Outcome, Option<LogRecord>), LiveError> {
    let ConditionalChange { change, condition } = asked;
    let reads = condition.is_some() || matches!(change, Change::Patch { .. });
    if reads && !has_texts {
        return Err(LiveError::NoTexts);
    }
    if let Some(condition) = condition {
        let version = state.version(change.url())?;
        let holds = match condition {
            Condition::Absent => version.is_none(),
            Condition::Version(wanted) => version == Some(wanted),
        };
        if !holds {
            return Ok((Outcome::Conflict(version), None));
        }
    }
    let written = |document: Document| {
        let outcome = Outcome::Written(Version::of(&document));
        (outcome, Some(LogRecord::Put(document)))
    };
    Ok(match change {
        Change::Put(document) => written(document),
        Change::Delete { url } => (Outcome::Deleted, Some(LogRecord::Delete(url))),
        Change::Patch { url, patch, absent } => match (state.document(&url)?, absent) {
            (None, None) => (Outcome::Missing, None),
            (None, Some(document)) => written(document),
            (Some(document), _) => match document.patched(&patch) {
                Ok(document) => written(document),
                Err(error) => (Outcome::Invalid(error.to_string()), None),
            },
        },
    })
}
