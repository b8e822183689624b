//! The servers that a front-end asks: those of this process, or those that a cluster file names.

pub(crate) mod health;
pub(crate) mod hedge;
pub(crate) mod replicas;

use crate::api::backend::{DocumentServer, IndexServer};
use crate::api::chunks::Chunks;
use crate::api::messages::{PartitionHits, Status, StatusRequest};
use crate::api::reply::Reply;
use crate::api::server_error::ServerError;
use crate::cluster::replicas::{CallFigures, Replicas};
use crate::metrics::times::PartitionTimes;
use crate::snapshot::generations::Generations;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// All servers of an index.
pub struct Cluster {
    /// By partition, in the order of their chunks.
    pub(crate) partitions: Vec<Replicas<dyn IndexServer>>,
    /// By document part, in the order of their chunks.
    pub(crate) texts: Vec<Replicas<dyn DocumentServer>>,
    pub(crate) calls: CallFigures,
    /// Of the index servers of this process, for metrics.
    pub(crate) handlers: Vec<(Chunks, Arc<crate::index_server::figures::Figures>)>,
    /// Where the index is open in this process.
    pub(crate) generations: Option<Arc<Generations>>,
    /// Where the times of each partition go, once somebody measures.
    pub(crate) times: OnceLock<Vec<PartitionTimes>>,
    /// Set where the servers are processes of their own.
    pub(crate) remote: Option<Remote>,
}

/// Identity of a front-end and its index in a cluster of processes.
#[derive(Debug)]
pub(crate) struct Remote {
    /// The front-end's name, for the others.
    pub(crate) front_end: String,
    /// The index that all serve: that of the server which answered first.
    pub(crate) index_id: OnceLock<String>,
}

impl Remote {
    /// What the front-end tells with each health check.
    pub(crate) fn request(&self, parts: Vec<Chunks>) -> StatusRequest {
        StatusRequest {
            front_end: self.front_end.clone(),
            parts,
        }
    }
}

/// What a front-end knows of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// Live documents.
    pub documents_count: u64,
    /// Chunks.
    pub chunks_count: u32,
    /// The newest generation that any server said it had.
    pub generation: u64,
    /// Whether texts are kept.
    pub has_texts: bool,
    /// The analyzer of the index; `None` until a server tells it.
    pub analyzer: Option<text::Analyzer>,
}

impl Known {
    /// The chunk of a document, by the hash of its URL.
    pub(crate) fn chunk_of(&self, url_hash: u64) -> u32 {
        (url_hash % u64::from(self.chunks_count.max(1))) as u32
    }
}

impl Cluster {
    /// Where each handler of this process runs, by the kernel's word: its chunks, its number, its place.
    pub fn handler_places(&self) -> Vec<(Chunks, usize, String)> {
        let of_partition =
            |(chunks, figures): &(Chunks, Arc<crate::index_server::figures::Figures>)| {
                let places = figures.places.iter().cloned().enumerate();
                let chunks = chunks.clone();
                places
                    .map(move |(handler, place)| (chunks.clone(), handler, place))
                    .collect::<Vec<_>>()
            };
        self.handlers.iter().flat_map(of_partition).collect()
    }

    /// What the servers said of the index.
    pub(crate) fn known(&self) -> Known {
        let of = |status: &Status| Known {
            documents_count: status.documents_count,
            chunks_count: status.chunks_count,
            generation: status.generation,
            has_texts: status.has_texts,
            analyzer: status.analyzer,
        };
        let of_partitions = self.partitions.iter().filter_map(|group| group.status(of));
        let of_texts = self.texts.iter().filter_map(|group| group.status(of));
        let all = of_partitions.chain(of_texts);
        all.max_by_key(|known| known.generation).unwrap_or_default()
    }

    /// Has slow calls made again at another replica, or not.
    pub fn with_hedges(mut self, hedges: bool) -> Cluster {
        self.calls = CallFigures::new(hedges);
        self
    }

    /// Notes how long a call to a partition took, and what it said of its own time.
    pub(crate) fn note_times(
        &self,
        partition: usize,
        call: Duration,
        found: Option<&PartitionHits>,
    ) {
        if let Some(times) = self.times.get().and_then(|all| all.get(partition)) {
            times.called(call);
            if let Some(found) = found {
                times.searched(found);
            }
        }
    }

    /// How the front-end's table cuts the chunks for index servers.
    pub(crate) fn parts(&self) -> Vec<Chunks> {
        self.partitions
            .iter()
            .map(|one| one.chunks.clone())
            .collect()
    }

    /// The document part that has a chunk's texts.
    pub(crate) fn texts_of(&self, chunk: u32) -> Option<usize> {
        self.texts
            .iter()
            .position(|one| one.chunks.contains(&chunk))
    }

    /// Asks the servers of this process how they are: they answer before they return. Those of other
    /// processes are asked all the time ([`crate::cluster::health`]).
    pub(crate) fn ask_in_process(&self) {
        if self.remote.is_some() {
            return;
        }
        let request = StatusRequest::default();
        for replica in self.partitions.iter().flat_map(|one| &one.replicas) {
            let (reply, mut answer) = Reply::channel();
            replica.server.status(&request, reply);
            if let Ok(Ok(status)) = answer.try_recv() {
                replica.set_status(status);
            }
        }
        for replica in self.texts.iter().flat_map(|one| &one.replicas) {
            let (reply, mut answer) = Reply::channel();
            replica.server.status(&request, reply);
            if let Ok(Ok(status)) = answer.try_recv() {
                replica.set_status(status);
            }
        }
    }

    /// Has every server open the newest generation; the newest that any then answers from. The first
    /// error, where one cannot, after all were asked.
    pub(crate) async fn reload(&self) -> Result<u64, ServerError> {
        let mut asked = Vec::new();
        for replica in self.partitions.iter().flat_map(|one| &one.replicas) {
            let (reply, answer) = Reply::channel();
            replica.server.reload(reply);
            asked.push(answer);
        }
        for replica in self.texts.iter().flat_map(|one| &one.replicas) {
            let (reply, answer) = Reply::channel();
            replica.server.reload(reply);
            asked.push(answer);
        }
        let mut newest = Ok(0);
        for answer in asked {
            let reloaded = answer.await.unwrap_or_else(|_| {
                Err(ServerError::Unreachable {
                    reason: "a server gave the reload up".into(),
                })
            });
            newest = match (newest, reloaded) {
                (Ok(known), Ok(generation)) => Ok(generation.max(known)),
                (Err(error), _) | (Ok(_), Err(error)) => Err(error),
            };
        }
        self.ask_in_process();
        newest
    }
}
