//! The indexes of a process, each with a name: a folder of them is served by one set of threads.
//!
//! ```text
//! GET /news/search ─► catalog ─ "news" is open ─────────────► its front-end ─┐
//!                        └─ first use: opened, generation       │            ├─► handlers, boards and I/O threads of all
//! PUT /mail, DELETE /mail ─► created, dropped              its writer        │   indexes, one cache, one log
//! ```
//!
//! An index costs no thread while nobody writes to it: its searches run on the handlers of all, its writer is opened by
//! the first write and closed after a pause. An index that nobody has asked for of late is not looked at for newer
//! generations; the next request looks before it is answered.

mod creation;
mod entry;
mod lists;
mod options;
mod routes;
mod upkeep;

pub use options::{CatalogOptions, ObserveCrawl};
pub(crate) use routes::{admin_routes, public_router};

use crate::api::error::ServeError;
use crate::front_end::FrontEndOptions;
use crate::front_end::shared::Shared;
use crate::handlers::options::HandlerOptions;
use crate::http::app::{App, ServerState};
use crate::in_process::SharedHandlers;
use crate::metrics::exposition;
use crate::metrics::front_end::FrontEndMetrics;
use entry::{Entry, Found, State};
use index::IndexError;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::runtime::Handle;
use vfs::is_storage_name;

/// Names that no index can have, since the server has pages of these names, or may have.
const RESERVED: [&str; 14] = [
    "crawl",
    "delete-by-query",
    "document",
    "documents",
    "favicon.ico",
    "favicon.svg",
    "healthz",
    "indexes",
    "metrics",
    "page.js",
    "refresh",
    "reload",
    "search",
    "style.css",
];

/// Indexes of a process.
pub(crate) struct Catalog {
    options: CatalogOptions,
    handlers: SharedHandlers,
    front_ends: Arc<Shared>,
    pub(crate) server: Arc<ServerState>,
    /// Runtime of the public address, on which searches go on after refreshes.
    runtime: Handle,
    /// Indexes that are open, are being opened, or are being dropped.
    entries: RwLock<HashMap<Arc<str>, Arc<Entry>>>,
}

/// Name of an index, and the index if it is open.
pub(crate) type Listed = (String, Option<Arc<App>>);

/// Failure of a request for an index as a whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogError {
    /// There is no index of the name.
    #[error("there is no index {name:?} here; GET /indexes lists them")]
    Unknown {
        /// The name.
        name: String,
    },
    /// No index can have the name.
    #[error(
        "an index cannot be called {name:?}: names have letters, digits, -, _ and ., begin with a letter or a digit, \
         have at most {} bytes, and are not those of pages of the server",
        vfs::STORAGE_NAME_BYTES_MAX
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The server does not change its indexes.
    #[error("this server does not write; start it with --writable")]
    ReadOnly,
    /// There is an index of the name already.
    #[error("there is an index {name:?} already; DELETE /{name} drops it")]
    Exists {
        /// The name.
        name: String,
    },
    /// The directory holds more than an index.
    #[error(
        "{name:?} is not dropped, since its directory holds entries that are not of an index: {}; remove them, or the \
         directory itself",
        .entries.join(", ")
    )]
    HoldsMore {
        /// The name.
        name: String,
        /// Some of the entries.
        entries: Vec<String>,
    },
    /// The files of the index.
    #[error("{source}")]
    Index {
        /// The failure.
        #[from]
        source: IndexError,
    },
    /// The servers of the index.
    #[error("{source}")]
    Serve {
        /// The failure.
        #[from]
        source: ServeError,
    },
    /// The request was given up.
    #[error("the request was given up; see the server's log")]
    GivenUp,
}

impl From<vfs::StorageError> for CatalogError {
    fn from(error: vfs::StorageError) -> CatalogError {
        IndexError::from(error).into()
    }
}

impl Catalog {
    /// Starts the handlers of all indexes; none is opened.
    pub(crate) fn start(
        options: CatalogOptions,
        front_end: FrontEndOptions,
        handlers: &HandlerOptions,
        runtime: &Handle,
    ) -> Result<Catalog, ServeError> {
        let handlers = SharedHandlers::start(handlers)?;
        let metrics = FrontEndMetrics::new(&[None], &[(None, handlers.figures())]);
        let (draining, calls) = (handlers.draining.clone(), Arc::clone(&handlers.calls));
        Ok(Catalog {
            options,
            front_ends: Arc::new(Shared::new(front_end)),
            server: Arc::new(ServerState::new(draining, metrics, calls)),
            handlers,
            runtime: runtime.clone(),
            entries: RwLock::default(),
        })
    }

    /// Returns the names of all indexes, sorted, and whether each is open. It reads the folder.
    pub(crate) fn names(&self) -> Result<Vec<Listed>, CatalogError> {
        let mut names = Vec::new();
        for name in self.options.folder.list()? {
            let open = self.entry(&name).and_then(|entry| entry.opened());
            let is_index = || -> Result<bool, CatalogError> {
                match self.options.folder.open(&name)? {
                    Some(storage) => Ok(index::Index::newest_generation(&storage)?.is_some()),
                    None => Ok(false),
                }
            };
            // A directory that cannot be read is none of an index.
            if is_name(&name) && (open.is_some() || is_index().unwrap_or(false)) {
                names.push((name, open));
            }
        }
        Ok(names)
    }

    /// Returns an index, which is opened if it is not. One that nobody has asked for of late is looked at for a newer
    /// generation first.
    pub(crate) async fn get(self: &Arc<Self>, name: &str) -> Result<Arc<App>, CatalogError> {
        let known = self.entry(name).and_then(|entry| entry.asked());
        let app = match known {
            Some(Found {
                app,
                is_fresh: true,
            }) => return Ok(app),
            Some(Found { app, .. }) => app,
            None => {
                let (catalog, name) = (Arc::clone(self), name.to_owned());
                return beside(move || catalog.open(&name)).await;
            }
        };
        if self.options.looks_for_newer
            && let Err(error) = app.reload().await
        {
            tracing::warn!(index = name, %error, "cannot refresh; the index served before goes on being served");
        }
        Ok(app)
    }

    /// Opens an index. It waits for the disk.
    fn open(self: &Arc<Self>, name: &str) -> Result<Arc<App>, CatalogError> {
        if !is_name(name) {
            return Err(CatalogError::Unknown { name: name.into() });
        }
        self.locked(name, |entry, state| self.open_locked(entry, state))
    }

    /// Does `work` with the entry of a name while no other thread opens, closes, creates or drops its index. An entry
    /// without an index is forgotten then: names that nobody has take no memory.
    fn locked<T>(&self, name: &str, work: impl FnOnce(&Entry, &mut State) -> T) -> T {
        loop {
            let entry = self.entry_or_new(name);
            let mut state = entry.state();
            if state.is_gone {
                continue;
            }
            let done = work(&entry, &mut state);
            if state.app.is_none() {
                state.is_gone = true;
                self.forget(&entry);
            }
            return done;
        }
    }

    fn open_locked(
        self: &Arc<Self>,
        entry: &Entry,
        state: &mut State,
    ) -> Result<Arc<App>, CatalogError> {
        entry.note_use();
        if let Some(app) = &state.app {
            return Ok(Arc::clone(app));
        }
        let app = self.opened(entry)?;
        state.app = Some(Arc::clone(&app));
        Ok(app)
    }

    /// Opens the index of an entry that is locked.
    fn opened(self: &Arc<Self>, entry: &Entry) -> Result<Arc<App>, CatalogError> {
        let name = &entry.name;
        let unknown = || CatalogError::Unknown {
            name: name.to_string(),
        };
        let storage = self.options.folder.open(name)?.ok_or_else(unknown)?;
        index::Index::newest_generation(&storage)?.ok_or_else(unknown)?;
        let generations = (self.options.open)(name, storage.clone())?;
        let cluster = crate::Cluster::by_handlers(&generations, &self.handlers)?;
        let shared = Arc::clone(&self.front_ends);
        let front_end = crate::FrontEnd::of_index(cluster, shared, Some(Arc::clone(name)));
        let app = Arc::new(App::new(front_end, Arc::clone(&self.server)));
        if let Some(observe) = &self.options.observe {
            // The index has just been made.
            let _ = app.crawl.set(observe(name));
        }
        if let Some(options) = self.options.writing.clone() {
            let (weak, runtime) = (Arc::downgrade(&app), self.runtime.clone());
            let catalog = Arc::downgrade(self);
            let has_changes = index::has_changes_beyond(&storage)?;
            app.writer.set_opener(Box::new(move || {
                if let Some(catalog) = catalog.upgrade() {
                    catalog.limit_writers();
                }
                let writer = ingest::LiveWriter::open(storage.clone(), options.clone())?;
                let opened = App::hooked(&weak, &runtime, writer)?;
                // What an ended writer had left in its log is committed now.
                if let Some(app) = weak.upgrade()
                    && let Err(error) = runtime.block_on(app.reload())
                {
                    tracing::warn!(%error, "cannot open what the log had; the next refresh tries again");
                }
                Ok(opened)
            }));
            // What a server that was killed had acknowledged is found from the first request on.
            if has_changes && let Err(error) = app.writer.get() {
                tracing::error!(index = &**name, %error, "the changes of its log are not searched");
            }
        }
        tracing::info!(index = &**name, "opened");
        Ok(app)
    }

    /// Creates an index without documents. It waits for the disk.
    pub(crate) fn create(
        self: &Arc<Self>,
        name: &str,
        options: index::BuildOptions,
    ) -> Result<Arc<App>, CatalogError> {
        if !is_name(name) {
            return Err(CatalogError::BadName { name: name.into() });
        }
        if self.options.writing.is_none() {
            return Err(CatalogError::ReadOnly);
        }
        self.locked(name, |entry, state| {
            self.created(name, options)?;
            tracing::info!(index = name, "created");
            self.open_locked(entry, state)
        })
    }

    /// Commits the first generation of an index.
    fn created(&self, name: &str, options: index::BuildOptions) -> Result<(), CatalogError> {
        let ensure_new = |storage| match index::Index::newest_generation(storage)? {
            None => Ok(()),
            Some(_) => Err(CatalogError::Exists { name: name.into() }),
        };
        let storage = self.options.folder.create(name)?;
        ensure_new(&storage)?;
        let committed = || -> Result<(), CatalogError> {
            let writer = index::Writer::open(storage.clone(), options)?;
            // Another process may have created it before the lock was taken.
            ensure_new(&storage)?;
            writer.commit()?;
            Ok(())
        };
        let committed = committed();
        if let Err(CatalogError::Index { .. }) = committed {
            // A directory that was made for nothing holds the lock of writers at most.
            let is_empty = storage.list()?.len() <= 1
                && storage.list_others()?.is_empty()
                && index::entries_beside(&storage)?.is_empty();
            if is_empty {
                self.options.folder.remove(name)?;
            }
        }
        committed
    }

    /// Drops an index with its files. Requests under way are answered. It waits for the disk.
    pub(crate) fn drop_index(&self, name: &str) -> Result<(), CatalogError> {
        if !is_name(name) {
            return Err(CatalogError::Unknown { name: name.into() });
        }
        if self.options.writing.is_none() {
            return Err(CatalogError::ReadOnly);
        }
        self.locked(name, |_, state| {
            self.removed(name, state.app.as_deref())?;
            state.app = None;
            tracing::info!(index = name, "dropped");
            Ok(())
        })
    }

    /// Removes the files of an index whose entry is locked.
    fn removed(&self, name: &str, app: Option<&App>) -> Result<(), CatalogError> {
        let unknown = || CatalogError::Unknown { name: name.into() };
        let storage = self.options.folder.open(name)?.ok_or_else(unknown)?;
        index::Index::newest_generation(&storage)?.ok_or_else(unknown)?;
        let entries = index::entries_beside(&storage)?;
        if !entries.is_empty() {
            let name = name.into();
            return Err(CatalogError::HoldsMore { name, entries });
        }
        if let Some(app) = app {
            app.writer.close();
        }
        // Now only another process can have the lock.
        let removed = index::WriteLock::take(&storage).and_then(|_lock| {
            self.options.folder.remove(name)?;
            Ok(())
        });
        if let (Some(app), Err(_)) = (app, &removed) {
            app.writer.allow();
        }
        Ok(removed?)
    }

    /// Returns the metrics of the process and of all open indexes, in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        let apps = self.open_apps();
        let cache = self.front_ends.cache_figures();
        let of_indexes = apps.iter().map(|app| app.render());
        exposition::joined(std::iter::once(self.server.render(cache)).chain(of_indexes))
    }

    /// Makes every open index search its newest generation.
    pub(crate) async fn reload(&self) -> Vec<(Arc<App>, Result<u64, Arc<engine::SearchError>>)> {
        let mut reloaded = Vec::new();
        for app in self.open_apps() {
            let generation = app.reload().await;
            reloaded.push((app, generation));
        }
        reloaded
    }

    /// Returns the indexes that are open.
    fn open_apps(&self) -> Vec<Arc<App>> {
        self.all_entries()
            .iter()
            .filter_map(|entry| entry.opened())
            .collect()
    }

    fn all_entries(&self) -> Vec<Arc<Entry>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.values().cloned().collect()
    }

    fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(name).cloned()
    }

    fn entry_or_new(&self, name: &str) -> Arc<Entry> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = entries.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        let entry = Arc::new(Entry::new(Arc::clone(&name)));
        entries.insert(name, Arc::clone(&entry));
        entry
    }

    /// Removes an entry, unless another one has its name by now.
    fn forget(&self, entry: &Arc<Entry>) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &Arc<Entry>| Arc::ptr_eq(known, entry);
        if entries.get(&entry.name).is_some_and(is_same) {
            entries.remove(&entry.name);
        }
    }

    /// Returns the indexes whose writers fail, and why.
    pub(crate) fn failing_writers(&self) -> Vec<(String, String)> {
        let failure = |app: Arc<App>| {
            let failure = app.writer.opened()?.current().failure_now()?;
            Some((app.front_end.name().unwrap_or_default().to_owned(), failure))
        };
        self.open_apps().into_iter().filter_map(failure).collect()
    }

    /// Closes all writers; changes that wait are committed.
    pub(crate) fn close(&self) {
        for app in self.open_apps() {
            app.writer.close();
        }
    }
}

/// Returns whether an index may have a name.
fn is_name(name: &str) -> bool {
    is_storage_name(name) && !RESERVED.contains(&name)
}

/// Runs work that waits for the disk on a thread of its own.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CatalogError> + Send + 'static,
) -> Result<T, CatalogError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(CatalogError::GivenUp))
}
