//! All logs after a generation: the changes to replay, and what is lost of them.

use super::group::Seed;
use super::loss::LogLoss;
use super::read::{LogContents, read};
use super::record::LogRecord;
use crate::IndexError;
use crate::manifest::Manifest;
use crate::names::{log_name, log_number};
use vfs::{Region, SharedStorage};

/// Changes in logs that a generation does not contain.
#[derive(Debug, Default)]
pub(crate) struct Logged {
    /// Numbers of the logs after the generation, increasing.
    pub(crate) numbers: Vec<u64>,
    /// Records read.
    pub(crate) records: u64,
    /// Last change of each document, in the order of these changes.
    pub(crate) changes: Vec<LogRecord>,
    /// Acknowledged records that cannot be read.
    pub(crate) losses: Vec<LogLoss>,
    /// Bytes of a write that power loss cut short, which was never acknowledged.
    pub(crate) torn_bytes: u64,
    /// End of the last valid group of each log, in bytes: what follows was never acknowledged, unless it is a loss.
    pub(crate) ends: Vec<usize>,
}

/// Log after a generation, open for reading.
pub(crate) struct OpenLog {
    pub(crate) number: u64,
    pub(crate) bytes: Region,
}

/// Opens the logs that the generation of `manifest` does not contain, in the order of their numbers.
pub(crate) fn open_after(
    storage: &SharedStorage,
    manifest: &Manifest,
) -> Result<Vec<OpenLog>, IndexError> {
    let mut numbers: Vec<u64> = storage
        .list()?
        .iter()
        .filter_map(|name| log_number(name))
        .filter(|&number| number > manifest.logged)
        .collect();
    numbers.sort_unstable();
    let open = |number| {
        let bytes = storage.open(&log_name(number))?;
        Ok(OpenLog { number, bytes })
    };
    numbers.into_iter().map(open).collect()
}

/// Reads the logs that the generation of `manifest` does not contain.
pub(crate) fn read_after(
    storage: &SharedStorage,
    manifest: &Manifest,
) -> Result<Logged, IndexError> {
    let opened = open_after(storage, manifest)?;
    Ok(read_opened(storage, manifest, &opened))
}

/// Reads logs that [`open_after`] opened.
pub(crate) fn read_opened(
    storage: &SharedStorage,
    manifest: &Manifest,
    opened: &[OpenLog],
) -> Logged {
    let mut logged = Logged {
        numbers: opened.iter().map(|log| log.number).collect(),
        ..Logged::default()
    };
    let mut logs = Vec::with_capacity(opened.len());
    for &OpenLog { number, ref bytes } in opened {
        let seed = Seed::new(manifest.index_id(), number);
        let path = storage.location().join(log_name(number));
        let contents = read(bytes, seed, path.clone());
        logs.push((number, path, bytes.len(), contents));
    }
    let last_begun = logs.iter().rposition(|(.., contents)| contents.is_begun);
    let mut expected = manifest.logged + 1;
    let mut records = Vec::new();
    for (at, (number, path, bytes, contents)) in logs.into_iter().enumerate() {
        let LogContents {
            losses,
            next_record,
            end,
            is_ended,
            is_begun,
            ..
        } = contents;
        let is_followed = last_begun.is_some_and(|last| at < last);
        // A log begins after the end of the one before, so it proves that one.
        if is_begun && number > expected {
            logged.losses.push(LogLoss {
                path: storage.location().join(log_name(expected)),
                offset: 0,
                first_record: 0,
                records: None,
            });
        }
        expected = number + 1;
        logged.ends.push(end);
        logged.losses.extend(losses);
        match is_followed && !is_ended {
            true => logged.losses.push(LogLoss {
                path,
                offset: end as u64,
                first_record: next_record,
                records: None,
            }),
            false => logged.torn_bytes += (bytes - end) as u64,
        }
        logged.records += contents.records.len() as u64;
        records.extend(contents.records);
    }
    logged.changes = LogRecord::last_of_each(records);
    logged
}
