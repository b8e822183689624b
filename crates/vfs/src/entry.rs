//! What may stand in a directory beside the files of a storage.
use std::fmt;

/// An entry of a directory that is no file of the storage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherEntry {
    /// Name of the entry; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// Its kind.
    pub kind: OtherKind,
}

/// Kind of an entry that is no file of a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OtherKind {
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A FIFO.
    Fifo,
    /// A socket, a device.
    Special,
    /// A regular file whose name no file of a storage can have.
    OddName,
}

impl fmt::Display for OtherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OtherKind::Directory => "a directory",
            OtherKind::Link => "a symbolic link",
            OtherKind::Fifo => "a FIFO",
            OtherKind::Special => "a socket or device",
            OtherKind::OddName => "a file with a name that no index gives",
        })
    }
}
