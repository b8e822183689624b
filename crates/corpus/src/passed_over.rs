//! Input that is named, counted and not read: links that leave a folder, and paths that are no files.

use rustix::fs::FileType;
use std::path::PathBuf;

/// A path that was not read, though it may look like a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The path.
    pub path: PathBuf,
    /// Reason why it was not read.
    pub reason: Reason,
}

/// Reason why a path was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A symbolic link whose target is outside the folder.
    #[error("a link that leaves the folder, to {}; --follow-links reads it", target.display())]
    LinkOut {
        /// The target, with links resolved.
        target: PathBuf,
    },
    /// A symbolic link whose target does not exist, or that leads back to itself.
    #[error("a link that leads nowhere")]
    LinkNowhere,
    /// A path whose type changed between listing and opening.
    #[error("it was replaced while the folder was read")]
    Changed,
    /// A FIFO.
    #[error("a FIFO, not a file; give its content on standard input, with - as the source")]
    Fifo,
    /// A socket.
    #[error("a socket, not a file")]
    Socket,
    /// A character device.
    #[error("a character device, not a file")]
    CharacterDevice,
    /// A block device.
    #[error("a block device, not a file")]
    BlockDevice,
    /// A file or folder that the kernel generates as it is read.
    #[error("on the file system {name}, whose files are the kernel's own")]
    KernelFileSystem {
        /// Name of the file system.
        name: &'static str,
    },
}

impl Reason {
    /// Returns the reason for a type that is neither file, folder nor link.
    pub(crate) fn of_kind(kind: FileType) -> Option<Reason> {
        match kind {
            FileType::Fifo => Some(Reason::Fifo),
            FileType::Socket => Some(Reason::Socket),
            FileType::CharacterDevice => Some(Reason::CharacterDevice),
            FileType::BlockDevice => Some(Reason::BlockDevice),
            _ => None,
        }
    }
}

impl std::fmt::Display for PassedOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: passed over: {}", self.path.display(), self.reason)
    }
}
