//! Files and FIFOs of one user at paths that a person gives: created with mode 0600, never through a link.
//!
//! An existing one is taken only if it is of the right type, belongs to this user, and no other user can write
//! to it. Nothing is truncated.

use crate::StorageError;
use std::fs::File;
use std::io;
use std::path::Path;

/// Opens the FIFO at `path` for reading without blocking, and creates it if nothing is there. It is open for
/// writing as well, so that it never ends when its writers leave. Returns whether it was created.
///
/// # Errors
/// [`StorageError::Io`], also for anything at `path` that is no FIFO of this user alone.
#[cfg(target_os = "linux")]
pub fn open_fifo(path: &Path) -> Result<(File, bool), StorageError> {
    use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
    let created = match mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR) {
        Ok(()) => true,
        Err(rustix::io::Errno::EXIST) => false,
        Err(error) => {
            let error = error.into();
            return Err(StorageError::from_io("create the FIFO", path, error));
        }
    };
    let file = open(path, OFlags::RDWR | OFlags::NONBLOCK)?;
    examine(&file, path, rustix::fs::FileType::Fifo)?;
    Ok((file, created))
}

/// Opens an existing FIFO for writing without blocking: a write to a full FIFO fails with `WouldBlock`.
///
/// # Errors
/// [`StorageError::Io`]; `ENXIO` where nobody reads.
#[cfg(target_os = "linux")]
pub fn open_fifo_for_writing(path: &Path) -> Result<File, StorageError> {
    use rustix::fs::{FileType, OFlags};
    let file = open(path, OFlags::WRONLY | OFlags::NONBLOCK)?;
    examine(&file, path, FileType::Fifo)?;
    Ok(file)
}

/// Opens the file at `path` for reading and writing, and creates it if nothing is there.
///
/// # Errors
/// [`StorageError::Io`], also for anything at `path` that is no regular file of this user alone.
#[cfg(target_os = "linux")]
pub fn open_private_file(path: &Path) -> Result<File, StorageError> {
    use rustix::fs::{FileType, OFlags};
    let file = open(path, OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK)?;
    examine(&file, path, FileType::RegularFile)?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn open(path: &Path, flags: rustix::fs::OFlags) -> Result<File, StorageError> {
    use rustix::fs::{Mode, OFlags};
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
        .map(File::from)
        .map_err(|error| match error {
            rustix::io::Errno::LOOP => {
                refused(path, "it is a symbolic link, which is not followed")
            }
            error => StorageError::from_io("open", path, error.into()),
        })
}

/// Checks the type, the owner and the mode of an open file.
#[cfg(target_os = "linux")]
fn examine(file: &File, path: &Path, wanted: rustix::fs::FileType) -> Result<(), StorageError> {
    use rustix::fs::{FileType, fstat};
    let stat = fstat(file).map_err(|error| StorageError::from_io("examine", path, error.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != wanted {
        return Err(refused(
            path,
            match wanted {
                FileType::Fifo => "it is no FIFO; give a path where nothing is",
                _ => "it is no regular file; give a path where nothing is",
            },
        ));
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(refused(path, "it belongs to another user"));
    }
    if stat.st_mode & 0o022 != 0 {
        return Err(refused(path, "other users can write to it; chmod 600 it"));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn refused(path: &Path, why: &'static str) -> StorageError {
    StorageError::from_io("use", path, io::Error::other(why))
}

/// Fails: FIFOs are opened for both ends on Linux alone.
#[cfg(not(target_os = "linux"))]
pub fn open_fifo(path: &Path) -> Result<(File, bool), StorageError> {
    let error = io::ErrorKind::Unsupported.into();
    Err(StorageError::from_io("create the FIFO", path, error))
}

/// Fails, as [`open_fifo`] does.
#[cfg(not(target_os = "linux"))]
pub fn open_private_file(path: &Path) -> Result<File, StorageError> {
    let error = io::ErrorKind::Unsupported.into();
    Err(StorageError::from_io("open", path, error))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_fifo_is_made_once_and_never_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(open_fifo_for_writing(&path).is_err(), "there is none yet");
        let (mut fifo, created) = open_fifo(&path).unwrap();
        assert!(created);
        assert_eq!(fifo.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let mut writer = open_fifo_for_writing(&path).unwrap();
        writer.write_all(b"line\n").unwrap();
        let mut bytes = [0; 16];
        assert_eq!(fifo.read(&mut bytes).unwrap(), 5);
        drop(writer);
        let empty = fifo.read(&mut bytes).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
        let mut writer = open_fifo_for_writing(&path).unwrap();
        let full = std::iter::repeat_with(|| writer.write(&[b'x'; 4096])).find_map(Result::err);
        assert_eq!(full.unwrap().kind(), io::ErrorKind::WouldBlock);
        assert!(!open_fifo(&path).unwrap().1);
    }

    #[test]
    fn links_other_types_and_writable_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "precious").unwrap();
        symlink(path("file"), path("link")).unwrap();
        open_fifo(&path("pipe")).unwrap();
        let said = |error: StorageError| error.to_string();
        let check = |said: String, part: &str| assert!(said.contains(part), "{said}");
        check(said(open_fifo(&path("file")).unwrap_err()), "no FIFO");
        check(said(open_fifo(&path("link")).unwrap_err()), "symbolic link");
        check(
            said(open_private_file(&path("link")).unwrap_err()),
            "symbolic link",
        );
        check(
            said(open_private_file(&path("pipe")).unwrap_err()),
            "no regular file",
        );
        let wide = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(path("file"), wide.clone()).unwrap();
        std::fs::set_permissions(path("pipe"), wide).unwrap();
        check(
            said(open_private_file(&path("file")).unwrap_err()),
            "chmod 600",
        );
        check(said(open_fifo(&path("pipe")).unwrap_err()), "chmod 600");
        assert_eq!(std::fs::read(path("file")).unwrap(), b"precious");
    }
}
