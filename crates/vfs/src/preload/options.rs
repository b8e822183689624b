//! Options of preloading: the kind of memory, and its file system.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Place of files before they are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Preload {
    /// Wherever they are: pages come when they are needed.
    #[default]
    None,
    /// Page cache, mapped.
    Touch,
    /// Memory files.
    Tmpfs,
    /// Memory with huge pages.
    HugePages,
}

impl Preload {
    const ALL: [Preload; 4] = [
        Preload::None,
        Preload::Touch,
        Preload::Tmpfs,
        Preload::HugePages,
    ];

    /// Returns the name that options and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Preload::None => "none",
            Preload::Touch => "touch",
            Preload::Tmpfs => "tmpfs",
            Preload::HugePages => "hugepages",
        }
    }
}

impl fmt::Display for Preload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preload {
    type Err = String;
    fn from_str(name: &str) -> Result<Preload, String> {
        let named = Preload::ALL.into_iter().find(|way| way.name() == name);
        named.ok_or_else(|| {
            format!("{name:?} is no way to preload; choose none, touch, tmpfs or hugepages")
        })
    }
}

/// Options of preloading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreloadOptions {
    /// Place of the files.
    pub preload: Preload,
    /// The folder of a file system in memory, for [`Preload::Tmpfs`].
    pub tmpfs: PathBuf,
}

impl PreloadOptions {
    /// Loads so, memory files in `/dev/shm`.
    pub fn new(preload: Preload) -> PreloadOptions {
        PreloadOptions {
            preload,
            tmpfs: PathBuf::from("/dev/shm"),
        }
    }
}
