//! Stray files in the directory of an index, and unfinished generations.
//!
//! An interrupted commit leaves files under new names and no manifest; so does the loss of a manifest. The two cases
//! look alike, so the generation before is opened in both, and the caller is warned.

use crate::manifest::{self, Manifest};
use crate::names::{CRAWL_NAME, LOCK_NAME, generation_of, log_number};
use crate::{IndexError, MergeReservation};
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use vfs::{OtherEntry, OtherKind, SharedStorage};

/// Manifests kept: the newest, and the one before it for readers that have just opened it.
pub(crate) const GENERATIONS_KEPT: usize = 2;

/// Files named in the message about an unfinished generation.
const FILES_TOLD: usize = 3;

/// Unfinished generation: files newer than the opened generation, without a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Directory of the index.
    pub path: PathBuf,
    /// Generation that was opened.
    pub generation: u64,
    /// Names of the newer files, sorted.
    pub files: Vec<String>,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfinished {
            path,
            generation,
            files,
        } = self;
        let told = &files[..files.len().min(FILES_TOLD)];
        write!(
            f,
            "{}: generation {generation} is open, and {} of a newer one without a manifest: {}",
            path.display(),
            match files.len() {
                1 => "there is a file".to_owned(),
                count => format!("there are {count} files"),
            },
            told.join(", ")
        )?;
        if told.len() < files.len() {
            f.write_str(", …")?;
        }
        write!(
            f,
            "; a commit was interrupted (index again; the next commit removes them), or MANIFEST-{} was lost (restore it)",
            generation + 1
        )
    }
}

/// Directory entry that belongs to no generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Path of the entry.
    pub path: PathBuf,
    /// Kind of the entry.
    pub kind: StrayKind,
}

/// Kind of a directory entry that belongs to no generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrayKind {
    /// File with a name that commits give: from an interrupted commit, or of a removed generation.
    Leftover,
    /// File with a name that no index gives.
    Foreign,
    /// Entry that is not a regular file, or has a name that no storage allows.
    Other(OtherKind),
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: belongs to no generation: ", self.path.display())?;
        match self.kind {
            StrayKind::Leftover => f.write_str("left by a commit; the next commit removes it"),
            StrayKind::Foreign => f.write_str("not a file of an index"),
            StrayKind::Other(kind) => write!(f, "{kind}"),
        }
    }
}

/// Returns the unfinished generation after the newest manifest, if there is one, for callers about to write: the next
/// commit removes its files. `None` without an index, and while a writer is active.
pub fn find_unfinished(storage: &SharedStorage) -> Result<Option<Unfinished>, IndexError> {
    match manifest::read_newest(storage)? {
        Some(manifest) => unfinished(storage, &manifest),
        None => Ok(None),
    }
}

/// Returns the unfinished generation after `manifest`. `None` while a writer is active, because it is then writing
/// those files.
pub(crate) fn unfinished(
    storage: &SharedStorage,
    manifest: &Manifest,
) -> Result<Option<Unfinished>, IndexError> {
    let newer = |names: Vec<String>| -> Vec<String> {
        let newer = names.into_iter().filter(|name| is_newer(name, manifest));
        newer.collect()
    };
    let is_newest = |names: &[String]| {
        let mut generations = names.iter().filter_map(|name| generation_of(name));
        generations.all(|generation| generation <= manifest.generation)
    };
    if newer(storage.list()?).is_empty() || storage.is_locked(LOCK_NAME)? {
        return Ok(None);
    }
    // Read again, in case a writer ended meanwhile: its files now have a manifest, or remain.
    let names = storage.list()?;
    if !is_newest(&names) {
        return Ok(None);
    }
    let files = newer(names);
    Ok((!files.is_empty()).then(|| Unfinished {
        path: storage.location(),
        generation: manifest.generation,
        files,
    }))
}

/// Returns whether only a generation after the manifest's can have a file of this name.
fn is_newer(name: &str, manifest: &Manifest) -> bool {
    let number = |text: &str| text.parse::<u64>().ok();
    if let Some(segment) = name.strip_prefix("statistics-m") {
        let next = u64::from(manifest.next_segment);
        return number(segment).is_some_and(|number| number >= next);
    }
    if let Some(generation) = name.strip_prefix("statistics-") {
        return number(generation).is_some_and(|number| number > manifest.generation);
    }
    if let Some(generation) = name.strip_prefix("tmp-").and_then(generation_of) {
        return generation > manifest.generation;
    }
    let Some((stem, ending)) = name
        .strip_prefix("segment-")
        .and_then(|rest| rest.rsplit_once('.'))
    else {
        return false;
    };
    let (segment, generation) = stem.split_once('-').unwrap_or((stem, "0"));
    let is_new_segment =
        number(segment).is_some_and(|number| number >= u64::from(manifest.next_segment));
    let is_new_deletion = ending == "deletions"
        && number(generation).is_some_and(|number| number > manifest.generation);
    is_new_segment || is_new_deletion
}

/// Returns an entry of a directory that no index makes there, if it has one: neither a file with a name that commits give nor
/// the folder of a crawl.
pub fn find_foreign(storage: &SharedStorage) -> Result<Option<Stray>, IndexError> {
    let mut strays = strays(storage, &[])?.into_iter();
    Ok(strays.find(|stray| stray.kind != StrayKind::Leftover))
}

/// Returns the directory entries that belong to none of the generations `kept`. While a writer is active, files that it
/// may be writing are left out.
pub(crate) fn strays(storage: &SharedStorage, kept: &[Manifest]) -> Result<Vec<Stray>, IndexError> {
    let named: HashSet<String> = kept.iter().flat_map(Manifest::names).collect();
    let logged = kept.iter().map(|manifest| manifest.logged).max();
    let is_kept = |name: &str| {
        let is_log = log_number(name).is_some_and(|number| Some(number) > logged);
        name == LOCK_NAME || is_log || named.contains(name)
    };
    let is_written = storage.is_locked(LOCK_NAME)?;
    let files = storage.list()?.into_iter().map(|name| {
        let kind = match is_ours(&name) {
            true => StrayKind::Leftover,
            false => StrayKind::Foreign,
        };
        (name, kind)
    });
    let others = storage.list_others()?.into_iter();
    let is_crawl =
        |entry: &OtherEntry| entry.name == CRAWL_NAME && entry.kind == OtherKind::Directory;
    let others = others.filter(|entry| !is_crawl(entry));
    let others = others.map(|OtherEntry { name, kind }| (name, StrayKind::Other(kind)));
    let strays = files
        .chain(others)
        .filter(|(name, kind)| !(is_kept(name) || is_written && *kind == StrayKind::Leftover))
        .map(|(name, kind)| Stray {
            path: storage.location().join(name),
            kind,
        });
    Ok(strays.collect())
}

/// Returns the names of entries of a directory that are not of an index, sorted: other files, and what is no file, the state
/// of a crawl too.
///
/// # Errors
/// The directory cannot be read.
pub fn entries_beside(storage: &SharedStorage) -> Result<Vec<String>, IndexError> {
    let files = storage.list()?.into_iter();
    let others = storage.list_others()?.into_iter();
    let foreign = files.filter(|name| name != LOCK_NAME && !is_ours(name));
    let mut names: Vec<String> = foreign.chain(others.map(|entry| entry.name)).collect();
    names.sort();
    Ok(names)
}

/// Removes files of interrupted commits, and those that only old generations need. Files of a merge under way stay.
pub(crate) fn remove_leftovers(
    storage: &SharedStorage,
    manifest: &Manifest,
    merge: Option<&MergeReservation>,
) -> Result<(), IndexError> {
    let mut kept = vec![manifest.clone()];
    for &generation in manifest::generations(storage)?
        .iter()
        .take(GENERATIONS_KEPT)
    {
        if generation < manifest.generation {
            match manifest::read(storage, generation) {
                Ok(manifest) => kept.push(manifest),
                // A damaged old manifest protects no file; the newest one was read already.
                Err(IndexError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let named: HashSet<String> = kept.iter().flat_map(Manifest::names).collect();
    for name in storage.list()? {
        // A log that is not in the generation yet is the only copy of acknowledged changes.
        let is_needed = match log_number(&name) {
            Some(number) => number > manifest.logged,
            None => named.contains(&name),
        };
        let is_spared = merge.is_some_and(|merge| merge.spares(&name));
        if is_ours(&name) && !is_needed && !is_spared {
            storage.remove(&name)?;
        }
    }
    Ok(())
}

/// Returns whether a name is one that this crate gives, other than the lock. Other files are never removed.
fn is_ours(name: &str) -> bool {
    ["MANIFEST-", "segment-", "statistics-", "tmp-"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || log_number(name).is_some()
}
