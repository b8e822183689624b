//! State of a crawl beside the frontier: how far the index follows the archive, and whether the last run visited everything
//! that was due.

use super::dates::DateTrust;
use crate::config::CrawlConfig;
use crate::error::CrawlError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::Write;
use vfs::{SharedStorage, StorageError};

/// Name of the lock that one crawl at a time has.
pub(crate) const LOCK_NAME: &str = "crawl.lock";
/// Name of the file whose presence asks a running crawl to end.
pub(crate) const STOP_NAME: &str = "stop";
const STATE_NAME: &str = "state.json";
const CONFIG_NAME: &str = "config.json";
const STATUS_NAME: &str = "status.json";

/// State of a crawl.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CrawlState {
    /// WARC file up to which the index has everything.
    pub(crate) indexed_file: u32,
    /// Offset in it, in bytes.
    pub(crate) indexed_bytes: u64,
    /// File of the log of facts at the last commit, and its length in bytes.
    pub(crate) facts_file: u32,
    pub(crate) facts_bytes: u64,
    /// Whether pages changed since what all of them say of each was computed.
    pub(crate) is_unsettled: bool,
    /// Whether the last run visited everything that was due.
    pub(crate) is_complete: bool,
    /// Origins with parameters of queries that never changed a text.
    pub(crate) learnt_parameters: Vec<(String, String)>,
    /// Trust in stated dates of change.
    pub(crate) date_trust: DateTrust,
    /// Names of the members that share the crawl, in order, and the one whose folder this is; none where one process has it.
    pub(crate) members: Vec<String>,
    pub(crate) member: Option<String>,
    /// Seeds that redirect to another host of their domain, with the targets.
    pub(crate) followed_seeds: Vec<(String, String)>,
}

impl CrawlState {
    pub(crate) fn read(storage: &SharedStorage) -> Result<Option<CrawlState>, CrawlError> {
        read_json(storage, STATE_NAME)
    }

    pub(crate) fn write(&self, storage: &SharedStorage) -> Result<(), CrawlError> {
        write_json(storage, STATE_NAME, self, true)
    }
}

/// Reads the configuration of the last run.
pub(crate) fn read_config(storage: &SharedStorage) -> Result<Option<CrawlConfig>, CrawlError> {
    read_json(storage, CONFIG_NAME)
}

pub(crate) fn write_config(
    storage: &SharedStorage,
    config: &CrawlConfig,
) -> Result<(), CrawlError> {
    write_json(storage, CONFIG_NAME, config, true)
}

/// Reads the figures that a running crawl writes from time to time.
pub(crate) fn read_status<T: DeserializeOwned>(
    storage: &SharedStorage,
) -> Result<Option<T>, CrawlError> {
    read_json(storage, STATUS_NAME)
}

pub(crate) fn write_status(
    storage: &SharedStorage,
    status: &impl Serialize,
) -> Result<(), CrawlError> {
    write_json(storage, STATUS_NAME, status, false)
}

fn read_json<T: DeserializeOwned>(
    storage: &SharedStorage,
    name: &str,
) -> Result<Option<T>, CrawlError> {
    let bytes = match storage.open(name) {
        Ok(bytes) => bytes,
        Err(StorageError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| CrawlError::Damaged {
        path: storage.location().join(name),
        what: error.to_string(),
    })
}

/// Replaces a file as a whole.
fn write_json(
    storage: &SharedStorage,
    name: &str,
    value: &impl Serialize,
    is_durable: bool,
) -> Result<(), CrawlError> {
    let temporary = format!("tmp-{name}");
    remove(storage, &temporary)?;
    let mut out = storage.create(&temporary)?;
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    out.write_all(&bytes)
        .map_err(|error| StorageError::from_io("write", &storage.location().join(name), error))?;
    out.finish()?;
    storage.rename(&temporary, name)?;
    if is_durable {
        storage.sync_directory()?;
    }
    Ok(())
}

/// Removes a file that may not be there. Returns whether it was.
pub(crate) fn remove(storage: &SharedStorage, name: &str) -> Result<bool, StorageError> {
    match storage.remove(name) {
        Ok(()) => Ok(true),
        Err(StorageError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
