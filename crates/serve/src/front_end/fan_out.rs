//! Fan-out of a search to all partitions, from one generation of the index.

use crate::api::messages::{PartitionHits, Query, SearchRequest};
use crate::cluster::Cluster;
use crate::cluster::replicas::Call;
use engine::calls::{Chunks, PartError, chunks_shown, part_of};
use engine::{Replied, Reply, Timeline};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{Instrument, debug_span};

/// Upper limit on the lag of one server behind the generations of another; then the query goes on
/// without one of them.
const LAG_MAX: Duration = Duration::from_secs(1);
/// First pause before partitions are searched again after a commit between their answers; it doubles up
/// to one second.
const PAUSE_MIN: Duration = Duration::from_micros(500);
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// Refuses an invalid reply: more hits than requested, or fewer hits marked as cut. The latter would
/// repeat the search without end.
fn plausible(found: PartitionHits, k: usize) -> Result<PartitionHits, PartError> {
    let count = found.hits.len();
    match count > k || (found.is_cut && count < k) {
        true => Err(PartError::Protocol {
            reason: format!(
                "it gave {count} hits of {k} and says {}; update it",
                if found.is_cut {
                    "there are more"
                } else {
                    "there are no more"
                }
            ),
        }),
        false => Ok(found),
    }
}

/// Search of the partitions for one query.
pub(super) struct FanOut<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) query: &'a Arc<Query>,
    pub(super) timeline: &'a Timeline,
    pub(super) request: SearchRequest,
}

impl FanOut<'_> {
    /// Searches all partitions until all that answer do so from the same generation of the index, since
    /// scores of two generations do not compare. After one commit between the answers of two
    /// partitions, the partition that is ahead still has the older generation open; after several, all
    /// partitions are searched again.
    pub(super) async fn of_one_generation(mut self) -> Reply {
        let all: Vec<usize> = (0..self.cluster.partitions.len()).collect();
        let (mut oldest_before, mut lagging_since) = (0, Instant::now());
        let mut pause = PAUSE_MIN;
        loop {
            let mut partitions: Vec<Option<PartitionHits>> = vec![None; all.len()];
            let mut failures = Vec::new();
            let mut ask = all.clone();
            loop {
                for (partition, found) in self.ask(&ask).await {
                    match found {
                        Ok(found) => partitions[partition] = Some(found),
                        Err(error) => {
                            partitions[partition] = None;
                            failures.push((partition, error));
                        }
                    }
                }
                // The client of a full queue is asked to come back.
                let is_refused =
                    |(_, error): &(usize, PartError)| matches!(error, PartError::Overloaded { .. });
                if failures.iter().any(is_refused) {
                    break;
                }
                let generations = partitions.iter().flatten().map(|found| found.generation);
                let Some(oldest) = generations.min() else {
                    break;
                };
                self.request.generation = oldest;
                ask = (0..partitions.len())
                    .filter(|&at| {
                        partitions[at]
                            .as_ref()
                            .is_some_and(|found| found.generation != oldest)
                    })
                    .collect();
                if ask.is_empty() {
                    break;
                }
            }
            // Reloads go on, so the next try finds newer generations. Where the oldest stays, its server lags
            // behind.
            let is_gone = failures.iter().any(|(_, error)| error.is_generation_gone());
            if self.request.generation != oldest_before {
                oldest_before = self.request.generation;
                lagging_since = Instant::now();
            }
            let now = Instant::now();
            if is_gone && now < self.request.deadline && now < lagging_since + LAG_MAX {
                self.request.generation = 0;
                let until = (now + pause).min(self.request.deadline);
                tokio::time::sleep_until(until.into()).await;
                pause = (pause * 2).min(PAUSE_MAX);
                continue;
            }
            return Reply::SearchedAll {
                partitions,
                failures,
                generation: self.request.generation,
            };
        }
    }

    /// Searches several partitions concurrently.
    pub(super) async fn ask(&self, asked: &[usize]) -> Vec<(usize, Replied<PartitionHits>)> {
        // They begin in this order. One of them may be searched on this thread, once the others have begun.
        let calls = asked.iter().map(|&partition| async move {
            let caller_waits = asked.last() == Some(&partition);
            let group = &self.cluster.partitions[partition];
            let begun = Instant::now();
            let found = group
                .call(
                    Call::Search,
                    &self.cluster.calls,
                    self.request.deadline,
                    |server, reply| {
                        let request = SearchRequest {
                            caller_waits,
                            ..self.request.clone()
                        };
                        server.search(self.query, request, reply);
                    },
                )
                .instrument(
                    debug_span!("search call", query = self.query.id, chunks = %chunks_shown(&group.chunks)),
                )
                .await;
            let found = found.and_then(|found| plausible(found, self.request.k));
            self.cluster
                .note_times(partition, begun.elapsed(), found.as_ref().ok());
            self.note(&group.chunks, begun, found.as_ref().ok());
            (partition, found)
        });
        join_all(calls).await
    }

    /// Records a call and, centred within it, the time that the server reports; the rest is the time of
    /// transfer.
    fn note(&self, chunks: &Chunks, begun: Instant, found: Option<&PartitionHits>) {
        let timeline = self.timeline;
        timeline.note("search call", || part_of(chunks), begun);
        let Some(found) = found else { return };
        timeline.note_handlers(found.handlers_us);
        let call_us = begun.elapsed().as_micros() as u64;
        let worked_us = found.queueing_us.saturating_add(found.search_us);
        // Servers of one process share a plan, so this call may have waited less than planning took.
        let parse_us = found.parse_us.min(call_us.saturating_sub(worked_us));
        let around_us = call_us.saturating_sub(worked_us.saturating_add(parse_us));
        let mut at = timeline.since_us(begun) + around_us / 2;
        for (name, us, filters) in [
            ("parse", parse_us, &[][..]),
            ("queueing", found.queueing_us, &[]),
            ("search", found.search_us, &found.filters),
        ] {
            timeline.note_of(name, || part_of(chunks), at, us, filters);
            if name == "search"
                && let Some(schedule) = &found.schedule
            {
                timeline.note_schedule(part_of(chunks), at, schedule);
            }
            at = at.saturating_add(us);
        }
    }
}
