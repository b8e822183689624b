//! Recovery: changes that were acknowledged in a log, and that no generation contains, are committed.

use crate::IndexError;
use crate::log::Logged;
use crate::log::{self, LogLoss, LogRecord};
use crate::manifest;
use crate::names::log_name;
use vfs::SharedStorage;

/// Outcome of a recovery.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Generation after the recovery.
    pub generation: u64,
    /// Changes read from logs.
    pub changes: u64,
    /// Acknowledged changes that could not be read.
    pub losses: Vec<LogLoss>,
    /// Bytes of a last write that was cut short, and never acknowledged.
    pub torn_bytes: u64,
}

/// Reads the changes of logs that no generation contains, and gives them with the number of the last log to `commit`,
/// which returns the new generation. Logs without changes are removed.
///
/// # Errors
/// Acknowledged changes that cannot be read, unless `accept_loss`.
pub(super) fn replay(
    storage: &SharedStorage,
    accept_loss: bool,
    commit: impl FnOnce(u64, Vec<LogRecord>) -> Result<u64, IndexError>,
) -> Result<Recovery, IndexError> {
    let Some(manifest) = manifest::read_newest(storage)? else {
        return Ok(Recovery::default());
    };
    let Logged {
        numbers,
        records,
        changes,
        losses,
        torn_bytes,
        ends: _,
    } = log::read_after(storage, &manifest)?;
    if let Some(loss) = losses.first()
        && !accept_loss
    {
        return Err(IndexError::LogLost {
            loss: Box::new(loss.clone()),
        });
    }
    let mut recovery = Recovery {
        generation: manifest.generation,
        changes: records,
        losses,
        torn_bytes,
    };
    let Some(&last) = numbers.last() else {
        return Ok(recovery);
    };
    if changes.is_empty() && recovery.losses.is_empty() {
        for &number in &numbers {
            storage.remove(&log_name(number))?;
        }
        storage.sync_directory()?;
        return Ok(recovery);
    }
    recovery.generation = commit(last, changes)?;
    Ok(recovery)
}
