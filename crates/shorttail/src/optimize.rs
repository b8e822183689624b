//! Optimization: one segment without deleted documents, in an order that searches read fast.

use crate::cancel::CancelToken;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::progress::{Progress, Watch};
use crate::watched_storage::WatchedStorage;
use index::OptimizeOptions;
use std::sync::Arc;
use vfs::SharedStorage;

/// Order of the documents within an index. Answers do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentOrder {
    /// The order in which documents were added.
    Arrival,
    /// The order of URLs.
    Url,
    /// Documents with the same words beside each other: small and fast, and slow to make.
    Similarity,
}

/// Settings of an optimization.
///
/// ```
/// use shorttail::{DocumentOrder, Index};
/// # let directory = tempfile::tempdir()?;
/// # let index = Index::create(directory.path())?;
/// let generation = index.optimizer().order(DocumentOrder::Url).run()?;
/// assert_eq!(generation, index.generation());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Optimizer {
    index: Index,
    options: OptimizeOptions,
    watch: Watch,
}

impl Index {
    /// Returns the settings of an optimization, which makes searches faster and files smaller.
    pub fn optimizer(&self) -> Optimizer {
        Optimizer::new(self.clone())
    }
}

impl Optimizer {
    fn new(index: Index) -> Optimizer {
        Optimizer {
            index,
            options: OptimizeOptions::default(),
            watch: Watch::default(),
        }
    }

    /// Sets the order of documents; by default it stays as it is.
    #[must_use]
    pub fn order(mut self, order: DocumentOrder) -> Optimizer {
        self.options.order = Some(match order {
            DocumentOrder::Arrival => index::Order::Arrival,
            DocumentOrder::Url => index::Order::Url,
            DocumentOrder::Similarity => index::Order::Bisection,
        });
        self
    }

    /// Sets the number of threads, 1 by default. It does not affect the index.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Optimizer {
        self.options.threads = threads;
        self
    }

    /// Sets the limit on memory, in bytes; 512 MiB by default.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Optimizer {
        self.options.memory_bytes = bytes;
        self
    }

    /// Sets the token by which the optimization is cancelled; the index stays as it was.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> Optimizer {
        self.watch.token = Some(token.clone());
        self
    }

    /// Sets the callback for progress.
    #[must_use]
    pub fn on_progress(
        mut self,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Optimizer {
        self.watch.on_progress = Some(Arc::new(on_progress));
        self
    }

    /// Optimizes the index, and returns the number of the commit that searches see then.
    ///
    /// # Errors
    /// Another writer, a failed write, a cancellation: the index stays as it was.
    pub fn run(self) -> Result<u64> {
        let watch = self.watch;
        let watched = WatchedStorage::new(self.index.storage.clone(), watch.clone());
        let storage: SharedStorage = Arc::new(watched);
        let report = |order: index::OptimizeProgress| watch.report(Some((order.done, order.total)));
        index::optimize(storage, &self.options, &report)
            .map_err(|error| Error::unless_cancelled(error, watch.token.as_ref()))?;
        self.index.reload()
    }
}
