//! Open generations of an index in this process.
//!
//! A reload opens the newest generation beside the one that is served, then replaces it. The previous
//! generation stays open for queries that began with it: their hits are numbers that only it can
//! resolve.

use index::{Index, IndexError, PreloadParts};
use std::hash::{BuildHasher, RandomState};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread::Thread;
use vfs::preload::PreloadReport;
use vfs::{PreloadOptions, PreloadedStorage, SharedStorage};

/// Newest generation and the one before it.
pub struct Generations {
    /// Directory of the index; `None` for an index that never changes.
    storage: Option<SharedStorage>,
    preloading: Option<Preloading>,
    /// Memory into which the newest generation was loaded.
    loaded: Mutex<Option<Arc<PreloadedStorage>>>,
    held: RwLock<Held>,
    /// Chunks of the partitions served here: a generation whose segments would be divided is refused.
    partitions: Mutex<Vec<RangeInclusive<u32>>>,
    /// Lock that admits one reload at a time.
    reloading: Mutex<()>,
    /// Thread that verifies files in the background, if started.
    pub(crate) verifier: OnceLock<Thread>,
}

/// Callback for the number of a generation and the report of its preloading.
pub type OnReport = dyn Fn(u64, &PreloadReport) + Send + Sync;

/// Upper limit on the new files that a reload verifies before they are served, in bytes. Larger files,
/// and those of the start, are verified at first touch and in the background.
const VERIFIED_BYTES_MAX: u64 = 4 << 20;

/// Preloading of the files of every generation before it is served.
pub struct Preloading {
    /// Options of the preloading.
    pub options: PreloadOptions,
    /// Chunks to load; those beyond the last are left out.
    pub chunks: Range<u32>,
    /// Parts of the index to load.
    pub parts: PreloadParts,
    /// Callback for the report of each generation.
    pub on_report: Box<OnReport>,
}

impl Preloading {
    /// Loads and opens the newest generation; it shares the unchanged files of `before`.
    fn open(
        &self,
        storage: &SharedStorage,
        before: Option<(&Index, &PreloadedStorage)>,
    ) -> Result<(Index, Arc<PreloadedStorage>), IndexError> {
        let go_on = &mut |_| ControlFlow::Continue(());
        let (chunks, options) = (self.chunks.clone(), &self.options);
        let storage = storage.clone();
        let loaded = index::preload_after(storage, chunks, self.parts, options, before, go_on)?;
        let loaded = Arc::new(loaded);
        let index = open(loaded.clone(), before.map(|(index, _)| index))?;
        (self.on_report)(index.generation(), &loaded.report());
        Ok((index, loaded))
    }
}

/// Opens the newest generation; logs files of a newer one without a manifest.
fn open(storage: SharedStorage, before: Option<&Index>) -> Result<Index, IndexError> {
    let index = match before {
        None => Index::open(storage)?,
        Some(before) => Index::open_after(storage, before)?,
    };
    if let Some(unfinished) = index.unfinished() {
        tracing::warn!("{unfinished}");
    }
    Ok(index)
}

#[derive(Clone)]
struct Held {
    newest: Arc<Index>,
    before: Option<Arc<Index>>,
}

impl Generations {
    /// Returns the generations of an index that never changes.
    pub fn fixed(index: Arc<Index>) -> Arc<Generations> {
        Generations::over(index, None, None)
    }

    /// Opens the newest generation in a directory.
    pub fn open(storage: SharedStorage) -> Result<Arc<Generations>, IndexError> {
        let index = Arc::new(open(storage.clone(), None)?);
        Ok(Generations::over(index, Some(storage), None))
    }

    /// Opens the newest generation in a directory. Its files, and those of later generations, are
    /// loaded into memory before they are served.
    pub fn open_preloaded(
        storage: SharedStorage,
        preloading: Preloading,
    ) -> Result<Arc<Generations>, IndexError> {
        let (index, loaded) = preloading.open(&storage, None)?;
        let generations = Generations::over(Arc::new(index), Some(storage), Some(preloading));
        *generations.loaded() = Some(loaded);
        Ok(generations)
    }

    fn over(
        index: Arc<Index>,
        storage: Option<SharedStorage>,
        preloading: Option<Preloading>,
    ) -> Arc<Generations> {
        Arc::new(Generations {
            storage,
            preloading,
            loaded: Mutex::default(),
            held: RwLock::new(Held {
                newest: index,
                before: None,
            }),
            partitions: Mutex::default(),
            reloading: Mutex::new(()),
            verifier: OnceLock::new(),
        })
    }

    /// Returns the newest open generation.
    pub fn newest(&self) -> Arc<Index> {
        self.held().0
    }

    /// Returns the newest open generation and the one before it.
    pub fn held(&self) -> (Arc<Index>, Option<Arc<Index>>) {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&held.newest), held.before.clone())
    }

    /// Returns an open generation by number, 0 for the newest; `None` if it is not open.
    pub fn get(&self, generation: u64) -> Option<Arc<Index>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        if generation == 0 || held.newest.generation() == generation {
            return Some(Arc::clone(&held.newest));
        }
        let before = held.before.as_ref()?;
        (before.generation() == generation).then(|| Arc::clone(before))
    }

    /// Registers `chunks` as a partition of all later generations; fails if the newest one cannot be
    /// divided so.
    pub fn serve(&self, chunks: RangeInclusive<u32>) -> Result<(), IndexError> {
        // The lock is held meanwhile, so that no reload intervenes.
        let mut partitions = self.partitions();
        self.newest().check_partition(chunks.clone())?;
        partitions.push(chunks);
        Ok(())
    }

    /// Returns the number of files of open generations that are known to differ from their verified
    /// content.
    pub fn untrusted_files_count(&self) -> usize {
        let (newest, before) = self.held();
        let before = before.map_or(0, |index| index.untrusted_files_count());
        newest.untrusted_files_count() + before
    }

    /// Returns a number that differs after each change of the trust in a file of the newest generation, after each opening
    /// of one, and in each process: what was kept of answers under another number may rest on damaged files.
    pub fn trust_epoch(&self) -> u64 {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        let drawn = || RandomState::new().hash_one(std::process::id());
        let process = *PROCESS.get_or_init(drawn);
        process.wrapping_add(self.newest().read_start().epoch())
    }

    fn wake_verifier(&self) {
        if let Some(thread) = self.verifier.get() {
            thread.unpark();
        }
    }

    fn loaded(&self) -> MutexGuard<'_, Option<Arc<PreloadedStorage>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn partitions(&self) -> MutexGuard<'_, Vec<RangeInclusive<u32>>> {
        self.partitions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the newest generation if it is newer, or if files of the served one are damaged or suspect
    /// and have been replaced since. Returns the generation then served. Unchanged files are shared and
    /// not opened again. On an error, or if the newer generation is laid out for other partitions, the
    /// previous one is still served.
    pub fn reload(&self) -> Result<Arc<Index>, IndexError> {
        let _one = self
            .reloading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let newest = self.newest();
        let Some(storage) = &self.storage else {
            return Ok(newest);
        };
        // Look at the files again, so that recent changes count.
        for number in 0..newest.files_count() {
            newest.examine(number);
        }
        // This check precedes any opening and verification, so repeated reloads are cheap.
        if Index::newest_generation(storage)? == Some(newest.generation())
            && newest.untrusted_files_count() == 0
        {
            return Ok(newest);
        }
        let (opened, loaded) = match &self.preloading {
            None => (open(storage.clone(), Some(&newest))?, None),
            Some(preloading) => {
                let loaded = self.loaded().clone();
                let before = loaded.as_deref().map(|loaded| (&*newest, loaded));
                let (opened, loaded) = preloading.open(storage, before)?;
                (opened, Some(loaded))
            }
        };
        opened.verify_new(&newest, VERIFIED_BYTES_MAX)?;
        let opened = Arc::new(opened);
        let is_same = opened.generation() == newest.generation();
        if is_same && newest.untrusted_files_count() == 0 {
            return Ok(newest);
        }
        let partitions = self.partitions();
        for chunks in partitions.iter() {
            opened.check_partition(chunks.clone())?;
        }
        *self.loaded() = loaded;
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut held.newest, Arc::clone(&opened));
        if !is_same {
            held.before = Some(before);
        }
        drop(held);
        self.wake_verifier();
        Ok(opened)
    }
}

impl Drop for Generations {
    fn drop(&mut self) {
        // The verifier then finds that no file is left to verify.
        self.wake_verifier();
    }
}

impl std::fmt::Debug for Generations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (newest, before) = self.held();
        f.debug_struct("Generations")
            .field("newest", &newest.generation())
            .field("before", &before.map(|index| index.generation()))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
