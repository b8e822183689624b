//! Clusters whose servers all run in this process.

use crate::api::backend::{DocumentServer, IndexServer};
use crate::api::draining::Draining;
use crate::api::error::ServeError;
use crate::cluster::Cluster;
use crate::cluster::replicas::{CallFigures, Replica, Replicas};
use crate::deploy::partitioning::Topology;
use crate::document_server::InProcessDocumentServer;
use crate::handlers::options::HandlerOptions;
use crate::handlers::options::Place;
use crate::index_server::InProcessIndexServer;
use engine::Generations;
use engine::calls::{Chunks, index_server_of};
use schedule::board::PolicyChoice;
use std::sync::{Arc, OnceLock};

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

    fn of_servers(
        generations: &Arc<Generations>,
        servers: Vec<(Chunks, Arc<dyn IndexServer>)>,
        policy: &PolicyChoice,
    ) -> Result<Cluster, ServeError> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let all = 0..=generations.newest().chunks_count() - 1;
        let documents = InProcessDocumentServer::start(
            Arc::clone(generations),
            all.clone(),
            cores.min(4),
            policy,
            Draining::default(),
        )?;
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
            calls: CallFigures::new(false),
            handlers: Vec::new(),
            generations: Some(Arc::clone(generations)),
            times: OnceLock::new(),
            remote: None,
        };
        cluster.ask_in_process();
        Ok(cluster)
    }
}
