//! Opening of regular files and folders without blocking and without following links.
//!
//! The type of a path may change between the check and the opening. So every component is opened below the folder
//! before it (`openat`, `O_NOFOLLOW`), and the type is checked on the descriptor that is then read. `O_NONBLOCK`: a
//! FIFO put in place meanwhile must not wait for a writer.

use crate::passed_over::Reason;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Flags for traversing a folder: they need the right to enter it, not the right to list it.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

const PASS_FOLDER: OFlags = PASS
    .union(OFlags::CLOEXEC)
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW);

/// File systems whose files the kernel generates as they are read, by their numbers in `linux/magic.h`. Their lengths
/// are 0, some never end, and reading some changes the machine.
#[cfg(target_os = "linux")]
const KERNEL_FILE_SYSTEMS: [(u32, &str); 20] = [
    (0x0000_9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0x6265_6570, "configfs"),
    (0x0000_1cd1, "devpts"),
    (0xde5e_81e4, "efivarfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x1980_0202, "mqueue"),
    (0x6e73_6673, "nsfs"),
    (0x6573_5543, "fusectl"),
    (0x0765_5821, "resctrl"),
    (0x6759_6969, "rpc_pipefs"),
];

/// Reason why a path was not opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The system refused.
    Io(io::Error),
    /// The path is of a kind that is not read.
    PassedOver(Reason),
}

impl From<Errno> for OpenError {
    fn from(error: Errno) -> OpenError {
        OpenError::Io(error.into())
    }
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> io::Error {
        match error {
            OpenError::Io(error) => error,
            OpenError::PassedOver(reason) => {
                io::Error::new(io::ErrorKind::InvalidInput, reason.to_string())
            }
        }
    }
}

/// Opens a file named by the user. Links on the way are followed, as the user intended.
pub(crate) fn open_named(path: &Path) -> Result<File, OpenError> {
    open_at(CWD, path, AtFlags::empty(), OFlags::empty())
}

/// A folder below which files are opened by their real paths. No file outside is reachable.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: PathBuf,
    folder: OwnedFd,
}

/// Entries of a folder, by name.
pub(crate) struct Listing {
    folder: OwnedFd,
    pub(crate) entries: Vec<(OsString, FileType)>,
}

impl Beneath {
    /// Opens the folder `root`, whose path must be real: absolute and without links.
    pub(crate) fn new(root: &Path) -> Result<Beneath, OpenError> {
        Ok(Beneath {
            root: root.to_path_buf(),
            folder: rustix::fs::openat(CWD, root, PASS_FOLDER, Mode::empty())?,
        })
    }

    /// Returns whether a real path lies in the folder.
    pub(crate) fn holds(&self, real: &Path) -> bool {
        real.starts_with(&self.root)
    }

    /// Opens the regular file at a real path.
    pub(crate) fn open(&self, real: &Path) -> Result<File, OpenError> {
        let (folder, name) = self.descend(real)?;
        open_at(&folder, name, AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW)
    }

    /// Lists the folder at a real path.
    pub(crate) fn list(&self, real: &Path) -> Result<Listing, OpenError> {
        let (folder, name) = self.descend(real)?;
        let flags = READ | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let folder = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(changed)?;
        refuse_kernel_file_systems(&folder)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => kind_at(&folder, entry.file_name().to_bytes())?,
                known => known,
            };
            entries.push((OsStr::from_bytes(name).to_owned(), kind));
        }
        Ok(Listing { folder, entries })
    }

    /// Returns the open folder that contains `real`, and the name of `real` in it.
    fn descend<'a>(&self, real: &'a Path) -> Result<(OwnedFd, &'a Path), OpenError> {
        let here = Path::new(".");
        let inside = real.strip_prefix(&self.root).map_err(|_| {
            OpenError::PassedOver(Reason::LinkOut {
                target: real.to_path_buf(),
            })
        })?;
        let mut folder = rustix::fs::openat(&self.folder, here, PASS_FOLDER, Mode::empty())?;
        let mut components = inside.components().peekable();
        while let Some(Component::Normal(name)) = components.next() {
            if components.peek().is_none() {
                return Ok((folder, Path::new(name)));
            }
            folder =
                rustix::fs::openat(&folder, name, PASS_FOLDER, Mode::empty()).map_err(changed)?;
        }
        Ok((folder, here))
    }
}

impl Listing {
    /// Returns the length of a file of the folder in bytes; 0 where it is unknown.
    pub(crate) fn bytes_of(&self, name: &OsStr) -> u64 {
        rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }
}

fn kind_at(folder: &OwnedFd, name: &[u8]) -> Result<FileType, Errno> {
    let name = OsStr::from_bytes(name);
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

fn open_at(
    folder: impl AsFd,
    name: &Path,
    stat_flags: AtFlags,
    open_flags: OFlags,
) -> Result<File, OpenError> {
    // Checked before opening, because opening a device has side effects: a tape rewinds, a terminal answers.
    let stat = rustix::fs::statat(&folder, name, stat_flags)?;
    refuse_special(FileType::from_raw_mode(stat.st_mode))?;
    let opened =
        rustix::fs::openat(&folder, name, READ | open_flags, Mode::empty()).map_err(changed)?;
    let file = File::from(opened);
    refuse_opened(&file)?;
    Ok(file)
}

/// Checks the opened file itself, whatever its path named before.
fn refuse_opened(file: &File) -> Result<(), OpenError> {
    let stat = rustix::fs::fstat(file)?;
    refuse_special(FileType::from_raw_mode(stat.st_mode))?;
    refuse_kernel_file_systems(file)
}

fn refuse_special(kind: FileType) -> Result<(), OpenError> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(OpenError::Io(io::ErrorKind::IsADirectory.into())),
        kind => Err(OpenError::PassedOver(
            Reason::of_kind(kind).unwrap_or(Reason::Changed),
        )),
    }
}

/// Maps the error of a name that was a file or a folder when listed and has become something else.
fn changed(error: Errno) -> OpenError {
    match error {
        Errno::LOOP | Errno::NOTDIR => OpenError::PassedOver(Reason::Changed),
        other => other.into(),
    }
}

#[cfg(target_os = "linux")]
fn refuse_kernel_file_systems(opened: impl AsFd) -> Result<(), OpenError> {
    // The width of the number differs between machines; all these numbers fit 32 bits.
    let number = rustix::fs::fstatfs(opened)?.f_type as u32;
    let known = KERNEL_FILE_SYSTEMS
        .iter()
        .find(|(magic, _)| *magic == number);
    known.map_or(Ok(()), |&(_, name)| {
        Err(OpenError::PassedOver(Reason::KernelFileSystem { name }))
    })
}

#[cfg(not(target_os = "linux"))]
fn refuse_kernel_file_systems(_: impl AsFd) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(test)]
mod tests;
