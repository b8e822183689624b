//! Clusters whose servers all run in this process.

pub(crate) mod partitioning;

use crate::api::backend::{DocumentServer, IndexServer};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::cluster::Cluster;
use crate::cluster::replicas::{CallFigures, Replica, Replicas};
use crate::document_server::InProcessDocumentServer;
use crate::front_end::{FrontEnd, FrontEndOptions};
use crate::handlers::figures::Figures;
use crate::handlers::options::HandlerOptions;
use crate::handlers::options::Place;
use crate::handlers::workers::Handlers;
use crate::in_process::partitioning::Topology;
use crate::index_server::InProcessIndexServer;
use engine::Generations;
use engine::calls::{Chunks, index_server_of};
use index::Index;
use schedule::board::PolicyChoice;
use std::sync::{Arc, OnceLock};

impl FrontEnd {
    /// Starts a front-end, index servers and a document server in this process, for an index that never
    /// changes.
    pub fn start(index: Arc<Index>, topology: &Topology) -> Result<FrontEnd, ServeError> {
        let generations = Generations::fixed(index);
        let cluster = Cluster::in_process(&generations, topology, &[], &HandlerOptions::default())?;
        Ok(FrontEnd::new(cluster, FrontEndOptions::default()))
    }
}

impl Cluster {
    /// Index servers and a document server in this process. `places` are those of the handlers of
    /// each partition; `options` holds for all of them.
    pub fn in_process(
        generations: &Arc<Generations>,
        topology: &Topology,
        places: &[Vec<Place>],
        options: &HandlerOptions,
    ) -> Result<Cluster, ServeError> {
        let draining = Draining::default();
        let mut servers: Vec<(Chunks, Arc<dyn IndexServer>)> = Vec::new();
        let mut handlers = Vec::new();
        let partitions = topology.partitions_of(&generations.newest())?;
        for (partition, chunks) in partitions.into_iter().enumerate() {
            let options = HandlerOptions {
                handlers: topology.handlers,
                queue_length: topology.queue_length,
                places: places.get(partition).cloned().unwrap_or_default(),
                ..options.clone()
            };
            let server = InProcessIndexServer::start(
                Arc::clone(generations),
                chunks.clone(),
                &options,
                draining.clone(),
            )?;
            handlers.push((chunks.clone(), server.figures()));
            servers.push((chunks, Arc::new(server)));
        }
        let mut cluster = Cluster::of_servers(generations, servers, &options.policy)?;
        cluster.handlers = handlers;
        Ok(cluster)
    }

    /// Returns a cluster of given index servers, one for each partition, and a document server in this
    /// process.
    pub fn of_index_servers(
        generations: &Arc<Generations>,
        servers: Vec<(Chunks, Arc<dyn IndexServer>)>,
    ) -> Result<Cluster, ServeError> {
        Cluster::of_servers(generations, servers, &PolicyChoice::default())
    }

    /// Returns a cluster for a whole index, by handlers that other indexes share.
    pub(crate) fn by_handlers(
        generations: &Arc<Generations>,
        handlers: &SharedHandlers,
    ) -> Result<Cluster, ServeError> {
        let all = 0..=generations.newest().chunks_count() - 1;
        let server = InProcessIndexServer::by_handlers(
            Arc::clone(generations),
            all.clone(),
            Arc::clone(&handlers.searches),
            handlers.draining.clone(),
        )?;
        let texts = InProcessDocumentServer::by_handlers(
            Arc::clone(generations),
            all.clone(),
            (Arc::clone(&handlers.texts), Arc::default()),
            handlers.draining.clone(),
        );
        let servers: Vec<(Chunks, Arc<dyn IndexServer>)> = vec![(all, Arc::new(server))];
        let cluster = Cluster::of(generations, servers, texts);
        Ok(Cluster {
            calls: Arc::clone(&handlers.calls),
            ..cluster
        })
    }

    fn of_servers(
        generations: &Arc<Generations>,
        servers: Vec<(Chunks, Arc<dyn IndexServer>)>,
        policy: &PolicyChoice,
    ) -> Result<Cluster, ServeError> {
        let documents = InProcessDocumentServer::start(
            Arc::clone(generations),
            0..=generations.newest().chunks_count() - 1,
            text_handlers_count(),
            policy,
            Draining::default(),
        )?;
        Ok(Cluster::of(generations, servers, documents))
    }

    fn of(
        generations: &Arc<Generations>,
        servers: Vec<(Chunks, Arc<dyn IndexServer>)>,
        documents: InProcessDocumentServer,
    ) -> Cluster {
        let all = documents.chunks().clone();
        let documents: Arc<dyn DocumentServer> = Arc::new(documents);
        let partition = |(chunks, server): (Chunks, Arc<dyn IndexServer>)| {
            let name = index_server_of(&chunks);
            Replicas::new(chunks, vec![Replica::new(name, server)])
        };
        let cluster = Cluster {
            partitions: servers.into_iter().map(partition).collect(),
            texts: vec![Replicas::new(
                all,
                vec![Replica::new("the document server".into(), documents)],
            )],
            calls: Arc::new(CallFigures::new(false)),
            handlers: Vec::new(),
            generations: Some(Arc::clone(generations)),
            times: OnceLock::new(),
            remote: None,
        };
        cluster.ask_in_process();
        cluster
    }
}

/// Handlers of one process for all its indexes: those that search, and those that make summaries. Their number does not
/// depend on that of the indexes.
pub(crate) struct SharedHandlers {
    searches: Arc<Handlers>,
    texts: Arc<Handlers>,
    pub(crate) calls: Arc<CallFigures>,
    pub(crate) draining: Draining,
}

impl SharedHandlers {
    /// Starts the handlers; `options` are those of the handlers that search.
    pub(crate) fn start(options: &HandlerOptions) -> Result<SharedHandlers, ServeError> {
        let of_texts = HandlerOptions {
            handlers: text_handlers_count(),
            policy: options.policy.clone(),
            ..HandlerOptions::default()
        };
        Ok(SharedHandlers {
            searches: Arc::new(Handlers::start("handler", options)?),
            texts: Arc::new(Handlers::start("summaries", &of_texts)?),
            calls: Arc::new(CallFigures::new(false)),
            draining: Draining::default(),
        })
    }

    /// Returns the counters of the handlers that search.
    pub(crate) fn figures(&self) -> Arc<Figures> {
        self.searches.figures()
    }
}

/// Returns the number of handlers that make summaries.
fn text_handlers_count() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4))
}
