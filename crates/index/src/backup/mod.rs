//! Backup of an index: its newest generation, and the acknowledged changes after it, in another directory.
//!
//! ```text
//! source: MANIFEST-<n>, its files, log-<m>…  ──verified──►  target: files, MANIFEST-<n>, log-<m>…
//! ```
//!
//! A backup is an index: it can be searched, checked and restored. A backup to a directory that holds an earlier one
//! copies only files that the earlier one lacks, because files are written once and never changed. The manifest follows
//! its files, and logs follow the manifest, so an interrupted backup leaves the earlier backup, or the new generation
//! with a prefix of its logs.
//!
//! The source may be written meanwhile: all files of its generation are open before the first is copied, and an open
//! file stays readable after its removal.

mod copy;
mod source;

use crate::IndexError;
use crate::leftovers::remove_leftovers;
use crate::manifest::{self, FileEntry, Manifest};
use crate::names::log_name;
use crate::sealed::{Identity, Kind};
use crate::section::open_sealed;
use crate::sources::Unchanged;
use crate::writer::WriteLock;
use copy::{copy_file, remove_temporary, temporary_name};
use source::Source;
use std::collections::HashMap;
use vfs::{SharedStorage, StorageError};

/// Progress of a backup or a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupProgress {
    /// Bytes verified or copied.
    pub bytes: u64,
    /// Bytes of the generation.
    pub bytes_total: u64,
}

/// Summary of a backup or a restore.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupSummary {
    /// Generation copied.
    pub generation: u64,
    /// Live documents of the generation, without changes in logs.
    pub documents: u64,
    /// Files of the generation, without the manifest.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Files that the target lacked.
    pub files_copied: u64,
    /// Bytes of files that the target lacked.
    pub bytes_copied: u64,
    /// Acknowledged changes after the generation, in logs.
    pub logged_changes: u64,
}

/// Copies an index to `target`, an empty directory or an earlier backup of the same index. Reports bytes to `progress`.
///
/// # Errors
/// Damage of the source, of which nothing is then copied over an earlier backup; a target that holds another index, or
/// another history of this one; a full disk.
pub fn back_up(
    source: &SharedStorage,
    target: &SharedStorage,
    progress: &dyn Fn(BackupProgress),
) -> Result<BackupSummary, IndexError> {
    let _lock = WriteLock::take(target)?;
    let opened = source::open(source)?;
    let earlier = manifest::read_newest(target)?;
    if let Some(earlier) = &earlier {
        ensure_earlier(target, earlier, &opened.manifest)?;
    }
    copy_all(&opened, target, earlier.as_ref(), progress)
}

/// Copies a backup to `target`, a directory without an index. Reports bytes to `progress`.
///
/// # Errors
/// Damage of the backup; a target that holds an index; a full disk.
pub fn restore(
    backup: &SharedStorage,
    target: &SharedStorage,
    progress: &dyn Fn(BackupProgress),
) -> Result<BackupSummary, IndexError> {
    let _lock = WriteLock::take(target)?;
    let opened = source::open(backup)?;
    if let Some(generation) = manifest::newest(target)? {
        return Err(IndexError::Mismatch {
            path: target.location(),
            reason: format!(
                "an index is here (generation {generation}), and a restore does not overwrite one; restore into a new directory"
            ),
        });
    }
    copy_all(&opened, target, None, progress)
}

/// Ensures that `earlier`, the newest generation of the target, belongs to the history of `newer`.
fn ensure_earlier(
    target: &SharedStorage,
    earlier: &Manifest,
    newer: &Manifest,
) -> Result<(), IndexError> {
    let refused = |reason: &str| {
        let path = target.location();
        let reason = format!("{reason}; back up into another directory");
        Err(IndexError::Mismatch { path, reason })
    };
    if earlier.index_id != newer.index_id {
        return refused("a backup of another index is here");
    }
    if earlier.generation > newer.generation || earlier.logged > newer.logged {
        return refused("a backup of a newer generation of this index is here");
    }
    if earlier.generation == newer.generation && earlier != newer {
        return refused("a backup of another history of this index is here");
    }
    let named: HashMap<&str, &FileEntry> = earlier.files_by_kind().map(named).collect();
    let is_other = |(_, file): (Kind, &FileEntry)| {
        let same_name = named.get(file.name.as_str());
        same_name.is_some_and(|earlier| earlier.seal != file.seal)
    };
    match newer.files_by_kind().any(is_other) {
        true => refused("a backup of another history of this index is here"),
        false => Ok(()),
    }
}

fn named((_, file): (Kind, &FileEntry)) -> (&str, &FileEntry) {
    (&file.name, file)
}

/// Copies what the target lacks, then the manifest, then the logs.
fn copy_all(
    source: &Source,
    target: &SharedStorage,
    earlier: Option<&Manifest>,
    progress: &dyn Fn(BackupProgress),
) -> Result<BackupSummary, IndexError> {
    let manifest = &source.manifest;
    remove_temporary(target)?;
    let mut summary = BackupSummary {
        generation: manifest.generation,
        documents: manifest.documents_count,
        files: source.files.len() as u64,
        bytes: manifest.bytes(),
        logged_changes: source.logged_changes,
        ..BackupSummary::default()
    };
    let mut bytes = 0;
    let mut advance = |more: u64| {
        bytes += more;
        progress(BackupProgress {
            bytes,
            bytes_total: summary.bytes,
        });
    };
    for (kind, entry, payload) in &source.files {
        if holds(target, manifest, *kind, entry)? {
            advance(entry.seal.bytes);
            continue;
        }
        payload.file().verify_whole()?;
        let region = payload.file().region();
        copy_file(region, region.len(), target, &entry.name, &mut advance)?;
        // The copy is read back: a file of the source may have changed after its verification.
        open_verified(target, manifest, *kind, entry)?;
        summary.files_copied += 1;
        summary.bytes_copied += entry.seal.bytes;
    }
    // The names of logs are given after the manifest: beside an older one they would seem to follow a lost log.
    for (log, &end) in source.logs.iter().zip(&source.log_ends) {
        let name = temporary_name(&log_name(log.number));
        copy_file(&log.bytes, end, target, &name, &mut |_| {})?;
    }
    if earlier != Some(manifest) {
        manifest::commit(target, manifest, &Unchanged::read_back())?;
    }
    for log in &source.logs {
        let name = log_name(log.number);
        target.rename(&temporary_name(&name), &name)?;
    }
    target.sync_directory()?;
    remove_leftovers(target, manifest, None)?;
    Ok(summary)
}

/// Returns whether the target has the file, whole.
fn holds(
    target: &SharedStorage,
    manifest: &Manifest,
    kind: Kind,
    entry: &FileEntry,
) -> Result<bool, IndexError> {
    match open_verified(target, manifest, kind, entry) {
        Ok(()) => Ok(true),
        Err(IndexError::Storage(StorageError::NotFound { .. })) => Ok(false),
        // Left by an interrupted backup, or damaged since: written again.
        Err(IndexError::Damaged { .. } | IndexError::OtherVersion { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn open_verified(
    target: &SharedStorage,
    manifest: &Manifest,
    kind: Kind,
    entry: &FileEntry,
) -> Result<(), IndexError> {
    let identity = Identity {
        kind,
        index_id: manifest.index_id(),
        number: entry.number,
    };
    open_sealed(target, &entry.name, kind, Some((identity, entry.seal)))?;
    Ok(())
}
