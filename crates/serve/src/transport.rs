//! How the front-end reaches index servers, wherever they run.
//!
//! A request is started and its answer comes back through a [`Reply`], so that a fan-out to many
//! partitions needs no thread for each. A reply that is dropped unanswered is an error at the
//! front-end, never a missing part of the answer.
use crate::SearchError;
use crossbeam_channel::{Receiver, Sender, bounded};
use index::{Details, DocId, IndexError};
use search::{Explanation, Plan, ScoredHit};
use std::sync::Arc;

/// The best hits of one partition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionHits {
    /// The k best, best first; all, where fewer match.
    pub hits: Vec<ScoredHit>,
    /// How many documents of the partition match.
    pub matches_count: u64,
    /// From arrival at the index server to a handler taking the request.
    pub queueing_us: u64,
    /// On the handler.
    pub search_us: u64,
}

impl PartitionHits {
    /// Whether matches beyond `hits` exist.
    pub fn is_cut(&self) -> bool {
        self.matches_count > self.hits.len() as u64
    }
}

/// What a hit shows, and how its score came about where that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct HitDetails {
    /// Title, URL, site.
    pub details: Details,
    /// How the score came about.
    pub explanation: Option<Explanation>,
}

/// What an index server answers instead of a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Its index cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Its queue is full.
    #[error("{waiting} requests wait already")]
    Overloaded {
        /// The length of the queue.
        waiting: usize,
    },
    /// It cannot be reached or does not know what was asked for.
    #[error("{reason}")]
    Unavailable {
        /// Why.
        reason: String,
    },
}

/// An index server as the front-end sees it. Nothing here blocks for long: work that does is
/// queued, and answered through the reply.
pub trait IndexServer: Send + Sync {
    /// Finds the `k` best hits of the partition and counts all.
    fn search(&self, plan: &Arc<Plan>, k: usize, reply: Reply<PartitionHits>);
    /// What the hits show, in the order asked for.
    fn details(
        &self,
        plan: &Arc<Plan>,
        hits: Vec<(u32, DocId)>,
        explain: bool,
        reply: Reply<Vec<HitDetails>>,
    );
    /// Counts the matching documents of each site, each up to `limit`.
    fn count_sites(
        &self,
        plan: &Arc<Plan>,
        sites: &Arc<[String]>,
        limit: u64,
        reply: Reply<Vec<u64>>,
    );
}

/// Where one partition's answer goes.
#[derive(Debug)]
pub struct Reply<T> {
    partition: usize,
    sender: Sender<(usize, Result<T, ServerError>)>,
}

impl<T> Reply<T> {
    /// Answers. A front-end that no longer waits is no error.
    pub fn send(self, result: Result<T, ServerError>) {
        let _ = self.sender.send((self.partition, result));
    }
}

/// Answers that are on their way from some partitions.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    asked: Vec<usize>,
    receiver: Receiver<(usize, Result<T, ServerError>)>,
}

/// Starts a request at every partition of `asked`.
pub(crate) fn ask<T>(
    asked: impl Iterator<Item = usize>,
    mut start: impl FnMut(usize, Reply<T>),
) -> Pending<T> {
    let asked: Vec<usize> = asked.collect();
    let (sender, receiver) = bounded(asked.len());
    for &partition in &asked {
        start(
            partition,
            Reply {
                partition,
                sender: sender.clone(),
            },
        );
    }
    Pending { asked, receiver }
}

impl<T> Pending<T> {
    /// Waits for all answers; gives each to `take` with its partition. The first error ends it.
    pub(crate) fn collect(mut self, mut take: impl FnMut(usize, T)) -> Result<(), SearchError> {
        while !self.asked.is_empty() {
            let Ok((partition, result)) = self.receiver.recv() else {
                return Err(SearchError::Unavailable {
                    part: format!("the index server of partition {}", self.asked[0]),
                    reason: "it gave the request up; see its log, or restart it".into(),
                });
            };
            self.asked.retain(|&waiting| waiting != partition);
            take(
                partition,
                result.map_err(|error| at_partition(partition, error))?,
            );
        }
        Ok(())
    }
}

fn at_partition(partition: usize, error: ServerError) -> SearchError {
    match error {
        ServerError::Index(error) => SearchError::Index(error),
        ServerError::Overloaded { waiting } => SearchError::Overloaded { partition, waiting },
        ServerError::Unavailable { reason } => SearchError::Unavailable {
            part: format!("the index server of partition {partition}"),
            reason,
        },
    }
}
