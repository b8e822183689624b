//! Index servers or document servers of the indexes of a folder, for front-ends in other processes.
//!
//! ```text
//! gRPC ─ "news" ─► open, and asked for of late ─────────► its server ─► handlers of all indexes
//!               └► a look at the folder: opened, closed where it is gone or another one by now, refused
//! ```
//!
//! As a [catalog](super::Catalog) without front-ends and writers: an index costs no thread.

use super::names::{in_folder, is_name, storage_of};
use super::options::{CatalogOptions, OpenIndex};
use super::remote::clipped;
use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::document_server::InProcessDocumentServer;
use crate::handlers::figures::Figures;
use crate::handlers::options::HandlerOptions;
use crate::handlers::workers::Handlers;
use crate::index_server::InProcessIndexServer;
use crate::metrics::process::{OpenIndexMetrics, OpenIndexes, ServerMetrics};
use crate::named::{Found, Named, OPEN_MAX};
use crate::rpc::{NamedOffer, Offered, OfferedIndexes, RpcServices};
use engine::calls::{Chunks, PartError, chunks_shown};
use engine::{BackgroundVerifier, Generations};
use index::{Index, IndexError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use vfs::{STORAGE_NAME_BYTES_MAX, SharedStorage};

/// Servers of one kind for the indexes of a folder.
pub struct FolderServers {
    services: RpcServices,
    metrics: ServerMetrics,
    figures: Option<Arc<Figures>>,
}

impl FolderServers {
    /// Starts handlers that search the indexes of a folder. `chunks` are those of each index, all where none are given;
    /// `refresh` is the time between two looks for newer generations and for indexes that are gone, `None` for never.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn of_searches(
        folder: CatalogOptions,
        chunks: Option<Chunks>,
        handlers: &HandlerOptions,
        refresh: Option<Duration>,
        draining: Draining,
    ) -> Result<FolderServers, ServeError> {
        let handlers = Arc::new(Handlers::start("handler", handlers)?);
        let figures = handlers.figures();
        let serve = move |generations: &Arc<Generations>, chunks: Chunks, _: &Arc<str>| {
            let (generations, handlers) = (Arc::clone(generations), Arc::clone(&handlers));
            let draining = draining.clone();
            let server =
                InProcessIndexServer::by_handlers(generations, chunks, handlers, draining)?;
            Ok(Arc::new(server) as Arc<dyn IndexServer>)
        };
        let servers = PartServers::new(folder, chunks.clone(), refresh, Box::new(serve))?;
        Ok(FolderServers {
            metrics: ServerMetrics::of_searches(chunks.as_ref(), &figures, servers.metrics()),
            services: RpcServices::of_index_servers(servers),
            figures: Some(figures),
        })
    }

    /// Starts handlers that make summaries of the documents in the indexes of a folder; as
    /// [`FolderServers::of_searches`].
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn of_texts(
        folder: CatalogOptions,
        chunks: Option<Chunks>,
        handlers: &HandlerOptions,
        refresh: Option<Duration>,
        draining: Draining,
    ) -> Result<FolderServers, ServeError> {
        let handlers_count = handlers.handlers;
        let handlers = Arc::new(Handlers::start("summaries", handlers)?);
        let figures = Arc::default();
        let of_all = Arc::clone(&figures);
        let serve = move |generations: &Arc<Generations>, chunks: Chunks, name: &Arc<str>| {
            let shared = (Arc::clone(&handlers), Arc::clone(&of_all));
            let (generations, draining) = (Arc::clone(generations), draining.clone());
            let server =
                InProcessDocumentServer::by_handlers(generations, chunks, shared, draining);
            Ok(Arc::new(server.of_index(name)) as Arc<dyn DocumentServer>)
        };
        let servers = PartServers::new(folder, chunks.clone(), refresh, Box::new(serve))?;
        let indexes = servers.metrics();
        Ok(FolderServers {
            metrics: ServerMetrics::of_texts(chunks.as_ref(), handlers_count, figures, indexes),
            services: RpcServices::of_document_servers(servers),
            figures: None,
        })
    }

    /// Returns the services, the metrics, and the counters of the handlers where they search.
    pub fn into_parts(self) -> (RpcServices, ServerMetrics, Option<Arc<Figures>>) {
        (self.services, self.metrics, self.figures)
    }
}

/// Makes the server of some chunks of an index.
type Serve<S> =
    dyn Fn(&Arc<Generations>, Chunks, &Arc<str>) -> Result<Arc<S>, ServeError> + Send + Sync;

/// Servers of one kind by the names of their indexes.
struct PartServers<S: ?Sized> {
    folder: Arc<dyn vfs::StorageFolder>,
    open: Box<OpenIndex>,
    chunks: Option<Chunks>,
    refresh: Option<Duration>,
    serve: Box<Serve<S>>,
    indexes: Named<PartServer<S>>,
    verifier: OnceLock<BackgroundVerifier>,
    /// Number of looks so far.
    looks: AtomicU64,
}

/// Looks of which one is at the indexes that nobody has asked for of late: what is gone is closed, and its files with it.
const LOOK_AT_IDLE: u64 = 60;

/// Server of an index that is open.
struct PartServer<S: ?Sized> {
    offered: Arc<Offered<S>>,
    generations: Arc<Generations>,
    metrics: Arc<OpenIndexMetrics>,
}

impl<S: Server + ?Sized + 'static> PartServers<S> {
    fn new(
        options: CatalogOptions,
        chunks: Option<Chunks>,
        refresh: Option<Duration>,
        serve: Box<Serve<S>>,
    ) -> Result<Arc<PartServers<S>>, ServeError> {
        let bytes_per_s = options.verify_bytes_per_s;
        let servers = Arc::new(PartServers {
            folder: options.folder,
            open: options.open,
            chunks,
            refresh,
            serve,
            indexes: Named::default(),
            verifier: OnceLock::new(),
            looks: AtomicU64::new(0),
        });
        if let Some(bytes_per_s) = bytes_per_s {
            let of = Arc::downgrade(&servers);
            let open = move || {
                let open = of.upgrade()?.indexes.all_open().into_iter();
                Some(open.map(|one| Arc::clone(&one.generations)).collect())
            };
            let verifier = BackgroundVerifier::start(Box::new(open), bytes_per_s);
            let verifier = verifier.map_err(|source| ServeError::System {
                operation: "start the thread that verifies files",
                source,
            })?;
            // The servers have just been made.
            let _ = servers.verifier.set(verifier);
        }
        Ok(servers)
    }

    /// Returns what lists the metrics of the indexes that are open.
    fn metrics(self: &Arc<Self>) -> Box<OpenIndexes> {
        let servers = Arc::clone(self);
        Box::new(move || {
            let open = servers.indexes.all_open().into_iter();
            open.map(|one| Arc::clone(&one.metrics)).collect()
        })
    }

    /// Returns the only index of the folder, for a request without a name.
    fn only(&self) -> Result<String, PartError> {
        let mut names = self.names()?;
        match (names.pop(), names.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => not_served("it serves a folder without an index".into()),
            (Some(_), false) => not_served(format!(
                "it serves {} indexes, and none is named; update the front-end, or start this server with one index",
                names.len() + 1
            )),
        }
    }

    /// Returns the server of an index; a look at the folder tells whether the index is there still, and the same.
    fn looked_at(&self, name: &str) -> Result<Arc<PartServer<S>>, PartError> {
        self.indexes.locked(name, |entry, state| {
            entry.note_use();
            let Some(storage) = storage_of(&*self.folder, name)? else {
                state.open = None;
                return not_served(format!("it has no index {name:?}"));
            };
            if let Some(open) = &state.open {
                match is_same(open, &storage)? {
                    true => return Ok(Arc::clone(open)),
                    false => state.open = None,
                }
            }
            let opened = Arc::new(self.opened(&entry.name, storage)?);
            tracing::info!(index = name, "opened");
            state.open = Some(Arc::clone(&opened));
            Ok(opened)
        })
    }

    fn opened(&self, name: &Arc<str>, storage: SharedStorage) -> Result<PartServer<S>, PartError> {
        let generations = (self.open)(name, storage)?;
        let chunks_count = generations.newest().chunks_count();
        let all = 0..=u32::MAX;
        let chunks = self.chunks.as_ref().unwrap_or(&all);
        let Some(clipped) = clipped(chunks, chunks_count) else {
            return not_served(format!(
                "it serves chunks {}, and index {name:?} has {chunks_count}",
                chunks_shown(chunks)
            ));
        };
        let server = (self.serve)(&generations, clipped, name).map_err(|error| match error {
            ServeError::Index(error) => PartError::from(error),
            other => PartError::Unreachable {
                reason: other.to_string(),
            },
        })?;
        if let Some(verifier) = self.verifier.get() {
            verifier.watch(&generations);
        }
        Ok(PartServer {
            offered: Arc::new(Offered::new(server)),
            metrics: Arc::new(OpenIndexMetrics::new(Some(&**name), &generations)),
            generations,
        })
    }

    /// Closes the server of an index that is gone, or another one by now; makes the others search the newest generation.
    fn look_at(&self, name: &str, open: &Arc<PartServer<S>>) -> Result<(), PartError> {
        let is_there = match storage_of(&*self.folder, name)? {
            Some(storage) => is_same(open, &storage)?,
            None => false,
        };
        if !is_there {
            tracing::info!(index = name, "gone, or replaced");
            self.indexes.close(name, open);
            return Ok(());
        }
        let (reply, answer) = crate::api::reply::Reply::channel();
        open.offered.server.reload(reply);
        // A server of this process replies before it returns.
        answer.blocking_recv().unwrap_or(Ok(0)).map(|_| ())
    }
}

/// Returns whether an open index is that of a storage, whatever its generation.
fn is_same<S: ?Sized>(open: &PartServer<S>, storage: &SharedStorage) -> Result<bool, IndexError> {
    let newest = Index::newest_id(storage)?;
    Ok(newest.as_deref() == Some(open.generations.newest().id()))
}

impl<S: Server + ?Sized + 'static> OfferedIndexes<S> for PartServers<S> {
    fn has_names(&self) -> bool {
        true
    }

    fn asked(&self, name: &str) -> Option<Arc<Offered<S>>> {
        let Found { open, is_fresh } = self.indexes.asked(name)?;
        is_fresh.then(|| Arc::clone(&open.offered))
    }

    fn open(&self, name: &str) -> Result<Arc<Offered<S>>, PartError> {
        let open = match name {
            "" => self.looked_at(&self.only()?)?,
            // A long name is not repeated.
            _ if name.len() > STORAGE_NAME_BYTES_MAX => {
                return not_served("it has no index of a name as long".into());
            }
            _ if !is_name(name) => return not_served(format!("it has no index {name:?}")),
            _ => self.looked_at(name)?,
        };
        Ok(Arc::clone(&open.offered))
    }

    fn names(&self) -> Result<Vec<String>, PartError> {
        let is_open = |name: &str| self.indexes.opened(name).is_some();
        Ok(in_folder(&*self.folder, is_open)?)
    }

    fn all_open(&self) -> Vec<NamedOffer<S>> {
        let entries = self.indexes.entries().into_iter();
        let open = entries.filter_map(|entry| {
            let open = entry.opened()?;
            Some((Some(Arc::clone(&entry.name)), Arc::clone(&open.offered)))
        });
        open.collect()
    }

    fn refresh(&self) -> Option<Duration> {
        self.refresh
    }

    fn look(&self) {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        let is_at_idle = looks % LOOK_AT_IDLE == LOOK_AT_IDLE - 1;
        for entry in self.indexes.entries() {
            if let Some(open) = entry.opened()
                && (is_at_idle || entry.is_fresh())
                && let Err(error) = self.look_at(&entry.name, &open)
            {
                tracing::warn!(index = &*entry.name, %error, "cannot refresh; the index served before goes on being served");
            }
        }
        for entry in self.indexes.surplus(OPEN_MAX) {
            self.indexes.close_where(&entry, |_| true);
        }
    }
}

fn not_served<T>(reason: String) -> Result<T, PartError> {
    Err(PartError::NotServed { reason })
}
