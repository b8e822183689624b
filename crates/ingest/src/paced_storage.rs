//! Storage of a merge: writes keep its pace, reach the disk in small portions, and fail once the merge is given up.

use std::io::{self, Write};
use std::sync::Arc;
use vfs::{SharedStorage, Storage, StorageDelegation, StorageError, WriteFile};

/// Bytes after which a write keeps pace.
const STEP_BYTES: usize = 32 << 10;
/// Bytes after which a file is synced, so that no sync of the log waits behind a large one.
const SYNC_BYTES: usize = 4 << 20;

/// Limits that the writes of a merge obey.
pub(crate) trait Limits: Send + Sync {
    /// Returns whether the merge is given up.
    fn is_stopped(&self) -> bool;
    /// Keeps the pace between pieces of a file.
    fn step(&self);
    /// Waits until the pace permits work on the next file.
    fn step_now(&self);
}

/// Storage with limits on its writes.
pub(crate) struct PacedStorage {
    inner: SharedStorage,
    limits: Arc<dyn Limits>,
}

impl PacedStorage {
    pub(crate) fn new(inner: SharedStorage, limits: Arc<dyn Limits>) -> PacedStorage {
        PacedStorage { inner, limits }
    }

    /// Keeps the pace between pieces of work that write nothing.
    pub(crate) fn step(&self) -> Result<(), StorageError> {
        self.limits.step();
        self.ensure_not_stopped("merge", "")
    }

    fn ensure_going(&self, operation: &'static str, name: &str) -> Result<(), StorageError> {
        self.limits.step_now();
        self.ensure_not_stopped(operation, name)
    }

    fn ensure_not_stopped(&self, operation: &'static str, name: &str) -> Result<(), StorageError> {
        ensure_going(&*self.limits).map_err(|stopped| {
            let path = self.inner.location().join(name);
            StorageError::from_io(operation, &path, stopped)
        })
    }
}

fn ensure_going(limits: &dyn Limits) -> io::Result<()> {
    match limits.is_stopped() {
        true => Err(io::Error::other(
            "the merge was given up, because the writer ends",
        )),
        false => Ok(()),
    }
}

impl std::fmt::Debug for PacedStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PacedStorage").field(&self.inner).finish()
    }
}

impl StorageDelegation for PacedStorage {
    fn inner(&self) -> &dyn Storage {
        &*self.inner
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        self.ensure_going("create", name)?;
        Ok(Box::new(PacedFile {
            inner: self.inner.create(name)?,
            limits: Arc::clone(&self.limits),
            // Temporary files are never synced.
            is_kept: !name.starts_with("tmp-"),
            unpaced: 0,
            unsynced: 0,
        }))
    }
}

struct PacedFile {
    inner: Box<dyn WriteFile>,
    limits: Arc<dyn Limits>,
    is_kept: bool,
    unpaced: usize,
    unsynced: usize,
}

impl Write for PacedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unpaced >= STEP_BYTES {
            self.unpaced = 0;
            self.limits.step();
            ensure_going(&*self.limits)?;
        }
        if self.is_kept && self.unsynced >= SYNC_BYTES {
            self.unsynced = 0;
            self.inner.sync().map_err(io::Error::other)?;
        }
        let written = self.inner.write(bytes)?;
        self.unpaced += written;
        self.unsynced += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for PacedFile {
    fn sync(&mut self) -> Result<(), StorageError> {
        self.inner.sync()
    }

    fn finish(self: Box<Self>) -> Result<(), StorageError> {
        self.inner.finish()
    }

    fn has_name(&self) -> bool {
        self.inner.has_name()
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, PacedStorage, STEP_BYTES};
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use vfs::{MemoryStorage, SharedStorage, Storage};

    /// Gives up after some steps.
    struct Steps {
        left: AtomicUsize,
        seen: AtomicUsize,
    }

    impl Limits for Steps {
        fn is_stopped(&self) -> bool {
            let left = &self.left;
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
            taken.is_err()
        }

        fn step(&self) {
            self.seen.fetch_add(1, Ordering::Relaxed);
        }

        fn step_now(&self) {
            self.step();
        }
    }

    #[test]
    fn writes_keep_pace_and_end() {
        let disk = MemoryStorage::new();
        let steps = Arc::new(Steps {
            left: AtomicUsize::new(20),
            seen: AtomicUsize::new(0),
        });
        let paced = PacedStorage::new(Arc::new(disk.clone()), Arc::<Steps>::clone(&steps));
        let mut file = paced.create("a").unwrap();
        let piece = vec![7; STEP_BYTES / 2];
        let written = (0..1000).take_while(|_| file.write_all(&piece).is_ok());
        assert_eq!(written.count(), 40);
        assert_eq!(steps.seen.load(Ordering::Relaxed), 21);
        assert!(paced.create("b").is_err());
        assert_eq!(paced.list().unwrap(), ["a"]);
    }

    #[test]
    fn the_room_is_that_of_the_device() {
        let folder = tempfile::tempdir().unwrap();
        let disk: SharedStorage = Arc::new(vfs::RealStorage::open(folder.path()).unwrap());
        let limits = Steps {
            left: AtomicUsize::new(0),
            seen: AtomicUsize::new(0),
        };
        let paced = PacedStorage::new(disk.clone(), Arc::new(limits));
        assert_eq!(
            paced.available_bytes().is_some(),
            disk.available_bytes().is_some()
        );
    }
}
