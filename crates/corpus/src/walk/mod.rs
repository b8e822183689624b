//! Walk over the files of a folder: each file once, without files outside that a link leads to.
//!
//! A file is reached by its own path where that path is not hidden; links come after all own paths. A link that stays
//! in the folder adds a file that its own path does not: a hidden file, or one whose name does not look like text.
//! Folders and files are recognised by their real paths, and each is visited once, so links to a parent folder end.

use crate::opened::{Beneath, OpenError};
use crate::passed_over::{PassedOver, Reason};
use rustix::fs::FileType;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The path by which it was found.
    pub(crate) path: PathBuf,
    /// Its real path, without links.
    pub(crate) real: PathBuf,
    pub(crate) bytes: u64,
}

/// Result of a walk, in the order of the paths.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) files: Vec<Found>,
    /// Folders that could not be read, with the errors.
    pub(crate) unreadable: Vec<(PathBuf, io::Error)>,
    pub(crate) passed_over: Vec<PassedOver>,
    /// Numbers of files with other names, by kind.
    pub(crate) left_out: Kinds,
}

/// Numbers of files by kind: the ending of the name, such as `.png`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kinds(BTreeMap<String, u64>);

/// Upper limits on the kinds that are told apart, and on the characters of an ending.
const KINDS_MAX: usize = 200;
const ENDING_CHARS_MAX: usize = 12;

impl Kinds {
    pub(crate) fn add(&mut self, name: &OsStr) {
        let name = name.to_string_lossy().to_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_ending = (1..=ENDING_CHARS_MAX).contains(&ending.chars().count())
            && ending.chars().all(char::is_alphanumeric);
        let kind = match is_ending {
            true => format!(".{ending}"),
            false => "without an ending".to_owned(),
        };
        self.add_kind(kind);
    }

    /// Counts one of a kind. Kinds beyond a limit are counted as others.
    pub(crate) fn add_kind(&mut self, kind: String) {
        let is_known = self.0.len() < KINDS_MAX || self.0.contains_key(&kind);
        let kind = if is_known { kind } else { "others".to_owned() };
        *self.0.entry(kind).or_default() += 1;
    }

    /// Adds the numbers of other files.
    pub(crate) fn add_all(&mut self, others: &Kinds) {
        for (kind, count) in &others.0 {
            *self.0.entry(kind.clone()).or_default() += count;
        }
    }

    /// Returns the kinds with their numbers, the most frequent first.
    pub(crate) fn by_count(&self) -> Vec<(String, u64)> {
        let mut kinds: Vec<(String, u64)> = self.0.clone().into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds
    }
}

/// A folder or link to visit: the path by which it was found, and its real path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    path: PathBuf,
    real: PathBuf,
}

struct Walker<'a, W> {
    beneath: &'a Beneath,
    wanted: W,
    walk: Walk,
    /// Real paths of the folders entered and the files found.
    seen: HashSet<PathBuf>,
    folders: Vec<Way>,
    links: BTreeSet<PathBuf>,
}

/// Finds the files below the real path `root` whose names are `wanted`, all of them in `beneath`. Hidden files and
/// folders are skipped silently, as is a link to a file that is not wanted.
pub(crate) fn walk(beneath: &Beneath, root: &Path, wanted: impl Fn(&str) -> bool) -> Walk {
    let mut walker = Walker {
        beneath,
        wanted,
        walk: Walk::default(),
        seen: HashSet::new(),
        folders: vec![Way {
            path: root.to_path_buf(),
            real: root.to_path_buf(),
        }],
        links: BTreeSet::new(),
    };
    loop {
        if let Some(folder) = walker.folders.pop() {
            walker.enter(&folder);
        } else if let Some(link) = walker.links.pop_first() {
            walker.resolve(link);
        } else {
            break;
        }
    }
    let mut walk = walker.walk;
    walk.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.passed_over
        .sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk
}

/// Walks as [`walk`], without links that leave `root`; returns an empty result where `root` cannot be read.
pub(crate) fn walk_or_nothing(root: &Path, wanted: impl Fn(&str) -> bool) -> Walk {
    let real = fs::canonicalize(root);
    let opened = real.and_then(|real| Ok((Beneath::new(&real)?, real)));
    opened.map_or_else(
        |_| Walk::default(),
        |(beneath, real)| walk(&beneath, &real, wanted),
    )
}

impl<W: Fn(&str) -> bool> Walker<'_, W> {
    fn enter(&mut self, folder: &Way) {
        if !self.seen.insert(folder.real.clone()) {
            return;
        }
        let listing = match self.beneath.list(&folder.real) {
            Ok(listing) => listing,
            Err(OpenError::PassedOver(reason)) => return self.pass_over(&folder.path, reason),
            Err(OpenError::Io(error)) => {
                self.walk.unreadable.push((folder.path.clone(), error));
                return;
            }
        };
        for (name, kind) in &listing.entries {
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            let (path, real) = (folder.path.join(name), folder.real.join(name));
            match kind {
                FileType::Directory => self.folders.push(Way { path, real }),
                FileType::RegularFile if self.is_wanted(name) => {
                    let bytes = listing.bytes_of(name);
                    self.find(Found { path, real, bytes });
                }
                FileType::RegularFile => self.walk.left_out.add(name),
                FileType::Symlink => {
                    self.links.insert(path);
                }
                other => {
                    if let Some(reason) = Reason::of_kind(*other) {
                        self.pass_over(&path, reason);
                    }
                }
            }
        }
        // The last folder is entered first. Sorted, so that of two paths to one folder the same one always wins.
        self.folders.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn resolve(&mut self, path: PathBuf) {
        let name = path.file_name().unwrap_or_default().to_owned();
        let target = fs::canonicalize(&path).and_then(|real| {
            let metadata = fs::metadata(&real)?;
            Ok((real, metadata))
        });
        let Ok((real, metadata)) = target else {
            if self.is_wanted(&name) {
                self.pass_over(&path, Reason::LinkNowhere);
            }
            return;
        };
        let kind = FileType::from_raw_mode(metadata.mode());
        if kind == FileType::RegularFile && !self.is_wanted(&name) {
            return;
        }
        if !self.beneath.holds(&real) {
            self.pass_over(&path, Reason::LinkOut { target: real });
        } else if kind == FileType::Directory {
            self.folders.push(Way { path, real });
        } else if let Some(reason) = Reason::of_kind(kind) {
            self.pass_over(&path, reason);
        } else {
            let bytes = metadata.len();
            self.find(Found { path, real, bytes });
        }
    }

    fn find(&mut self, found: Found) {
        if self.seen.insert(found.real.clone()) {
            self.walk.files.push(found);
        }
    }

    fn pass_over(&mut self, path: &Path, reason: Reason) {
        let path = path.to_path_buf();
        self.walk.passed_over.push(PassedOver { path, reason });
    }

    fn is_wanted(&self, name: &OsStr) -> bool {
        (self.wanted)(&name.to_string_lossy())
    }
}

#[cfg(test)]
mod tests;
