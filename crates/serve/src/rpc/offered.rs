//! Servers that a process offers over gRPC, by the names of their indexes.
//!
//! ```text
//! a server of one index      ""  ─► it                    any other name is refused
//! a server of a folder       "news" ─► opened by its first use; "" ─► the only index, refused where there are several
//! ```
//!
//! Front-ends of before say no name, and find a server of a folder with one index as they found one of this index.

use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::reply::Reply;
use crate::snapshot::reloads::{Reloaded, Reloads};
use engine::calls::PartError;
use std::sync::Arc;
use std::time::Duration;

/// Server of one index, and its reloads: one at a time for all callers.
pub(crate) struct Offered<S: ?Sized> {
    pub(crate) server: Arc<S>,
    reloads: Arc<Reloads<PartError>>,
}

impl<S: Server + ?Sized + 'static> Offered<S> {
    /// Returns a server with no reload under way.
    pub(crate) fn new(server: Arc<S>) -> Offered<S> {
        Offered {
            server,
            reloads: Arc::default(),
        }
    }

    /// Opens the newest generation, off the threads that read requests.
    pub(crate) async fn reload(&self) -> Reloaded<PartError> {
        let server = Arc::clone(&self.server);
        let given_up = || PartError::Unreachable {
            reason: "the reload was given up; see the server's log".into(),
        };
        let reload = move || {
            let (reply, answer) = Reply::channel();
            server.reload(reply);
            answer.blocking_recv().unwrap_or_else(|_| Err(given_up()))
        };
        self.reloads.run(reload, given_up).await
    }
}

/// Open server, with the name of its index where it has one.
pub(crate) type NamedOffer<S> = (Option<Arc<str>>, Arc<Offered<S>>);

/// Servers of one kind of a process, by the names of their indexes.
pub(crate) trait OfferedIndexes<S: ?Sized>: Send + Sync {
    /// Returns whether the indexes have names. Without names there is one.
    fn has_names(&self) -> bool;
    /// Returns the server of an index if it is open, and its index was asked for of late. It never waits.
    fn asked(&self, name: &str) -> Option<Arc<Offered<S>>>;
    /// Returns the server of an index after a look at the disk: opened if it is not, or refused where there is none of the
    /// name.
    fn open(&self, name: &str) -> Result<Arc<Offered<S>>, PartError>;
    /// Returns the names of all indexes, sorted. It reads the disk.
    fn names(&self) -> Result<Vec<String>, PartError>;
    /// Returns the servers that are open, with the names of their indexes where these have names.
    fn all_open(&self) -> Vec<NamedOffer<S>>;
    /// Returns the interval of [`OfferedIndexes::look`]; `None` for never.
    fn refresh(&self) -> Option<Duration>;
    /// Looks for newer generations, and closes the servers of indexes that are gone. It waits for the disk.
    fn look(&self);
}

/// Server of the only index of a process, which has no name.
pub(super) struct Only<S: ?Sized>(pub(super) Arc<Offered<S>>);

impl<S: Server + ?Sized + 'static> OfferedIndexes<S> for Only<S> {
    fn has_names(&self) -> bool {
        false
    }

    fn asked(&self, name: &str) -> Option<Arc<Offered<S>>> {
        name.is_empty().then(|| Arc::clone(&self.0))
    }

    fn open(&self, name: &str) -> Result<Arc<Offered<S>>, PartError> {
        self.asked(name).ok_or_else(|| PartError::NotServed {
            reason:
                "it serves one index, which has no name; start it with the folder of the indexes"
                    .into(),
        })
    }

    fn names(&self) -> Result<Vec<String>, PartError> {
        Ok(Vec::new())
    }

    fn all_open(&self) -> Vec<NamedOffer<S>> {
        vec![(None, Arc::clone(&self.0))]
    }

    fn refresh(&self) -> Option<Duration> {
        None
    }

    fn look(&self) {}
}

/// Services of a process: index servers, document servers, or both.
#[derive(Clone, Default)]
pub struct RpcServices {
    pub(super) index_servers: Option<Arc<dyn OfferedIndexes<dyn IndexServer>>>,
    pub(super) document_servers: Option<Arc<dyn OfferedIndexes<dyn DocumentServer>>>,
}

impl RpcServices {
    /// Returns the service of the index server of one index.
    pub fn of_index_server(server: Arc<dyn IndexServer>) -> RpcServices {
        RpcServices {
            index_servers: Some(Arc::new(Only(Arc::new(Offered::new(server))))),
            document_servers: None,
        }
    }

    /// Returns the service of the document server of one index.
    pub fn of_document_server(server: Arc<dyn DocumentServer>) -> RpcServices {
        RpcServices {
            index_servers: None,
            document_servers: Some(Arc::new(Only(Arc::new(Offered::new(server))))),
        }
    }

    /// Returns the service of index servers by name.
    pub(crate) fn of_index_servers(
        servers: Arc<dyn OfferedIndexes<dyn IndexServer>>,
    ) -> RpcServices {
        RpcServices {
            index_servers: Some(servers),
            document_servers: None,
        }
    }

    /// Returns the service of document servers by name.
    pub(crate) fn of_document_servers(
        servers: Arc<dyn OfferedIndexes<dyn DocumentServer>>,
    ) -> RpcServices {
        RpcServices {
            index_servers: None,
            document_servers: Some(servers),
        }
    }

    /// Reloads every open server; returns the name of each index and what became of it.
    pub(super) async fn reload(&self) -> Vec<(Option<Arc<str>>, Reloaded<PartError>)> {
        let mut reloaded = Vec::new();
        for (name, offered) in self.index_servers.iter().flat_map(|all| all.all_open()) {
            reloaded.push((name, offered.reload().await));
        }
        for (name, offered) in self.document_servers.iter().flat_map(|all| all.all_open()) {
            reloaded.push((name, offered.reload().await));
        }
        reloaded
    }
}
