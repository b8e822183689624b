//! Connection of a front-end to the servers that a cluster file names.

use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::error::ServeError;
use crate::api::messages::StatusRequest;
use crate::catalog::{RemoteIndexes, document_server_at, index_server_at};
use crate::cluster::health::{Trouble, check};
use crate::cluster::replicas::{CallFigures, Replica, Replicas};
use crate::cluster::{CHUNKS_OF_ANY, Cluster, Remote};
use crate::deploy::cluster_file::ClusterFile;
use crate::rpc::{Connection, Indexes};
use engine::calls::{Chunks, chunks_shown};
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Time limit for the first answer of servers that are starting.
const START: Duration = Duration::from_secs(10);
/// Interval between two checks meanwhile.
const AGAIN: Duration = Duration::from_millis(100);

/// Servers of a cluster file: of one index, or of many with names.
pub enum ConnectedServers {
    /// Servers of one index.
    One(Cluster),
    /// Servers of the indexes of a folder.
    Many(RemoteIndexes),
}

impl ConnectedServers {
    /// Connects to the servers of a cluster file. The first one that answers says whether they have one index or many. It
    /// waits a few seconds for servers that are starting, and goes on without silent ones, each with a warning.
    ///
    /// # Errors
    /// No server answers, some have one index and others many, or what [`Cluster::connect`] refuses.
    pub fn connect(
        file: &ClusterFile,
        front_end: &str,
        runtime: &Runtime,
        hedges: bool,
        mut warn: impl FnMut(&str),
    ) -> Result<ConnectedServers, ServeError> {
        let refused = |reason: String| ServeError::Cluster { reason };
        let groups = (&file.index_servers[..], &file.document_servers[..]);
        let front_end_name = front_end.to_owned();
        let many = RemoteIndexes::new(groups, file.chunks_count, front_end_name, hedges, runtime);
        let many = many.map_err(refused)?;
        match runtime.block_on(are_named(&many)).map_err(refused)? {
            None => {
                let cluster = Cluster::connect(file, front_end, runtime, warn)?;
                Ok(ConnectedServers::One(cluster.with_hedges(hedges)))
            }
            Some(silent) => {
                silent.iter().for_each(|reason| warn(reason));
                Ok(ConnectedServers::Many(many))
            }
        }
    }
}

/// Asks all servers whether they have indexes with names: `None` where the first that answers has none; else the servers
/// that do not answer, and why.
async fn are_named(servers: &RemoteIndexes) -> Result<Option<Vec<String>>, String> {
    let until = Instant::now() + START;
    let mut met: FuturesUnordered<_> = servers
        .processes()
        .map(|process| async move {
            loop {
                match process.indexes().await {
                    Ok(indexes) => return (&process.name, Ok(indexes)),
                    Err(error) if Instant::now() >= until => return (&process.name, Err(error)),
                    Err(_) => tokio::time::sleep(AGAIN).await,
                }
            }
        })
        .collect();
    let (mut named, mut silent) = (None, Vec::new());
    while let Some((name, indexes)) = met.next().await {
        match (indexes, named) {
            (Err(error), _) => silent.push(format!("{name}: {error}")),
            (Ok(Indexes::Named(_)), _) => named = Some(name),
            (Ok(Indexes::Only), None) => return Ok(None),
            (Ok(Indexes::Only), Some(other)) => {
                return Err(format!(
                    "{name} has one index, and {other} a folder of indexes; start all of them with the folder"
                ));
            }
        }
    }
    match named {
        Some(_) => Ok(Some(silent)),
        None => Err(no_answer(&silent)),
    }
}

fn no_answer(silent: &[String]) -> String {
    let reasons = silent.join("\n  ");
    format!("no server answers:\n  {reasons}\nstart them, or correct the file")
}

impl Cluster {
    /// Connects to the servers of a cluster file. It waits a few seconds for servers that are starting.
    /// It goes on without silent servers if any answer, and logs a warning for each. It fails if the
    /// answers contradict the file: other chunks, another index, or another front-end with a different
    /// partition map.
    pub fn connect(
        file: &ClusterFile,
        front_end: &str,
        runtime: &Runtime,
        mut warn: impl FnMut(&str),
    ) -> Result<Cluster, ServeError> {
        let refused = |reason: String| ServeError::Cluster { reason };
        if file.chunks_count == CHUNKS_OF_ANY {
            return Err(refused(
                "its servers have one index; say in the cluster file which chunks each of them has"
                    .into(),
            ));
        }
        let only: Arc<str> = Arc::default();
        let mut partitions = Vec::new();
        for (chunks, addresses) in &file.index_servers {
            let mut replicas: Vec<Replica<dyn IndexServer>> = Vec::new();
            for address in addresses {
                let connection = Connection::new(address, runtime.handle()).map_err(refused)?;
                let server: Arc<dyn IndexServer> = Arc::new(connection.index_server(&only));
                replicas.push(Replica::new(index_server_at(address), server));
            }
            partitions.push(Replicas::new(chunks.clone(), replicas));
        }
        let mut texts = Vec::new();
        for (chunks, addresses) in &file.document_servers {
            let mut replicas: Vec<Replica<dyn DocumentServer>> = Vec::new();
            for address in addresses {
                let connection = Connection::new(address, runtime.handle()).map_err(refused)?;
                let server: Arc<dyn DocumentServer> = Arc::new(connection.document_server(&only));
                replicas.push(Replica::new(document_server_at(address), server));
            }
            texts.push(Replicas::new(chunks.clone(), replicas));
        }
        let cluster = Cluster {
            partitions,
            texts,
            calls: Arc::new(CallFigures::new(true)),
            handlers: Vec::new(),
            generations: None,
            times: OnceLock::new(),
            remote: Some(Remote {
                front_end: front_end.to_owned(),
                index: None,
                index_id: OnceLock::new(),
            }),
        };
        let silent = runtime.block_on(cluster.first_contact()).map_err(refused)?;
        if cluster.known().chunks_count == 0 {
            return Err(refused(no_answer(&silent)));
        }
        let chunks_count = cluster.known().chunks_count;
        if chunks_count != file.chunks_count {
            let chunk = chunks_count.min(file.chunks_count);
            return Err(refused(format!(
                "the index has {chunks_count} chunks and the cluster file {}: chunk {chunk} is only in one of \
                 them; correct the file",
                file.chunks_count
            )));
        }
        for reason in silent {
            warn(&reason);
        }
        Ok(cluster)
    }

    /// Checks every server until it answers or the time is over; returns the silent servers with the
    /// causes.
    async fn first_contact(&self) -> Result<Vec<String>, String> {
        let until = Instant::now() + START;
        let (of_index, of_texts) = self.status_requests();
        let index_servers = join_all(self.partitions.iter().flat_map(|group| {
            let (replicas, request) = (group.replicas.iter(), &of_index);
            replicas.map(move |replica| meet(replica, &group.chunks, request, self, until))
        }));
        let document_servers = join_all(self.texts.iter().flat_map(|group| {
            let (replicas, request) = (group.replicas.iter(), &of_texts);
            replicas.map(move |replica| meet(replica, &group.chunks, request, self, until))
        }));
        let (index_servers, document_servers) = tokio::join!(index_servers, document_servers);
        let mut silent = Vec::new();
        for met in index_servers.into_iter().chain(document_servers) {
            match met {
                Met::Answered => {}
                Met::Silent(reason) => silent.push(reason),
                Met::Refused(reason) => return Err(reason),
            }
        }
        Ok(silent)
    }
}

/// Outcome of the first contact with a server.
enum Met {
    Answered,
    /// The server may answer later.
    Silent(String),
    /// The server contradicts the file, and waiting will not help.
    Refused(String),
}

async fn meet<S: Server + ?Sized>(
    replica: &Replica<S>,
    chunks: &Chunks,
    request: &StatusRequest,
    cluster: &Cluster,
    until: Instant,
) -> Met {
    loop {
        let said = |reason: &str| {
            format!(
                "{} (chunks {}): {reason}",
                replica.name,
                chunks_shown(chunks)
            )
        };
        match check(replica, chunks, request, cluster).await {
            Ok(status) => {
                return match status.disagreement {
                    None => Met::Answered,
                    Some(told) => Met::Refused(said(&format!(
                        "this cluster file does not agree with that of a running front-end: {told}; \
                         give all front-ends the same file"
                    ))),
                };
            }
            Err(
                Trouble::Misplaced(reason) | Trouble::Replaced(reason) | Trouble::Unknown(reason),
            ) => return Met::Refused(said(&reason)),
            Err(Trouble::Silent(reason)) if Instant::now() >= until => {
                return Met::Silent(said(&reason));
            }
            Err(Trouble::Silent(_)) => tokio::time::sleep(AGAIN).await,
        }
    }
}
