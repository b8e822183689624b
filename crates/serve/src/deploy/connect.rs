//! Connection of a front-end to the servers that a cluster file names.

use crate::api::backend::{DocumentServer, IndexServer, Server};
use crate::api::error::ServeError;
use crate::api::messages::StatusRequest;
use crate::cluster::health::{Trouble, check};
use crate::cluster::replicas::{CallFigures, Replica, Replicas};
use crate::cluster::{Cluster, Remote};
use crate::deploy::cluster_file::ClusterFile;
use crate::rpc::{RemoteDocumentServer, RemoteIndexServer};
use engine::calls::Chunks;
use engine::calls::chunks_shown;
use futures_util::future::join_all;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Time limit for the first answer of servers that are starting.
const START: Duration = Duration::from_secs(10);
/// Interval between two checks meanwhile.
const AGAIN: Duration = Duration::from_millis(100);

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
        let mut partitions = Vec::new();
        for (chunks, addresses) in &file.index_servers {
            let mut replicas: Vec<Replica<dyn IndexServer>> = Vec::new();
            for address in addresses {
                let server = RemoteIndexServer::new(address, runtime.handle()).map_err(refused)?;
                let server: Arc<dyn IndexServer> = Arc::new(server);
                replicas.push(Replica::new(format!("index server {address}"), server));
            }
            partitions.push(Replicas::new(chunks.clone(), replicas));
        }
        let mut texts = Vec::new();
        for (chunks, addresses) in &file.document_servers {
            let mut replicas: Vec<Replica<dyn DocumentServer>> = Vec::new();
            for address in addresses {
                let server =
                    RemoteDocumentServer::new(address, runtime.handle()).map_err(refused)?;
                let server: Arc<dyn DocumentServer> = Arc::new(server);
                replicas.push(Replica::new(format!("document server {address}"), server));
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
                index_id: OnceLock::new(),
            }),
        };
        let silent = runtime.block_on(cluster.first_contact()).map_err(refused)?;
        if cluster.known().chunks_count == 0 {
            let reasons = silent.join("\n  ");
            return Err(refused(format!(
                "no server answers:\n  {reasons}\nstart them, or correct the file"
            )));
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
        let Some(remote) = &self.remote else {
            return Ok(Vec::new());
        };
        let until = Instant::now() + START;
        let texts: Vec<Chunks> = self
            .texts
            .iter()
            .map(|group| group.chunks.clone())
            .collect();
        let of_index = remote.request(self.parts());
        let of_texts = remote.request(texts);
        let index_servers = join_all(self.partitions.iter().flat_map(|group| {
            let of_index = &of_index;
            group
                .replicas
                .iter()
                .map(move |replica| meet(replica, &group.chunks, of_index, &remote.index_id, until))
        }));
        let document_servers = join_all(self.texts.iter().flat_map(|group| {
            let of_texts = &of_texts;
            group
                .replicas
                .iter()
                .map(move |replica| meet(replica, &group.chunks, of_texts, &remote.index_id, until))
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
    index_id: &OnceLock<String>,
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
        match check(replica, chunks, request, index_id).await {
            Ok(status) => {
                return match status.disagreement {
                    None => Met::Answered,
                    Some(told) => Met::Refused(said(&format!(
                        "this cluster file does not agree with that of a running front-end: {told}; \
                         give all front-ends the same file"
                    ))),
                };
            }
            Err(Trouble::Misplaced(reason)) => return Met::Refused(said(&reason)),
            Err(Trouble::Silent(reason)) if Instant::now() >= until => {
                return Met::Silent(said(&reason));
            }
            Err(Trouble::Silent(_)) => tokio::time::sleep(AGAIN).await,
        }
    }
}
