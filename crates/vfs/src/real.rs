//! The real disk.
use crate::buffered::{Buffered, Sink};
use crate::name::{is_valid, path_of};
use crate::region::MappedFile;
use crate::{
    Lock, OpenFile, OtherEntry, OtherKind, Region, SourceFile, Storage, StorageError, WriteFile,
};
use memmap2::Mmap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
#[cfg(unix)]
use std::{
    os::fd::OwnedFd,
    sync::{Arc, Mutex, PoisonError},
};

/// Large enough that a system call's cost vanishes beside copying the bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// Tries to take a lock: [`Storage::is_locked`] holds it for an instant, which is no writer's.
const LOCK_TRIES: u32 = 4;

/// Between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(3);

/// A directory of the file system.
#[derive(Debug, Clone)]
pub struct RealStorage {
    directory: PathBuf,
    /// The directory as it was opened last, for files that are not held open.
    #[cfg(unix)]
    opened: Arc<Mutex<Option<Arc<OwnedFd>>>>,
}

impl RealStorage {
    /// Uses an existing directory.
    pub fn open(directory: impl AsRef<Path>) -> Result<RealStorage, StorageError> {
        let directory = directory.as_ref().to_owned();
        let metadata = fs::metadata(&directory).map_err(failed("open", &directory))?;
        if !metadata.is_dir() {
            let source = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(StorageError::from_io("open", &directory, source));
        }
        Ok(RealStorage {
            directory,
            #[cfg(unix)]
            opened: Arc::default(),
        })
    }

    /// Creates the directory (and its parents) where it is missing, durably.
    pub fn create_directory(directory: impl AsRef<Path>) -> Result<RealStorage, StorageError> {
        let directory = directory.as_ref();
        let missing: Vec<&Path> = directory
            .ancestors()
            .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
            .collect();
        fs::create_dir_all(directory).map_err(|source| StorageError::Io {
            operation: "create",
            path: directory.to_owned(),
            source: match source.kind() {
                // Parents are created too, so what is missing is not the reason: file systems of the kernel say so.
                io::ErrorKind::NotFound => io::Error::new(
                    io::ErrorKind::Unsupported,
                    "its file system has no files but its own; choose another directory",
                ),
                _ => source,
            },
        })?;
        // A name is durable once the directory that holds it is synced.
        for path in missing {
            match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => sync(parent)?,
                _ => sync(Path::new("."))?,
            }
        }
        RealStorage::open(directory)
    }
}

#[cfg(unix)]
impl RealStorage {
    /// Returns a descriptor of the directory that has the path now, by which its files are asked for without opening
    /// them.
    fn directory_now(&self) -> io::Result<Arc<OwnedFd>> {
        use rustix::fs::{Mode, OFlags, fstat, open, stat};
        let now = stat(&self.directory)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*opened {
            let known_is = fstat(&**known)?;
            if (known_is.st_dev, known_is.st_ino) == (now.st_dev, now.st_ino) {
                return Ok(Arc::clone(known));
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fresh = Arc::new(open(&self.directory, flags, Mode::empty())?);
        *opened = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Returns the source of stamps that show changes of `file`, which was just opened by `name`.
    fn source(&self, name: &str, file: &File) -> io::Result<SourceFile> {
        let name = std::ffi::CString::new(name).map_err(io::Error::other)?;
        SourceFile::new(file.try_clone()?, self.directory_now()?, name)
    }
}

impl Storage for RealStorage {
    fn location(&self) -> PathBuf {
        self.directory.clone()
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        let path = path_of(&self.directory, name)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
        let file = options.open(&path).map_err(failed("create", &path))?;
        Ok(Box::new(Buffered::new(
            RealFile { file, path },
            BUFFER_BYTES,
        )))
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        let path = path_of(&self.directory, name)?;
        let (file, file_bytes) =
            open_regular(OpenOptions::new().read(true), &path).map_err(failed("open", &path))?;
        if file_bytes == 0 {
            return Ok(OpenFile::Region(Region::new(Vec::new())));
        }
        let source = self.source(name, &file).map_err(failed("open", &path))?;
        // SAFETY: the mapping is read-only, and the file behind it does not change: files of a
        // storage are written once, made read-only when finished, and replaced by rename or
        // removed, which leaves the mapped inode as it is. Somebody who overwrites or truncates
        // an index file in place breaks the format's contract, as with every mapped index. Then
        // the bytes under a slice change, which no reader here takes for more than other bytes:
        // all are plain integers, and every length and offset from a file is checked where it is
        // used. What was read so is found out by `SourceFile::now` and `Region::has_faulted`.
        let mapping = unsafe { Mmap::map(&file) }.map_err(failed("map", &path))?;
        let mapped = MappedFile::new(mapping, source);
        Ok(OpenFile::Region(Region::mapped(mapped)))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let from = path_of(&self.directory, from)?;
        let to = path_of(&self.directory, to)?;
        fs::rename(&from, to).map_err(failed("rename", &from))
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        let path = path_of(&self.directory, name)?;
        fs::remove_file(&path).map_err(failed("remove", &path))
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        Ok(self.entries()?.0)
    }

    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError> {
        Ok(self.entries()?.1)
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        sync(&self.directory)
    }

    fn available_bytes(&self) -> Option<u64> {
        let device = rustix::fs::statvfs(&self.directory).ok()?;
        Some(device.f_bavail.saturating_mul(device.f_frsize))
    }

    fn lock(&self, name: &str) -> Result<Lock, StorageError> {
        let path = path_of(&self.directory, name)?;
        // The file stays when the lock ends: removing it would let two takers hold locks on two
        // files of the same name.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let (file, _) = open_regular(&mut options, &path).map_err(failed("lock", &path))?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => return Ok(lock_of(file, path)),
                Err(TryLockError::WouldBlock) if attempt < LOCK_TRIES => {
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(source)) => {
                    return Err(StorageError::from_io("lock", &path, source));
                }
            }
        }
        Err(StorageError::Locked { path })
    }

    fn is_locked(&self, name: &str) -> Result<bool, StorageError> {
        let path = path_of(&self.directory, name)?;
        let file = match open_regular(OpenOptions::new().read(true), &path) {
            Ok((file, _)) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StorageError::from_io("lock", &path, error)),
        };
        // Shared, so that others who only ask do not hear of each other; closed, it is free again.
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(StorageError::from_io("lock", &path, source)),
        }
    }
}

impl RealStorage {
    /// Returns the files of the storage, and everything else.
    fn entries(&self) -> Result<(Vec<String>, Vec<OtherEntry>), StorageError> {
        let failed = failed("list", &self.directory);
        let (mut names, mut others) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.directory).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let kind = entry.file_type().map_err(&failed)?;
            let name = entry.file_name();
            match (other_kind(kind), name.to_str()) {
                (None, Some(name)) if is_valid(name) => names.push(name.to_owned()),
                // What cannot be opened by its name here was not made here.
                (kind, _) => others.push(OtherEntry {
                    name: name.to_string_lossy().into_owned(),
                    kind: kind.unwrap_or(OtherKind::OddName),
                }),
            }
        }
        names.sort();
        others.sort();
        Ok((names, others))
    }
}

/// Returns the kind of an entry that is no regular file; `None` for a regular one.
fn other_kind(kind: fs::FileType) -> Option<OtherKind> {
    if kind.is_file() {
        return None;
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
        return Some(OtherKind::Fifo);
    }
    Some(if kind.is_dir() {
        OtherKind::Directory
    } else if kind.is_symlink() {
        OtherKind::Link
    } else {
        OtherKind::Special
    })
}

/// Opens a file that must be a regular one, and says its length. A FIFO of that name is an error, and
/// is not waited for.
fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        rustix::fs::OFlags::NONBLOCK.bits() as i32,
    );
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        return Err(source);
    }
    Ok((file, metadata.len()))
}

#[cfg(unix)]
fn lock_of(file: File, path: PathBuf) -> Lock {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: &fs::Metadata| (found.dev(), found.ino());
    let taken = file.metadata().ok().as_ref().map(identity);
    Lock::of_name(file, move || {
        let now = fs::metadata(&path).ok().as_ref().map(identity);
        taken.is_some() && now == taken
    })
}

#[cfg(not(unix))]
fn lock_of(file: File, _path: PathBuf) -> Lock {
    Lock::new(file)
}

struct RealFile {
    file: File,
    path: PathBuf,
}

impl Sink for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.file
            .write_all(bytes)
            .map_err(failed("write", &self.path))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.file.sync_data().map_err(failed("sync", &self.path))
    }

    fn finish(&mut self) -> Result<(), StorageError> {
        #[cfg(unix)]
        {
            // Before the sync, so that the protection is as durable as the bytes.
            let read_only = std::os::unix::fs::PermissionsExt::from_mode(0o444);
            self.file
                .set_permissions(read_only)
                .map_err(failed("protect", &self.path))?;
        }
        self.file.sync_all().map_err(failed("sync", &self.path))
    }

    #[cfg(unix)]
    fn has_name(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.file.metadata().is_ok_and(|found| found.nlink() > 0)
    }
}

/// Makes the names in a directory durable.
pub(crate) fn sync(directory: &Path) -> Result<(), StorageError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(failed("sync", directory))
}

pub(crate) fn failed(operation: &'static str, path: &Path) -> impl Fn(io::Error) -> StorageError {
    move |source| StorageError::from_io(operation, path, source)
}
