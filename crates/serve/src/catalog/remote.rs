//! Indexes at the index servers and document servers of other processes, by name.
//!
//! ```text
//! "news" ─► its status at all servers ─► its chunks ─► the parts of the cluster file, as far as it has chunks
//!                                                      └─ chunks beyond these: a part without a server
//! ```
//!
//! All indexes share the connections, one for each process. An index that some servers lack is there, and its answers lack
//! their parts, as those of a lost partition do.

use super::error::CatalogError;
use super::names::is_name;
use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::messages::{Status, StatusRequest};
use crate::api::reply::Reply;
use crate::cluster::health::{ANSWER_MAX, check_all};
use crate::cluster::replicas::{CallFigures, Replica, Replicas};
use crate::cluster::{CHUNKS_OF_ANY, Cluster, Remote};
use crate::rpc::{Connection, Indexes};
use engine::calls::{Chunks, PartError};
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Runtime;

/// Addresses of the processes of the same chunks.
type Addresses = (Chunks, Vec<String>);

/// Processes of the same chunks.
type Group = (Chunks, Vec<Process>);

/// Servers of other processes, each with indexes by name.
pub struct RemoteIndexes {
    index_servers: Vec<Group>,
    document_servers: Vec<Group>,
    /// Number of chunks that the cluster file deals out.
    chunks_count: u32,
    /// Name of the front-end, for messages of the servers.
    front_end: String,
    calls: Arc<CallFigures>,
}

/// Process of index servers or of document servers.
pub(crate) struct Process {
    /// Name in messages.
    pub(crate) name: String,
    connection: Connection,
    has_texts: bool,
}

/// Returns the name of an index server in messages.
pub(crate) fn index_server_at(address: &str) -> String {
    format!("index server {address}")
}

/// Returns the name of a document server in messages.
pub(crate) fn document_server_at(address: &str) -> String {
    format!("document server {address}")
}

impl Process {
    /// Returns the indexes of the process.
    pub(crate) async fn indexes(&self) -> Result<Indexes, PartError> {
        let asked = async {
            match self.has_texts {
                false => self.connection.indexes().await,
                true => self.connection.indexes_of_texts().await,
            }
        };
        let silent = || PartError::Unreachable {
            reason: format!("no answer within {} ms", ANSWER_MAX.as_millis()),
        };
        let answered = tokio::time::timeout(ANSWER_MAX, asked).await;
        answered.unwrap_or_else(|_| Err(silent()))
    }
}

impl RemoteIndexes {
    /// Returns the index servers and document servers of a cluster file, which are connected to at the first calls.
    pub(crate) fn new(
        (index_servers, document_servers): (&[Addresses], &[Addresses]),
        chunks_count: u32,
        front_end: String,
        hedges: bool,
        runtime: &Runtime,
    ) -> Result<RemoteIndexes, String> {
        let process = |address: &String, has_texts| {
            let name = match has_texts {
                false => index_server_at(address),
                true => document_server_at(address),
            };
            let connection = Connection::new(address, runtime.handle())?;
            Ok::<_, String>(Process {
                name,
                connection,
                has_texts,
            })
        };
        let groups = |servers: &[Addresses], has_texts| {
            let group = |(chunks, addresses): &Addresses| {
                let processes = addresses.iter().map(|address| process(address, has_texts));
                Ok((chunks.clone(), processes.collect::<Result<_, String>>()?))
            };
            servers.iter().map(group).collect::<Result<_, String>>()
        };
        Ok(RemoteIndexes {
            index_servers: groups(index_servers, false)?,
            document_servers: groups(document_servers, true)?,
            chunks_count,
            front_end,
            calls: Arc::new(CallFigures::new(hedges)),
        })
    }

    /// Returns all processes.
    pub(crate) fn processes(&self) -> impl Iterator<Item = &Process> {
        let groups = self.index_servers.iter().chain(&self.document_servers);
        groups.flat_map(|(_, processes)| processes)
    }

    /// Returns the chunks of each partition, for metrics; `None` for all chunks of any index.
    pub(super) fn partitions(&self) -> Vec<Option<Chunks>> {
        let is_any = self.chunks_count == CHUNKS_OF_ANY;
        let chunks = self.index_servers.iter().map(|(chunks, _)| chunks.clone());
        chunks.map(|chunks| (!is_any).then_some(chunks)).collect()
    }

    /// Returns the counters of calls.
    pub(super) fn calls(&self) -> Arc<CallFigures> {
        Arc::clone(&self.calls)
    }

    /// Returns the names of the indexes that any server has, sorted.
    ///
    /// # Errors
    /// No server answers.
    pub(super) async fn names(&self) -> Result<Vec<String>, CatalogError> {
        let asked = self.processes().map(|process| process.indexes());
        let (mut names, mut failed, mut has_answer) = (BTreeSet::new(), None, false);
        for (process, indexes) in self.processes().zip(join_all(asked).await) {
            match indexes {
                Ok(Indexes::Named(listed)) => {
                    has_answer = true;
                    names.extend(listed.into_iter().filter(|name| is_name(name)));
                }
                // A process that was started anew in another way; its health checks say so.
                Ok(Indexes::Only) => {}
                Err(error) => failed = Some(unavailable(&process.name, &error)),
            }
        }
        match (has_answer, failed) {
            (false, Some(error)) => Err(error),
            _ => Ok(names.into_iter().collect()),
        }
    }

    /// Returns the servers of an index.
    ///
    /// # Errors
    /// No server has it, or none answers.
    pub(super) async fn cluster(&self, name: &Arc<str>) -> Result<Cluster, CatalogError> {
        let status = self.status(name).await?;
        let chunks_count = status.chunks_count;
        let cluster = Cluster {
            partitions: self.parts(&self.index_servers, chunks_count, |process| {
                let server: Arc<dyn IndexServer> = Arc::new(process.connection.index_server(name));
                server
            }),
            texts: self.parts(&self.document_servers, chunks_count, |process| {
                let server: Arc<dyn DocumentServer> =
                    Arc::new(process.connection.document_server(name));
                server
            }),
            calls: Arc::clone(&self.calls),
            handlers: Vec::new(),
            generations: None,
            times: OnceLock::new(),
            remote: Some(Remote {
                front_end: self.front_end.clone(),
                index: Some(Arc::clone(name)),
                index_id: OnceLock::from(status.index_id),
            }),
        };
        check_all(&cluster).await;
        Ok(cluster)
    }

    /// Returns the status of an index at the first server that answers and has it.
    async fn status(&self, name: &Arc<str>) -> Result<Status, CatalogError> {
        let mut asked: FuturesUnordered<_> = self
            .processes()
            .enumerate()
            .map(|(number, process)| async move {
                let answered = match process.has_texts {
                    false => asked(&process.connection.index_server(name)).await,
                    true => asked(&process.connection.document_server(name)).await,
                };
                (number, process, answered)
            })
            .collect();
        let mut failures = Vec::new();
        while let Some((number, process, answered)) = asked.next().await {
            match answered {
                Ok(status) if status.chunks_count > 0 => return Ok(status),
                Ok(_) => {
                    let reason = "it says that the index has no chunks; update it".into();
                    failures.push((number, process, PartError::Protocol { reason }));
                }
                Err(error) => failures.push((number, process, error)),
            }
        }
        // Every index has a first chunk: a server of later ones may have none of this index.
        let first = self.index_servers.first().map_or(0, |(_, all)| all.len());
        let is_unknown = |error: &PartError| matches!(error, PartError::NotServed { .. });
        let is_told =
            |&(number, _, ref error): &(usize, _, PartError)| number < first && is_unknown(error);
        match failures.iter().find(|(_, _, error)| !is_unknown(error)) {
            Some((_, process, error)) if !failures.iter().any(is_told) => {
                Err(unavailable(&process.name, error))
            }
            _ => Err(CatalogError::Unknown {
                name: name.to_string(),
            }),
        }
    }

    /// Returns the parts of an index at some servers: those of the cluster file, as far as the index has chunks, and one
    /// without a server for the chunks that the file does not deal out.
    fn parts<S: ?Sized>(
        &self,
        groups: &[Group],
        chunks_count: u32,
        server: impl Fn(&Process) -> Arc<S>,
    ) -> Vec<Replicas<S>> {
        let part = |(chunks, processes): &Group| {
            let chunks = clipped(chunks, chunks_count)?;
            let replicas = processes.iter();
            let replicas =
                replicas.map(|process| Replica::new(process.name.clone(), server(process)));
            Some(Replicas::new(chunks, replicas.collect()))
        };
        let mut parts: Vec<_> = groups.iter().filter_map(part).collect();
        if self.chunks_count < chunks_count {
            let rest = self.chunks_count..=chunks_count - 1;
            parts.push(Replicas::new(rest, Vec::new()));
        }
        parts
    }
}

/// Returns those of some chunks that an index has.
pub(super) fn clipped(chunks: &Chunks, chunks_count: u32) -> Option<Chunks> {
    let last = chunks_count.checked_sub(1)?;
    let clipped = *chunks.start()..=last.min(*chunks.end());
    (!clipped.is_empty()).then_some(clipped)
}

/// Asks a server for its status, without the name of the front-end: its parts are not known yet.
async fn asked(server: &(impl Server + ?Sized)) -> Result<Status, PartError> {
    let (reply, answer) = Reply::channel();
    server.status(&StatusRequest::default(), reply);
    match tokio::time::timeout(ANSWER_MAX, answer).await {
        Ok(Ok(answered)) => answered,
        Ok(Err(_)) | Err(_) => Err(PartError::Unreachable {
            reason: format!("no answer within {} ms", ANSWER_MAX.as_millis()),
        }),
    }
}

fn unavailable(server: &str, error: &PartError) -> CatalogError {
    CatalogError::Unavailable {
        reason: format!("{server}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_divided_as_far_as_it_has_chunks() {
        assert_eq!(clipped(&(0..=CHUNKS_OF_ANY - 1), 1), Some(0..=0));
        assert_eq!(clipped(&(2..=3), 3), Some(2..=2));
        assert_eq!(clipped(&(2..=3), 4), Some(2..=3));
        assert_eq!(clipped(&(2..=3), 2), None);
        // What a server says is not believed.
        assert_eq!(clipped(&(0..=3), 0), None);
    }
}
