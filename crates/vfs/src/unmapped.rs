//! A storage that cannot map, and whose reads fail on demand: object storage, for tests.
//!
//! Its files are those of another storage, behind handles that only read ranges. Reads and their bytes are counted.

use crate::delegation::StorageDelegation;
use crate::{OpenFile, ReadFile, SharedStorage, Storage, StorageError};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Failure of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFault {
    /// No answer in time.
    Unavailable,
    /// Half of the bytes.
    Short,
    /// All bytes, one of which is wrong: damaged on the way.
    Damaged,
}

/// Files of another storage that can only be read by ranges. A clone counts on with the same counters.
#[derive(Debug, Clone)]
pub struct UnmappedStorage {
    inner: SharedStorage,
    reads: Arc<Reads>,
}

/// Reads so far, and those that fail.
#[derive(Debug, Default)]
struct Reads {
    count: AtomicUsize,
    bytes: AtomicU64,
    failing: Mutex<Option<Failing>>,
}

#[derive(Debug, Clone, Copy)]
struct Failing {
    first: usize,
    /// Distance to the next one; 0 where there is none.
    each: usize,
    fault: ReadFault,
}

impl UnmappedStorage {
    /// Returns the files of `inner`, unmapped.
    pub fn new(inner: SharedStorage) -> UnmappedStorage {
        UnmappedStorage {
            inner,
            reads: Arc::default(),
        }
    }

    /// Returns the number of reads tried so far, those that failed included. To open a file is a read of no bytes.
    pub fn reads(&self) -> usize {
        self.reads.count.load(Ordering::Relaxed)
    }

    /// Returns the bytes that reads returned so far.
    pub fn bytes_read(&self) -> u64 {
        self.reads.bytes.load(Ordering::Relaxed)
    }

    /// Fails read `read`, counted from 0, and no other.
    pub fn fail_once(&self, read: usize, fault: ReadFault) {
        self.set(Some(Failing {
            first: read,
            each: 0,
            fault,
        }));
    }

    /// Fails every `each`-th read from now on.
    pub fn fail_each(&self, each: usize, fault: ReadFault) {
        self.set(Some(Failing {
            first: self.reads() + each - 1,
            each,
            fault,
        }));
    }

    /// Ends all failures.
    pub fn mend(&self) {
        self.set(None);
    }

    fn set(&self, failing: Option<Failing>) {
        let mut known = self
            .reads
            .failing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *known = failing;
    }
}

impl Reads {
    /// Counts a read; returns its fault.
    fn pass(&self) -> Option<ReadFault> {
        let read = self.count.fetch_add(1, Ordering::Relaxed);
        let failing = *self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let failing = failing.filter(|failing| match failing.each {
            0 => read == failing.first,
            each => read >= failing.first && (read - failing.first).is_multiple_of(each),
        });
        failing.map(|failing| failing.fault)
    }
}

impl StorageDelegation for UnmappedStorage {
    fn inner(&self) -> &dyn Storage {
        &*self.inner
    }

    fn open_file(&self, name: &str) -> Result<OpenFile, StorageError> {
        let path = self.inner.location().join(name);
        let fault = self.reads.pass();
        let inner = self.inner.open_file(name)?;
        match fault {
            Some(ReadFault::Unavailable) => Err(unavailable("open", path)),
            _ => Ok(OpenFile::Handle(Arc::new(UnmappedFile {
                inner,
                path,
                reads: Arc::clone(&self.reads),
            }))),
        }
    }
}

#[derive(Debug)]
struct UnmappedFile {
    inner: OpenFile,
    path: PathBuf,
    reads: Arc<Reads>,
}

impl ReadFile for UnmappedFile {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, StorageError> {
        let fault = self.reads.pass();
        let mut bytes = self.inner.read(&self.path, range)?;
        match fault {
            None => {}
            Some(ReadFault::Unavailable) => return Err(unavailable("read", self.path.clone())),
            Some(ReadFault::Short) => bytes.truncate(bytes.len() / 2),
            Some(ReadFault::Damaged) => {
                let middle = bytes.len() / 2;
                bytes
                    .iter_mut()
                    .skip(middle)
                    .take(1)
                    .for_each(|byte| *byte ^= 0x40);
            }
        }
        self.reads
            .bytes
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

fn unavailable(operation: &'static str, path: PathBuf) -> StorageError {
    let source = io::Error::new(io::ErrorKind::TimedOut, "no answer in time (injected)");
    StorageError::from_io(operation, &path, source)
}
