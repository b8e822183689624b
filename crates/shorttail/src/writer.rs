//! Writer: additions and deletions, which one commit makes durable and searchable.

use crate::cancel::CancelToken;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::progress::{Progress, Watch};
use crate::watched_storage::WatchedStorage;
use index::{BuildOptions, IndexError};
use std::fmt;
use std::sync::Arc;
use vfs::SharedStorage;

/// Writer of an index. Nothing is durable or searchable before [`commit`](Writer::commit); a dropped writer leaves the
/// index as it was.
///
/// ```
/// use shorttail::{Document, Index};
/// # let directory = tempfile::tempdir()?;
/// let index = Index::create(directory.path())?;
/// let mut writer = index.writer()?;
/// writer.add(Document::new("https://a.example/1").body("one"))?;
/// writer.add(Document::new("https://a.example/2").body("two"))?;
/// writer.delete("https://a.example/1")?;
/// let commit = writer.commit()?;
/// assert_eq!(commit.documents_count, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    /// `None` after a failure.
    inner: Option<index::Writer>,
    index: Index,
    watch: Watch,
}

/// Summary of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// Number of the commit.
    pub generation: u64,
    /// Documents added, replacements included.
    pub added: u64,
    /// Documents replaced by later ones with the same URL.
    pub replaced: u64,
    /// Documents of earlier commits that were deleted.
    pub deleted: u64,
    /// Documents of the whole index.
    pub documents_count: u64,
}

/// Settings of a writer.
///
/// ```
/// use shorttail::{CancelToken, Document, Error, Index};
/// # let directory = tempfile::tempdir()?;
/// let index = Index::create(directory.path())?;
/// let token = CancelToken::new();
/// let mut writer = index
///     .writer_builder()
///     .threads(2)
///     .cancel(&token)
///     .on_progress(|progress| println!("{} documents", progress.documents))
///     .open()?;
/// writer.add(Document::new("https://a.example/").body("a body"))?;
/// token.cancel();
/// assert!(matches!(writer.commit(), Err(Error::Cancelled)));
/// assert_eq!(index.documents_count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct WriterBuilder {
    index: Index,
    threads: usize,
    memory_bytes: u64,
    watch: Watch,
}

impl Index {
    /// Opens a writer with default settings. One at a time may write to an index.
    ///
    /// # Errors
    /// Another writer, or an index that cannot be read or written.
    pub fn writer(&self) -> Result<Writer> {
        self.writer_builder().open()
    }

    /// Returns the settings of a writer: threads, memory, progress, cancellation.
    pub fn writer_builder(&self) -> WriterBuilder {
        WriterBuilder::new(self.clone())
    }
}

impl WriterBuilder {
    fn new(index: Index) -> WriterBuilder {
        let defaults = BuildOptions::default();
        WriterBuilder {
            index,
            threads: defaults.threads,
            memory_bytes: defaults.memory_bytes,
            watch: Watch::default(),
        }
    }

    /// Sets the number of threads, 1 by default. It does not affect the index.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> WriterBuilder {
        self.threads = threads;
        self
    }

    /// Sets the limit on memory, in bytes; 512 MiB by default. It does not affect the index.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> WriterBuilder {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the token by which additions and the commit are cancelled; the index stays as it was.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> WriterBuilder {
        self.watch.token = Some(token.clone());
        self
    }

    /// Sets the callback for progress, which threads of the writer call after each 256 KiB written, and the commit at
    /// its end.
    #[must_use]
    pub fn on_progress(
        mut self,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> WriterBuilder {
        self.watch.on_progress = Some(Arc::new(on_progress));
        self
    }

    /// Opens the writer. Changes that a server had acknowledged when its process ended are committed first.
    ///
    /// # Errors
    /// Another writer, or an index that cannot be read or written.
    pub fn open(self) -> Result<Writer> {
        let watch = self.watch;
        let watched = WatchedStorage::new(self.index.storage.clone(), watch.clone());
        let storage: SharedStorage = Arc::new(watched);
        let options = BuildOptions {
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            ..BuildOptions::default()
        };
        let inner = index::Writer::open(storage, options)
            .map_err(|error| Error::unless_cancelled(error, watch.token.as_ref()))?;
        Ok(Writer {
            inner: Some(inner),
            index: self.index,
            watch,
        })
    }
}

impl Writer {
    /// Adds a document, which replaces one with the same URL.
    ///
    /// # Errors
    /// A document without a URL or with a field whose name is taken, a failed write, a cancellation. After all but the first the writer is of no use.
    pub fn add(&mut self, document: Document) -> Result<()> {
        let document = document.into_indexed()?;
        self.change(|writer| writer.add(document))?;
        self.watch.count_document();
        Ok(())
    }

    /// Deletes the document at `url`, one that this writer added included. Where there is none, nothing happens.
    ///
    /// # Errors
    /// A writer that failed or was cancelled before.
    pub fn delete(&mut self, url: &str) -> Result<()> {
        self.change(|writer| {
            writer.delete(url);
            writer.withdraw(url);
            Ok(())
        })
    }

    fn change(
        &mut self,
        change: impl FnOnce(&mut index::Writer) -> std::result::Result<(), IndexError>,
    ) -> Result<()> {
        let writer = self.inner.as_mut().ok_or(Error::WriterFailed)?;
        let changed = match self.watch.is_cancelled() {
            true => Err(Error::Cancelled),
            false => change(writer)
                .map_err(|error| Error::unless_cancelled(error, self.watch.token.as_ref())),
        };
        if changed.is_err() {
            self.inner = None;
        }
        changed
    }

    /// Makes all changes durable, and searchable in the index that the writer is of.
    ///
    /// # Errors
    /// A failed write, a cancellation: the index stays as it was. Where only the opening of the new state fails, the changes
    /// are durable, and a [reload](Index::reload) opens it.
    pub fn commit(self) -> Result<Commit> {
        let writer = self.inner.ok_or(Error::WriterFailed)?;
        let token = self.watch.token.clone();
        if self.watch.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let watch = self.watch;
        let report = |order: index::OptimizeProgress| watch.report(Some((order.done, order.total)));
        let summary = writer
            .commit_telling(&report)
            .map_err(|error| Error::unless_cancelled(error, token.as_ref()))?;
        watch.report(None);
        self.index.reload()?;
        Ok(Commit {
            generation: summary.generation,
            added: summary.documents_added,
            replaced: summary.documents_replaced,
            deleted: summary.documents_deleted,
            documents_count: summary.documents_count,
        })
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("index", &self.index)
            .field("watch", &self.watch)
            .finish_non_exhaustive()
    }
}
