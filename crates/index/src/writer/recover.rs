//! Recovery: changes that were acknowledged in a log, and that no generation contains, are committed.

use super::{BuildOptions, WriteLock, Writer};
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

/// Commits the changes of logs that no generation contains, as every [`Writer::open`] does.
///
/// # Errors
/// Acknowledged changes that cannot be read, unless `accept_loss`: the others are then committed without them.
pub fn recover(
    storage: &SharedStorage,
    options: &BuildOptions,
    accept_loss: bool,
) -> Result<Recovery, IndexError> {
    let lock = WriteLock::take(storage)?;
    replay(storage, &lock, options, accept_loss)
}

pub(super) fn replay(
    storage: &SharedStorage,
    lock: &WriteLock,
    options: &BuildOptions,
    accept_loss: bool,
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
    let options = BuildOptions {
        threads: options.threads,
        memory_bytes: options.memory_bytes,
        ..BuildOptions::default()
    };
    let mut writer = Writer::open_locked(storage.clone(), lock.clone(), options)?;
    writer.include_logs(last);
    for change in changes {
        match change {
            LogRecord::Put(document) => writer.add(document)?,
            LogRecord::Delete(url) => writer.delete(&url),
        }
    }
    recovery.generation = writer.commit()?.generation;
    Ok(recovery)
}
