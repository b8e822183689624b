//! Manifest: the runs and the journal that are the frontier, replaced as a whole.
//!
//! manifest := "shorttail frontier 1 " checksum:16 hex digits "\n" json
use crate::frontier::error::FrontierError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vfs::{SharedStorage, StorageError};
use xxhash_rust::xxh3::xxh3_64;

pub(super) const NAME: &str = "frontier.manifest";
const NEW_NAME: &str = "frontier.manifest.new";
const HEADER: &str = "shorttail frontier 1 ";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Number of the journal with all later changes.
    pub(super) journal: u64,
    /// Number of the next file.
    pub(super) next_file: u64,
    /// Oldest first.
    pub(super) runs: Vec<ManifestRun>,
    /// Number of URLs in each class.
    pub(super) counts: BTreeMap<u8, u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ManifestRun {
    pub(super) file: u64,
    pub(super) tier: u8,
}

pub(super) fn run_name(file: u64) -> String {
    format!("frontier-{file:08}.run")
}

pub(super) fn journal_name(file: u64) -> String {
    format!("frontier-{file:08}.journal")
}

/// Returns whether a file is one of a frontier: only these are removed when they are left over.
pub(super) fn is_ours(name: &str) -> bool {
    let numbered =
        name.starts_with("frontier-") && (name.ends_with(".run") || name.ends_with(".journal"));
    numbered || name == NEW_NAME
}

impl Manifest {
    /// Returns the manifest, or `None` where there is no frontier yet.
    pub(super) fn read(storage: &SharedStorage) -> Result<Option<Manifest>, FrontierError> {
        let region = match storage.open(NAME) {
            Ok(region) => region,
            Err(StorageError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let damaged = |what: String| FrontierError::Manifest {
            file: NAME.to_owned(),
            what,
        };
        let line = HEADER.len() + 16;
        let (head, json) = region
            .split_at_checked(line + 1)
            .ok_or_else(|| damaged("it is too short".into()))?;
        if !head.starts_with(HEADER.as_bytes()) {
            return Err(damaged("it does not begin as one".into()));
        }
        if head[HEADER.len()..line] != *format!("{:016x}", xxh3_64(json)).as_bytes() {
            return Err(damaged("its checksum differs".into()));
        }
        let manifest = serde_json::from_slice(json).map_err(|error| damaged(error.to_string()))?;
        Ok(Some(manifest))
    }

    /// Replaces the manifest, durably. All files that it names must be durable but for their names.
    pub(super) fn write(&self, storage: &SharedStorage) -> Result<(), FrontierError> {
        let json = serde_json::to_vec(self).map_err(|error| FrontierError::Manifest {
            file: NAME.to_owned(),
            what: error.to_string(),
        })?;
        let text = format!("{HEADER}{:016x}\n", xxh3_64(&json));
        match storage.remove(NEW_NAME) {
            Ok(()) | Err(StorageError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = storage.create(NEW_NAME)?;
        super::run_builder::write(&mut *file, storage, NEW_NAME, text.as_bytes())?;
        super::run_builder::write(&mut *file, storage, NEW_NAME, &json)?;
        file.finish()?;
        // Names of runs and journal first: the manifest must never name a file that is not there.
        storage.sync_directory()?;
        storage.rename(NEW_NAME, NAME)?;
        storage.sync_directory()?;
        Ok(())
    }
}
