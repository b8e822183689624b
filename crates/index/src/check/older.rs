//! Check of the generation before the newest: its manifest, and the seals of files that only it has.
//!
//! Its files are not decoded: answers come from the newest generation, and readers of this one have opened it.

use super::report::{CheckReport, Damages, missing_is_damage};
use crate::IndexError;
use crate::leftovers::GENERATIONS_KEPT;
use crate::manifest::{self, FileEntry, Manifest};
use crate::sealed::{Identity, Kind};
use crate::section::open_sealed;
use std::collections::HashMap;
use vfs::{SharedStorage, StorageError};

/// Checks the generation before `newest`, or before any where that is `None` because it is unreadable. Returns its
/// manifest. Older generations are not kept, and may lack files.
pub(super) fn check(
    storage: &SharedStorage,
    newest: Option<&Manifest>,
    report: &mut CheckReport,
    damages: &mut Damages,
) -> Result<Option<Manifest>, IndexError> {
    let generations = manifest::generations(storage)?;
    let newest_generation = newest.map(|manifest| manifest.generation);
    let Some(&generation) = generations
        .iter()
        .skip_while(|&&generation| newest_generation.is_some_and(|newest| generation > newest))
        .nth(GENERATIONS_KEPT - 1)
    else {
        return Ok(None);
    };
    let manifest = match manifest::read(storage, generation) {
        Ok(manifest) => manifest,
        Err(error) => {
            add(storage, generation, error, damages)?;
            return Ok(None);
        }
    };
    report.generation_before = Some(generation);
    report.files += 1;
    let checked: HashMap<&str, &FileEntry> = newest
        .into_iter()
        .flat_map(Manifest::files_by_kind)
        .map(|(_, file)| (file.name.as_str(), file))
        .collect();
    for (kind, file) in manifest.files_by_kind() {
        if damages.is_full() || checked.get(file.name.as_str()) == Some(&file) {
            continue;
        }
        report.files += 1;
        report.bytes += file.seal.bytes;
        if let Err(error) = check_seal(storage, &manifest, kind, file) {
            add(storage, generation, error, damages)?;
        }
    }
    Ok(Some(manifest))
}

fn check_seal(
    storage: &SharedStorage,
    manifest: &Manifest,
    kind: Kind,
    file: &FileEntry,
) -> Result<(), IndexError> {
    let identity = Identity {
        kind,
        index_id: manifest.index_id(),
        number: file.number,
    };
    open_sealed(storage, &file.name, kind, Some((identity, file.seal))).map(drop)
}

/// Adds a damage, unless a commit removed the generation meanwhile.
fn add(
    storage: &SharedStorage,
    generation: u64,
    error: IndexError,
    damages: &mut Damages,
) -> Result<(), IndexError> {
    let is_missing = matches!(error, IndexError::Storage(StorageError::NotFound { .. }));
    if is_missing && !manifest::generations(storage)?.contains(&generation) {
        return Ok(());
    }
    damages.add(missing_is_damage(error)?);
    Ok(())
}
