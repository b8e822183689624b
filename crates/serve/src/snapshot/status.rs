//! Status and reload of a server of this process.

use crate::api::chunks::Chunks;
use crate::api::draining::Draining;
use crate::api::messages::{Status, StatusRequest};
use crate::api::server_error::ServerError;
use crate::snapshot::generations::Generations;
use crate::snapshot::partition_maps::PartitionMaps;
use std::sync::Arc;

/// Returns the status of a server of this process, and notes the partition map of the front-end that asks.
pub(crate) fn status_of(
    generations: &Generations,
    chunks: &Chunks,
    draining: &Draining,
    partition_maps: &PartitionMaps,
    request: &StatusRequest,
) -> Status {
    let (newest, before) = generations.held();
    let here = newest.segments(chunks.clone());
    Status {
        index_id: newest.id().to_owned(),
        generation: newest.generation(),
        generation_before: before.map_or(0, |index| index.generation()),
        chunks_count: newest.chunks_count(),
        chunks: chunks.clone(),
        documents_count: newest.statistics().documents_count(),
        documents_here_count: here.map(|one| u64::from(one.documents_count())).sum(),
        analyzer: Some(newest.analyzer()),
        fields: Arc::clone(newest.fields()),
        has_several_sites: newest.statistics().has_several_sites(),
        has_texts: newest.documents().texts() == index::Texts::Stored,
        is_draining: draining.has_begun(),
        disagreement: partition_maps.note(request),
    }
}

/// Opens the newest generation in this process; returns the number of the generation then served.
pub(crate) fn reloaded(generations: &Generations) -> Result<u64, ServerError> {
    Ok(generations.reload()?.generation())
}
