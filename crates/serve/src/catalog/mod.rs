//! The indexes of a process, each with a name: a folder of them, served by one set of threads, or those of servers in other
//! processes.
//!
//! ```text
//! GET /news/search ─► catalog ─ "news" is open ─────────────► its front-end ─┐
//!                        └─ first use: opened, generation       │            ├─► handlers, boards and I/O threads of all
//! PUT /mail, DELETE /mail ─► created, dropped              its writer        │   indexes, one cache, one log; or
//!                                                                            └─► index servers and document servers
//! ```
//!
//! An index costs no thread while nobody writes to it: its searches run on the handlers of all, its writer is opened by
//! the first write and closed after a pause. An index that nobody has asked for of late is not looked at for newer
//! generations; the next request looks before it is answered.

mod creation;
mod error;
mod folder;
mod lists;
mod names;
mod options;
mod part_servers;
mod remote;
mod routes;
mod upkeep;

pub use options::{CatalogOptions, ObserveCrawl};
pub use part_servers::FolderServers;
pub use remote::RemoteIndexes;
pub(crate) use remote::{document_server_at, index_server_at};
pub(crate) use routes::{admin_routes, public_router};

use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::cluster::health::{Presence, check_all};
use crate::front_end::FrontEndOptions;
use crate::front_end::shared::Shared;
use crate::handlers::options::HandlerOptions;
use crate::http::app::{App, ServerState};
use crate::in_process::SharedHandlers;
use crate::metrics::exposition;
use crate::metrics::front_end::FrontEndMetrics;
use crate::named::{Entry, Found, Named, State};
use engine::BackgroundVerifier;
use error::CatalogError;
use names::is_name;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Handle;

/// Indexes of a process.
pub(crate) struct Catalog {
    source: Source,
    front_ends: Arc<Shared>,
    pub(crate) server: Arc<ServerState>,
    /// Runtime of the public address, on which searches go on after refreshes.
    runtime: Handle,
    /// Indexes that are open, are being opened, or are being dropped.
    indexes: Named<App>,
}

/// Where the indexes of a catalog are.
enum Source {
    /// In a folder, searched by handlers of this process.
    Folder(Folder),
    /// At servers of other processes.
    Servers(RemoteIndexes),
}

/// Folder of the indexes of a catalog, and the handlers of all of them.
struct Folder {
    options: CatalogOptions,
    handlers: SharedHandlers,
    verifier: OnceLock<BackgroundVerifier>,
}

/// Name of an index, and the index if it is open.
pub(crate) type Listed = (String, Option<Arc<App>>);

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
        let server = ServerState::new(draining, metrics, calls);
        let source = Source::Folder(Folder {
            options,
            handlers,
            verifier: OnceLock::new(),
        });
        Ok(Catalog::of(source, server, front_end, runtime))
    }

    /// Returns the catalog of the indexes of servers in other processes.
    pub(crate) fn of_servers(
        servers: RemoteIndexes,
        front_end: FrontEndOptions,
        runtime: &Handle,
    ) -> Catalog {
        let metrics = FrontEndMetrics::new(&servers.partitions(), &[]);
        let server = ServerState::new(Draining::default(), metrics, servers.calls());
        Catalog::of(Source::Servers(servers), server, front_end, runtime)
    }

    fn of(
        source: Source,
        server: ServerState,
        front_end: FrontEndOptions,
        runtime: &Handle,
    ) -> Catalog {
        Catalog {
            source,
            front_ends: Arc::new(Shared::new(front_end)),
            server: Arc::new(server),
            runtime: runtime.clone(),
            indexes: Named::default(),
        }
    }

    /// Returns the names of all indexes, sorted, and each index that is open. It reads the folder, or asks the servers.
    pub(crate) async fn names(self: &Arc<Self>) -> Result<Vec<Listed>, CatalogError> {
        let names = match &self.source {
            Source::Folder(_) => {
                let catalog = Arc::clone(self);
                beside(move || catalog.names_in_folder()).await?
            }
            Source::Servers(servers) => servers.names().await?,
        };
        let listed = names.into_iter().map(|name| {
            let open = self.indexes.opened(&name);
            (name, open)
        });
        Ok(listed.collect())
    }

    fn names_in_folder(&self) -> Result<Vec<String>, CatalogError> {
        let is_open = |name: &str| self.indexes.opened(name).is_some();
        let folder = self.folder()?;
        Ok(names::in_folder(&*folder.options.folder, is_open)?)
    }

    /// Returns the folder of the indexes.
    fn folder(&self) -> Result<&Folder, CatalogError> {
        match &self.source {
            Source::Folder(folder) => Ok(folder),
            Source::Servers(_) => Err(CatalogError::NotHere),
        }
    }

    /// Returns the folder of the indexes, which the server writes.
    fn written_folder(&self) -> Result<&Folder, CatalogError> {
        let folder = self.folder()?;
        let writes = folder.options.writing.is_some();
        writes.then_some(folder).ok_or(CatalogError::ReadOnly)
    }

    /// Returns an index, which is opened if it is not. One that nobody has asked for of late is looked at for a newer
    /// generation first.
    pub(crate) async fn get(self: &Arc<Self>, name: &str) -> Result<Arc<App>, CatalogError> {
        let app = match self.indexes.asked(name) {
            Some(Found {
                open,
                is_fresh: true,
            }) => return Ok(open),
            Some(Found { open, .. }) => open,
            None => return self.open(name).await,
        };
        match &self.source {
            Source::Folder(folder) => {
                if folder.options.looks_for_newer
                    && let Err(error) = app.reload().await
                {
                    tracing::warn!(index = name, %error, "cannot refresh; the index served before goes on being served");
                }
            }
            Source::Servers(_) => {
                if check_all(&app.front_end.cluster).await == Presence::Gone {
                    self.indexes.close(name, &app);
                    return self.open(name).await;
                }
            }
        }
        Ok(app)
    }

    /// Opens an index. It waits for the disk or for servers, on a thread of its own.
    async fn open(self: &Arc<Self>, name: &str) -> Result<Arc<App>, CatalogError> {
        if !is_name(name) {
            return Err(CatalogError::Unknown { name: name.into() });
        }
        let (catalog, name) = (Arc::clone(self), name.to_owned());
        beside(move || {
            let indexes = &catalog.indexes;
            indexes.locked(&name, |entry, state| catalog.open_locked(entry, state))
        })
        .await
    }

    fn open_locked(
        self: &Arc<Self>,
        entry: &Entry<App>,
        state: &mut State<App>,
    ) -> Result<Arc<App>, CatalogError> {
        entry.note_use();
        if let Some(app) = &state.open {
            return Ok(Arc::clone(app));
        }
        let app = self.opened(entry)?;
        state.open = Some(Arc::clone(&app));
        Ok(app)
    }

    /// Opens the index of an entry that is locked.
    fn opened(self: &Arc<Self>, entry: &Entry<App>) -> Result<Arc<App>, CatalogError> {
        let name = &entry.name;
        let app = match &self.source {
            Source::Folder(folder) => self.opened_in(folder, name)?,
            Source::Servers(servers) => {
                let cluster = self.runtime.block_on(servers.cluster(name))?;
                self.app(name, cluster)
            }
        };
        tracing::info!(index = &**name, "opened");
        Ok(app)
    }

    /// Returns the state of an index with these servers.
    fn app(&self, name: &Arc<str>, cluster: crate::Cluster) -> Arc<App> {
        let shared = Arc::clone(&self.front_ends);
        let front_end = crate::FrontEnd::of_index(cluster, shared, Some(Arc::clone(name)));
        Arc::new(App::new(front_end, Arc::clone(&self.server)))
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
        let folder = self.written_folder()?;
        self.indexes.locked(name, |entry, state| {
            folder.created(name, options)?;
            tracing::info!(index = name, "created");
            self.open_locked(entry, state)
        })
    }

    /// Drops an index with its files. Requests under way are answered. It waits for the disk.
    pub(crate) fn drop_index(&self, name: &str) -> Result<(), CatalogError> {
        if !is_name(name) {
            return Err(CatalogError::Unknown { name: name.into() });
        }
        let folder = self.written_folder()?;
        self.indexes.locked(name, |_, state| {
            folder.removed(name, state.open.as_deref())?;
            state.open = None;
            tracing::info!(index = name, "dropped");
            Ok(())
        })
    }

    /// Returns the metrics of the process and of all open indexes, in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        let apps = self.indexes.all_open();
        let cache = self.front_ends.cache_figures();
        let of_indexes = apps.iter().map(|app| app.render());
        exposition::joined(std::iter::once(self.server.render(cache)).chain(of_indexes))
    }

    /// Makes every open index search its newest generation.
    pub(crate) async fn reload(&self) -> Vec<(Arc<App>, Result<u64, Arc<engine::SearchError>>)> {
        let mut reloaded = Vec::new();
        for app in self.indexes.all_open() {
            let generation = app.reload().await;
            reloaded.push((app, generation));
        }
        reloaded
    }

    /// Returns the indexes whose writers fail, and why.
    pub(crate) fn failing_writers(&self) -> Vec<(String, String)> {
        let failure = |app: Arc<App>| {
            let failure = app.writer.opened()?.current().failure_now()?;
            Some((app.front_end.name().unwrap_or_default().to_owned(), failure))
        };
        self.indexes
            .all_open()
            .into_iter()
            .filter_map(failure)
            .collect()
    }

    /// Closes all writers; changes that wait are committed.
    pub(crate) fn close(&self) {
        for app in self.indexes.all_open() {
            app.writer.close();
        }
    }
}

/// Runs work that waits for the disk on a thread of its own.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CatalogError> + Send + 'static,
) -> Result<T, CatalogError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(CatalogError::GivenUp))
}
