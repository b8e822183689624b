//! Generations, chunks and state that a server of this process serves, with its status and reload.

use crate::api::chunks::Chunks;
use crate::api::draining::Draining;
use crate::api::messages::{Status, StatusRequest};
use crate::api::reply::Reply;
use crate::snapshot::partition_maps::PartitionMaps;
use engine::Generations;
use std::sync::Arc;

/// Chunks of an index that a server of this process serves.
pub(crate) struct Served {
    pub(crate) generations: Arc<Generations>,
    pub(crate) chunks: Chunks,
    draining: Draining,
    partition_maps: PartitionMaps,
}

impl Served {
    /// Returns the state of a server of `chunks` that ends when `draining` says so.
    pub(crate) fn new(generations: Arc<Generations>, chunks: Chunks, draining: Draining) -> Served {
        Served {
            generations,
            chunks,
            draining,
            partition_maps: PartitionMaps::default(),
        }
    }

    /// Replies with the status of the server, and notes the partition map of the front-end that asks.
    pub(crate) fn status(&self, request: &StatusRequest, reply: Reply<Status>) {
        let (newest, before) = self.generations.held();
        let here = newest.segments(self.chunks.clone());
        reply.send(Ok(Status {
            index_id: newest.id().to_owned(),
            generation: newest.generation(),
            generation_before: before.map_or(0, |index| index.generation()),
            chunks_count: newest.chunks_count(),
            chunks: self.chunks.clone(),
            documents_count: newest.statistics().documents_count(),
            documents_here_count: here.map(|one| u64::from(one.documents_count())).sum(),
            analyzer: Some(newest.analyzer()),
            fields: Arc::clone(newest.fields()),
            has_several_sites: newest.statistics().has_several_sites(),
            has_texts: newest.documents().texts() == index::Texts::Stored,
            is_draining: self.draining.has_begun(),
            disagreement: self.partition_maps.note(request),
        }));
    }

    /// Opens the newest generation and replies with the number of the generation then served.
    pub(crate) fn reload(&self, reply: Reply<u64>) {
        let reloaded = self.generations.reload();
        reply.send(reloaded.map(|index| index.generation()).map_err(Into::into));
    }
}
