//! A disk that fails on demand.
//!
//! Run the work once with [`Fault::never`] to count its operations, then once per operation with a
//! fault at it: whatever fails, the program must answer with an error, and the next run must find
//! the old state or the new.
use crate::buffered::{Buffered, Sink};
use crate::delegation::StorageDelegation;
use crate::{OpenFile, OtherEntry, SharedStorage, Storage, StorageError, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes of a write buffer; small like those of [`crate::MemoryStorage`], so that there are several writes to fail.
const BUFFER_BYTES: usize = 4 << 10;

/// Failure of one operation, or of all from one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which operation fails, counted from 0 over create, write, sync, finish, open, rename, remove,
    /// list and sync of the directory. A write is what left a buffer of 4 KiB.
    pub operation: usize,
    /// Whether all later operations fail too.
    pub persistent: bool,
    /// Kind of the failure.
    pub kind: FaultKind,
}

/// Kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The device reports an error; nothing was done.
    Io,
    /// The device is full; nothing was done.
    NoSpace,
    /// The device is full after half the bytes of a write. As [`FaultKind::NoSpace`] elsewhere.
    ShortWrite,
    /// A signal interrupted the call; nothing was done.
    Interrupted,
    /// The device is full for what needs room; reads, lists and removals go on, as on a real one.
    Full,
}

impl FaultKind {
    /// Every kind that fails all operations alike.
    pub const ALL: [FaultKind; 4] = [
        FaultKind::Io,
        FaultKind::NoSpace,
        FaultKind::ShortWrite,
        FaultKind::Interrupted,
    ];
}

impl Fault {
    /// No fault: to count operations.
    pub fn never() -> Fault {
        Fault::once(usize::MAX, FaultKind::Io)
    }

    /// Operation `operation` fails, the others do not.
    pub fn once(operation: usize, kind: FaultKind) -> Fault {
        Fault {
            operation,
            persistent: false,
            kind,
        }
    }

    /// Operation `operation` and all after it fail.
    pub fn from_then_on(operation: usize, kind: FaultKind) -> Fault {
        Fault {
            persistent: true,
            ..Fault::once(operation, kind)
        }
    }
}

/// Wraps a storage and fails chosen operations. A clone counts on with the same counter.
#[derive(Debug, Clone)]
pub struct FaultyStorage {
    inner: SharedStorage,
    trigger: Trigger,
}

#[derive(Debug, Clone)]
struct Trigger {
    fault: Fault,
    operations: Arc<AtomicUsize>,
    is_mended: Arc<AtomicBool>,
}

impl FaultyStorage {
    /// `inner`, with `fault`.
    pub fn new(inner: SharedStorage, fault: Fault) -> FaultyStorage {
        FaultyStorage {
            inner,
            trigger: Trigger {
                fault,
                operations: Arc::default(),
                is_mended: Arc::default(),
            },
        }
    }

    /// Returns the number of operations tried so far, failed ones included.
    pub fn operations(&self) -> usize {
        self.trigger.operations.load(Ordering::Relaxed)
    }

    /// Ends the fault: all later operations succeed.
    pub fn mend(&self) {
        self.trigger.is_mended.store(true, Ordering::Relaxed);
    }

    /// Returns whether the fault has struck.
    pub fn has_failed(&self) -> bool {
        self.operations() > self.trigger.fault.operation
    }

    /// Counts an operation; fails it if it is the one.
    fn pass(&self, operation: &'static str, name: &str) -> Result<(), StorageError> {
        let path = self.inner.location().join(name);
        match self.trigger.strike() {
            Some(FaultKind::Full) if !matches!(operation, "create" | "rename" | "sync") => Ok(()),
            Some(kind) => Err(failure(kind, operation, &path)),
            None => Ok(()),
        }
    }
}

impl Trigger {
    fn strike(&self) -> Option<FaultKind> {
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        let Fault {
            operation: first,
            persistent,
            kind,
        } = self.fault;
        let strikes = operation == first || persistent && operation > first;
        (strikes && !self.is_mended.load(Ordering::Relaxed)).then_some(kind)
    }
}

fn failure(kind: FaultKind, operation: &'static str, path: &Path) -> StorageError {
    let source = match kind {
        FaultKind::Io => io::Error::other("input/output error (injected)"),
        FaultKind::NoSpace | FaultKind::ShortWrite | FaultKind::Full => {
            io::Error::new(io::ErrorKind::StorageFull, "no space left (injected)")
        }
        FaultKind::Interrupted => {
            io::Error::new(io::ErrorKind::Interrupted, "interrupted (injected)")
        }
    };
    StorageError::from_io(operation, path, source)
}

impl StorageDelegation for FaultyStorage {
    fn inner(&self) -> &dyn Storage {
        &*self.inner
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        self.pass("create", name)?;
        let file = FaultyFile {
            inner: Some(self.inner.create(name)?),
            path: self.inner.location().join(name),
            trigger: self.trigger.clone(),
        };
        Ok(Box::new(Buffered::new(file, BUFFER_BYTES)))
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        self.pass("open", name)?;
        self.inner.open_file(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        self.pass("rename", from)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        self.pass("remove", name)?;
        self.inner.remove(name)
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        self.pass("list", "")?;
        self.inner.list()
    }

    fn list_others(&self) -> Result<Vec<OtherEntry>, StorageError> {
        self.pass("list", "")?;
        self.inner.list_others()
    }

    fn sync_directory(&self) -> Result<(), StorageError> {
        self.pass("sync", "")?;
        self.inner.sync_directory()
    }
}

struct FaultyFile {
    /// File being written; `None` once it is finished.
    inner: Option<Box<dyn WriteFile>>,
    path: PathBuf,
    trigger: Trigger,
}

impl Sink for FaultyFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let fault = self.trigger.strike();
        let written = match fault {
            None => bytes,
            Some(FaultKind::ShortWrite) => &bytes[..bytes.len() / 2],
            Some(_) => &[],
        };
        if let Some(file) = &mut self.inner {
            // Flushed, so that an operation here is one in the storage below.
            file.write_all(written)
                .and_then(|()| file.flush())
                .map_err(|source| StorageError::from_io("write", &self.path, source))?;
        }
        match fault {
            Some(kind) => Err(failure(kind, "write", &self.path)),
            None => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        match (self.trigger.strike(), &mut self.inner) {
            (Some(kind), _) => Err(failure(kind, "sync", &self.path)),
            (None, Some(file)) => file.sync(),
            (None, None) => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), StorageError> {
        // The file below goes unfinished where this fails, as a failed sync leaves it.
        let inner = self.inner.take();
        match (self.trigger.strike(), inner) {
            (Some(kind), _) => Err(failure(kind, "sync", &self.path)),
            (None, Some(file)) => file.finish(),
            (None, None) => Ok(()),
        }
    }

    fn has_name(&self) -> bool {
        self.inner.as_ref().is_none_or(|file| file.has_name())
    }
}
