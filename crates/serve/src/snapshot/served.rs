//! Generations, chunks and state that a server of this process serves, with its status and reload.

use crate::api::draining::Draining;
use crate::api::messages::{Status, StatusRequest};
use crate::api::reply::Reply;
use crate::snapshot::partition_maps::PartitionMaps;
use engine::calls::Chunks;
use engine::calls::PartError;
use engine::{Generations, frequent_phrases};
use index::Index;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Least time between two looks for phrases: under writes a generation lasts a second.
const PHRASES_KEPT: Duration = Duration::from_secs(60);

/// Phrases of a generation, and when they were found.
type Phrases = (u64, Instant, Arc<[[String; 2]]>);

/// Chunks of an index that a server of this process serves.
pub(crate) struct Served {
    pub(crate) generations: Arc<Generations>,
    pub(crate) chunks: Chunks,
    draining: Draining,
    partition_maps: PartitionMaps,
    phrases: Mutex<Option<Phrases>>,
}

impl Served {
    /// Returns the state of a server of `chunks` that ends when `draining` says so.
    pub(crate) fn new(generations: Arc<Generations>, chunks: Chunks, draining: Draining) -> Served {
        Served {
            generations,
            chunks,
            draining,
            partition_maps: PartitionMaps::default(),
            phrases: Mutex::default(),
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
            phrases: self.phrases(&newest),
            folders: newest.folders().into(),
            rules: Arc::clone(newest.rules()),
            has_texts: newest.documents().texts() == index::Texts::Stored,
            is_draining: self.draining.has_begun(),
            disagreement: self.partition_maps.note(request),
            trust_epoch: self.generations.trust_epoch(),
        }));
    }

    /// Returns phrases that titles have often; none where the index cannot be read, which searches report.
    fn phrases(&self, index: &Index) -> Arc<[[String; 2]]> {
        let mut kept = self.phrases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, found_at, phrases)) = &*kept
            && (*generation == index.generation() || found_at.elapsed() < PHRASES_KEPT)
        {
            return Arc::clone(phrases);
        }
        let segments: Vec<_> = index.segments(self.chunks.clone()).collect();
        let since = index.read_start();
        let is_foreign = |titles: &str| index.analyzer().finds_foreign(titles);
        let found = frequent_phrases(index, &segments, &is_foreign);
        let segments: Vec<_> = segments.into_iter().cloned().collect();
        // What is kept must not rest on bytes that changed.
        let (Ok(found), Ok(())) = (found, index.verify_search(&segments, since)) else {
            return Arc::default();
        };
        let phrases: Arc<[[String; 2]]> = found.into();
        *kept = Some((index.generation(), Instant::now(), Arc::clone(&phrases)));
        phrases
    }

    /// Opens the newest generation and returns the number of the generation then served.
    pub(crate) fn reload(&self) -> Result<u64, PartError> {
        let reloaded = self.generations.reload();
        reloaded.map(|index| index.generation()).map_err(Into::into)
    }
}
