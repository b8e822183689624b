//! The generations of an index that are open in this process.
//!
//! Reloading opens the newest generation beside the one that is served and puts it in its place. The one
//! before stays for queries that began with it: their hits are numbers that only it can resolve.

use crate::api::chunks::Chunks;
use index::{Index, IndexError, PreloadParts};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread::Thread;
use vfs::preload::PreloadReport;
use vfs::{PreloadOptions, PreloadedStorage, SharedStorage};

/// The newest generation and the one before it.
pub struct Generations {
    /// `None` for an index that never changes.
    storage: Option<SharedStorage>,
    preloading: Option<Preloading>,
    /// What the newest generation was loaded into.
    loaded: Mutex<Option<Arc<PreloadedStorage>>>,
    held: RwLock<Held>,
    /// The partitions served here: a generation that cuts one is not put in place.
    partitions: Mutex<Vec<Chunks>>,
    /// One reload at a time.
    reloading: Mutex<()>,
    /// The thread that verifies files again, where there is one.
    pub(super) verifier: OnceLock<Thread>,
}

/// Hears of a generation, by number, what was really done to bring it into memory.
pub type OnReport = dyn Fn(u64, &PreloadReport) + Send + Sync;

/// Files that a reload brings are verified before they are served, up to this size; what is larger, or was there at the
/// start, is verified at its first touch and in the background.
const VERIFIED_BYTES_MAX: u64 = 4 << 20;

/// How files of every generation come into memory before it is served.
pub struct Preloading {
    /// Where to.
    pub options: PreloadOptions,
    /// Of which chunks; those beyond the last are left out.
    pub chunks: Range<u32>,
    /// What of them.
    pub parts: PreloadParts,
    /// Hears of each generation what was really done.
    pub on_report: Box<OnReport>,
}

impl Preloading {
    /// Loads and opens the newest generation; what `before` has of it is shared.
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

/// Opens the newest generation; the log says where files of a newer one have no manifest.
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
    /// An index that never changes.
    pub fn fixed(index: Arc<Index>) -> Arc<Generations> {
        Generations::over(index, None, None)
    }

    /// The newest generation in a directory.
    pub fn open(storage: SharedStorage) -> Result<Arc<Generations>, IndexError> {
        let index = Arc::new(open(storage.clone(), None)?);
        Ok(Generations::over(index, Some(storage), None))
    }

    /// The newest generation in a directory; its files, and those of every one that follows it, are loaded
    /// into memory before they are served.
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

    /// The newest generation that is open.
    pub fn newest(&self) -> Arc<Index> {
        self.held().0
    }

    /// The newest generation and the one before.
    pub fn held(&self) -> (Arc<Index>, Option<Arc<Index>>) {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&held.newest), held.before.clone())
    }

    /// A generation by number, 0 the newest; `None` where it is not open.
    pub fn get(&self, generation: u64) -> Option<Arc<Index>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        if generation == 0 || held.newest.generation() == generation {
            return Some(Arc::clone(&held.newest));
        }
        let before = held.before.as_ref()?;
        (before.generation() == generation).then(|| Arc::clone(before))
    }

    /// Says that `chunks` are searched here, of every generation to come; an error where the newest cannot be cut so.
    pub fn serve(&self, chunks: Chunks) -> Result<(), IndexError> {
        // Held meanwhile, so that no reload comes between.
        let mut partitions = self.partitions();
        self.newest().check_partition(chunks.clone())?;
        partitions.push(chunks);
        Ok(())
    }

    /// Files of the generations that are open and do not hold what was verified, as far as is known.
    pub(crate) fn untrusted_files_count(&self) -> usize {
        let (newest, before) = self.held();
        let before = before.map_or(0, |index| index.untrusted_files_count());
        newest.untrusted_files_count() + before
    }

    fn wake_verifier(&self) {
        if let Some(thread) = self.verifier.get() {
            thread.unpark();
        }
    }

    fn loaded(&self) -> MutexGuard<'_, Option<Arc<PreloadedStorage>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn partitions(&self) -> MutexGuard<'_, Vec<Chunks>> {
        self.partitions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the newest generation, where there is a newer one, or where files of the one that is served are damaged or
    /// suspect and have been replaced since; returns what is served then. Files that stayed are shared, not opened again. On an error, and where the newer
    /// one is laid out for other partitions than are served, the generation served before goes on being served.
    pub fn reload(&self) -> Result<Arc<Index>, IndexError> {
        let _one = self
            .reloading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let newest = self.newest();
        let Some(storage) = &self.storage else {
            return Ok(newest);
        };
        // So that what was changed a moment ago counts.
        for number in 0..newest.files_count() {
            newest.examine(number);
        }
        // Before anything is opened and verified: to ask again and again costs next to nothing.
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
        // It finds that there is nothing left to verify.
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
