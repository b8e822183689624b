//! The file behind a mapping, held so that its changes are seen.
//!
//! A mapping keeps its file, whatever becomes of the name: a file may be overwritten first and replaced afterwards, so
//! asking by name could miss it. Descriptors are therefore held, as long as they take no more than a part of those that
//! this process may have: the rest is for connections. Of further files only the name is asked for.

use crate::FileStamp;
use std::io;
#[cfg(unix)]
use std::{
    ffi::CString,
    fs::File,
    os::fd::OwnedFd,
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Inverse of the share of the descriptor limit that mapped files may hold.
#[cfg(unix)]
const DESCRIPTORS_PART: u64 = 4;
/// Descriptors held.
#[cfg(unix)]
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The file that a region shows, as it is on the disk.
#[derive(Debug)]
pub struct SourceFile {
    #[cfg(unix)]
    by: By,
    at_open: FileStamp,
}

/// Way of asking for the file.
#[cfg(unix)]
#[derive(Debug)]
enum By {
    Descriptor(Held),
    Name(Arc<OwnedFd>, CString),
}

#[cfg(unix)]
#[derive(Debug)]
struct Held(File);

#[cfg(unix)]
impl Held {
    /// Keeps the file open, or gives it back where too many are.
    fn new(file: File) -> Result<Held, File> {
        use rustix::process::{Resource, getrlimit};
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = usize::try_from(limit / DESCRIPTORS_PART).unwrap_or(usize::MAX);
        let next = |held: usize| (held < most).then_some(held + 1);
        match HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(_) => Ok(Held(file)),
            Err(_) => Err(file),
        }
    }
}

#[cfg(unix)]
impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(unix)]
impl SourceFile {
    /// Returns an open file, `name` in a directory, before any byte of it is read.
    pub(crate) fn new(
        file: File,
        directory: Arc<OwnedFd>,
        name: CString,
    ) -> io::Result<SourceFile> {
        let at_open = FileStamp::of(&rustix::fs::fstat(&file)?);
        let by = match Held::new(file) {
            Ok(held) => By::Descriptor(held),
            Err(_) => By::Name(directory, name),
        };
        Ok(SourceFile { by, at_open })
    }

    /// Returns the present stamp of the file. A file that is looked up by name has the stamp of the file with that
    /// name, or `None`. One system call.
    pub fn now(&self) -> io::Result<Option<FileStamp>> {
        use rustix::fs::{AtFlags, fstat, statat};
        let stat = match &self.by {
            By::Descriptor(held) => fstat(&held.0),
            By::Name(directory, name) => statat(&**directory, name.as_c_str(), AtFlags::empty()),
        };
        match stat {
            Ok(stat) => Ok(Some(FileStamp::of(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl SourceFile {
    /// Returns the first offset from `at` on where the file has stored bytes, before `end`; `end` where it has none, and
    /// `at` where the system does not tell.
    pub(crate) fn next_data(&self, at: u64, end: u64) -> u64 {
        use rustix::fs::{SeekFrom, seek};
        let By::Descriptor(held) = &self.by else {
            return at;
        };
        // The descriptor is held for its stamp alone; nobody reads at its position.
        match seek(&held.0, SeekFrom::Data(at)) {
            Ok(found) => found.clamp(at, end),
            Err(rustix::io::Errno::NXIO) => end,
            Err(_) => at,
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl SourceFile {
    pub(crate) fn next_data(&self, at: u64, _end: u64) -> u64 {
        at
    }
}

#[cfg(not(unix))]
impl SourceFile {
    /// Unknown: this system is not asked.
    pub fn now(&self) -> io::Result<Option<FileStamp>> {
        Ok(Some(self.at_open))
    }
}

impl SourceFile {
    /// Returns the stamp of the file from before any byte of the region was read.
    pub fn at_open(&self) -> FileStamp {
        self.at_open
    }
}
