//! Search on the calling thread, from the text of a query to an answer with summaries.

use crate::coordinator::{PreparedQuery, QuerySource, Titles};
use crate::error::{BadRequest, EngineError};
use crate::generations::Generations;
use crate::local::{self, facts_of};
use crate::options::SearchOptions;
use crate::part::Part;
use index::{Index, IndexError, StoredDocument};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use vfs::{RealStorage, SharedStorage};
use wire::{SearchAnswer, SuggestAnswer};

/// Open index, which any number of threads may search at once.
#[derive(Debug)]
pub struct Engine {
    generations: Arc<Generations>,
    /// The newest generation, all chunks of it.
    part: RwLock<Arc<Part>>,
}

impl Engine {
    /// Opens the newest generation of the index in a directory.
    ///
    /// # Errors
    /// No index in the directory, or one that cannot be read.
    pub fn open(directory: impl AsRef<Path>) -> Result<Engine, EngineError> {
        let storage = RealStorage::open(directory.as_ref()).map_err(IndexError::from)?;
        Engine::open_in(Arc::new(storage))
    }

    /// Opens the newest generation of the index in a storage.
    ///
    /// # Errors
    /// No index in the storage, or one that cannot be read.
    pub fn open_in(storage: SharedStorage) -> Result<Engine, EngineError> {
        Ok(Engine::from_generations(Generations::open(storage)?))
    }

    /// Returns an engine over an open snapshot, which is never reloaded.
    pub fn from_index(index: Arc<Index>) -> Engine {
        Engine::from_generations(Generations::fixed(index))
    }

    /// Returns an engine over the generations of an index, which it may share with servers of the process.
    pub fn from_generations(generations: Arc<Generations>) -> Engine {
        let part = RwLock::new(Arc::new(whole(generations.newest())));
        Engine { generations, part }
    }

    /// Opens the newest generation, where there is a newer one, and returns its number. Files that stayed are shared
    /// with the generation before; damaged ones that were replaced are opened again. Searches under way finish with
    /// theirs.
    pub fn reload(&self) -> Result<u64, EngineError> {
        self.generations.reload()?;
        let mut part = self.part.write().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that a slower thread never puts an older generation back.
        let newest = self.generations.newest();
        let generation = newest.generation();
        if !Arc::ptr_eq(part.index(), &newest) {
            *part = Arc::new(whole(newest));
        }
        Ok(generation)
    }

    /// Returns the snapshot that searches begin with now.
    pub fn index(&self) -> Arc<Index> {
        Arc::clone(self.part().index())
    }

    /// Returns a document as stored; `None` where there is none at `url`.
    pub fn document(&self, url: &str) -> Result<Option<StoredDocument>, EngineError> {
        Ok(self.part().index().document(url)?)
    }

    /// Answers a query: a text as typed, or a tree of clauses.
    ///
    /// # Errors
    /// Options out of range, an index that cannot be read, and a timeout that passes before anything is found. A later
    /// timeout makes the answer partial: `timed_out` is set and `degraded` names what it lacks.
    pub fn search<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
        options: &SearchOptions,
    ) -> Result<SearchAnswer, EngineError> {
        self.search_until(query, options, &|| false)
    }

    /// Does the same until `is_cancelled` returns true. It is called every few dozen microseconds, and at least once
    /// between two steps.
    ///
    /// # Errors
    /// Those of [`Engine::search`], and the cancellation.
    pub fn search_until<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
        options: &SearchOptions,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<SearchAnswer, EngineError> {
        let part = self.part();
        let query = query.into();
        let prepared = prepared(&part, query, options)?;
        local::answer(&part, &prepared, query, options, is_cancelled)
    }

    /// Returns up to `k` titles for a text that is being typed: those that begin with it, then those whose words match.
    ///
    /// # Errors
    /// More than [`TITLES_K_MAX`](crate::TITLES_K_MAX) titles, and an index that cannot be read.
    pub fn titles(&self, typed: &str, k: usize) -> Result<SuggestAnswer, EngineError> {
        let part = self.part();
        let analyzer = part.index().analyzer();
        let titles = Titles::new(0, typed, k, None, analyzer, Instant::now())?;
        local::titles(&part, titles, &|| false)
    }

    pub(crate) fn part(&self) -> Arc<Part> {
        let part = self.part.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&part)
    }
}

/// Reads a query for the index of a part.
pub(crate) fn prepared(
    part: &Part,
    query: QuerySource<'_>,
    options: &SearchOptions,
) -> Result<PreparedQuery, BadRequest> {
    let facts = facts_of(part);
    PreparedQuery::new(0, query, options.clone(), facts, Instant::now())
}

/// Returns all chunks of an index as one partition.
fn whole(index: Arc<Index>) -> Part {
    let chunks = 0..=index.chunks_count().saturating_sub(1);
    Part::new(index, chunks)
}
