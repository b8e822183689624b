//! Servers of a front-end: those of this process, or those that a cluster file names.

pub(crate) mod health;
pub(crate) mod hedge;
pub(crate) mod replicas;

use crate::api::backend::{DocumentServer, IndexServer};
use crate::api::messages::{PartitionHits, Status, StatusRequest};
use crate::api::reply::Reply;
use crate::cluster::replicas::{CallFigures, Replicas};
use crate::telemetry::partition_times::PartitionTimes;
use engine::Generations;
use engine::calls::Chunks;
use engine::calls::PartError;
use fields::{Rules, Schema};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Number of chunks that no index exceeds: that of a cluster file by which each server has all chunks of each index,
/// whatever their number.
pub(crate) const CHUNKS_OF_ANY: u32 = 65_536;

/// Servers of an index.
pub struct Cluster {
    /// Index servers by partition, in the order of their chunks.
    pub(crate) partitions: Vec<Replicas<dyn IndexServer>>,
    /// Document servers by part, in the order of their chunks.
    pub(crate) texts: Vec<Replicas<dyn DocumentServer>>,
    pub(crate) calls: Arc<CallFigures>,
    /// Counters of the index servers of this process, for metrics.
    pub(crate) handlers: Vec<(Chunks, Arc<crate::handlers::figures::Figures>)>,
    /// Generations of the index, where it is open in this process.
    pub(crate) generations: Option<Arc<Generations>>,
    /// Phase times of each partition; set when metrics register.
    pub(crate) times: OnceLock<Vec<PartitionTimes>>,
    /// Identity in a cluster of processes; `None` where all servers run in this process.
    pub(crate) remote: Option<Remote>,
}

/// Identity of a front-end and its index in a cluster of processes.
#[derive(Debug)]
pub(crate) struct Remote {
    /// Name of the front-end, for messages of the servers.
    pub(crate) front_end: String,
    /// Name of the index, where the servers have several.
    pub(crate) index: Option<Arc<str>>,
    /// Identifier of the index, from the first server that answered.
    pub(crate) index_id: OnceLock<String>,
}

/// Properties of the index that a front-end knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Number of live documents.
    pub documents_count: u64,
    /// Number of chunks.
    pub chunks_count: u32,
    /// Newest generation that any server reported.
    pub generation: u64,
    /// Whether the index has texts.
    pub has_texts: bool,
    /// Analyzer of the index; `None` until a server reports it.
    pub analyzer: Option<text::Analyzer>,
    /// Fields of the index.
    pub fields: Arc<Schema>,
    /// Phrases that titles have often: examples of queries.
    pub phrases: Arc<[[String; 2]]>,
    /// Folders of the files that documents were read from, as `file:` URLs.
    pub folders: Arc<[String]>,
    /// Rules of the index.
    pub rules: Arc<Rules>,
    /// Identity of the index; empty until a server reports it.
    pub index_id: String,
}

impl Known {
    /// Returns the chunk of a document, by the hash of its URL.
    pub(crate) fn chunk_of(&self, url_hash: u64) -> u32 {
        (url_hash % u64::from(self.chunks_count.max(1))) as u32
    }
}

impl Cluster {
    /// Returns the placement of each handler of this process: its chunks, its number, and the kernel's
    /// report.
    pub fn handler_places(&self) -> Vec<(Chunks, usize, String)> {
        let of_partition =
            |(chunks, figures): &(Chunks, Arc<crate::handlers::figures::Figures>)| {
                let places = figures.places.iter().cloned().enumerate();
                let chunks = chunks.clone();
                places
                    .map(move |(handler, place)| (chunks.clone(), handler, place))
                    .collect::<Vec<_>>()
            };
        self.handlers.iter().flat_map(of_partition).collect()
    }

    /// Returns the properties of the index that the servers reported.
    pub(crate) fn known(&self) -> Known {
        let of = |status: &Status| Known {
            documents_count: status.documents_count,
            chunks_count: status.chunks_count,
            generation: status.generation,
            has_texts: status.has_texts,
            analyzer: status.analyzer,
            fields: Arc::clone(&status.fields),
            phrases: Arc::clone(&status.phrases),
            folders: Arc::clone(&status.folders),
            rules: Arc::clone(&status.rules),
            index_id: status.index_id.clone(),
        };
        let of_partitions = self.partitions.iter().filter_map(|group| group.status(of));
        let of_texts = self.texts.iter().filter_map(|group| group.status(of));
        let all = of_partitions.chain(of_texts);
        all.max_by_key(|known| known.generation).unwrap_or_default()
    }

    /// Returns a number that differs once a server has reported a change of the trust in its files; for servers of this
    /// process, at once.
    pub(crate) fn trust_epoch(&self) -> u64 {
        if let (Some(generations), None) = (&self.generations, &self.remote) {
            return generations.trust_epoch();
        }
        let mut hasher = DefaultHasher::new();
        let of_partitions = self.partitions.iter().flat_map(Replicas::trust_epochs);
        let of_texts = self.texts.iter().flat_map(Replicas::trust_epochs);
        of_partitions
            .chain(of_texts)
            .for_each(|epoch| epoch.hash(&mut hasher));
        hasher.finish()
    }

    /// Switches hedged requests on or off.
    pub fn with_hedges(mut self, hedges: bool) -> Cluster {
        self.calls = Arc::new(CallFigures::new(hedges));
        self
    }

    /// Records the duration of a call to a partition, and the phase times that the server reported.
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

    /// Returns the parts into which the partition map divides the chunks for index servers.
    pub(crate) fn parts(&self) -> Vec<Chunks> {
        self.partitions
            .iter()
            .map(|one| one.chunks.clone())
            .collect()
    }

    /// Returns the status requests of health checks, of index servers and of document servers.
    pub(crate) fn status_requests(&self) -> (StatusRequest, StatusRequest) {
        let front_end = self.remote.as_ref().map(|remote| &remote.front_end);
        let request = |parts| StatusRequest {
            front_end: front_end.cloned().unwrap_or_default(),
            parts,
        };
        let texts = self.texts.iter().map(|one| one.chunks.clone());
        (request(self.parts()), request(texts.collect()))
    }

    /// Returns the name of the index, where servers of other processes have several.
    pub(crate) fn index_name(&self) -> Option<&str> {
        self.remote.as_ref()?.index.as_deref()
    }

    /// Returns the document part that has the texts of a chunk.
    pub(crate) fn texts_of(&self, chunk: u32) -> Option<usize> {
        self.texts
            .iter()
            .position(|one| one.chunks.contains(&chunk))
    }

    /// Updates the status of the servers of this process, which answer before they return. Health
    /// checks update the status of servers in other processes ([`crate::cluster::health`]).
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

    /// Reloads every server and returns the newest generation served. If any server fails, it returns
    /// the first error after all servers were called.
    pub(crate) async fn reload(&self) -> Result<u64, PartError> {
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
                Err(PartError::Unreachable {
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
