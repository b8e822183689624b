//! An index server inside this process: handlers that search one partition, fed by one queue.
//!
//! Handlers only search. Details are small reads of mapped memory and are answered on the caller's
//! thread: a hand-over would cost more than the reading.
use crate::transport::{HitDetails, IndexServer, PartitionHits, Reply, ServerError};
use crate::{ServeError, Topology};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use index::{DocId, Index, IndexError, Segment};
use search::{Plan, exhaustive, search_partition};
use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// An index server for the chunks of one partition, with handler threads of its own.
#[derive(Debug)]
pub struct InProcessIndexServer {
    segments: HashMap<u32, Arc<Segment>>,
    /// `None` only while dropping: closing the queue is what ends the handlers.
    queue: Option<Sender<Job>>,
    handlers: Vec<JoinHandle<()>>,
}

/// Work for a handler, stamped with its arrival.
#[derive(Debug)]
struct Job {
    plan: Arc<Plan>,
    arrived: Instant,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Search {
        k: usize,
        reply: Reply<PartitionHits>,
    },
    CountSites {
        sites: Arc<[String]>,
        limit: u64,
        reply: Reply<Vec<u64>>,
    },
}

impl InProcessIndexServer {
    /// Starts the handlers for `chunks` of `index`.
    pub fn start(
        index: &Index,
        chunks: Range<u32>,
        topology: &Topology,
    ) -> Result<InProcessIndexServer, ServeError> {
        let segments: Arc<[Arc<Segment>]> = index.segments(chunks.clone()).cloned().collect();
        let (sender, receiver) = bounded(topology.queue_length);
        let mut handlers = Vec::with_capacity(topology.handlers);
        let (started, starts) = bounded(topology.handlers);
        for handler in 0..topology.handlers {
            let (segments, receiver) = (Arc::clone(&segments), receiver.clone());
            let started = started.clone();
            let thread = thread::Builder::new()
                .name(format!("handler-{}-{handler}", chunks.start))
                .spawn(move || {
                    // Nobody listens any more only if another handler could not be started.
                    let _ = started.send(());
                    handle(&segments, &receiver);
                })
                .map_err(|source| ServeError::System {
                    operation: "start a handler",
                    source,
                })?;
            handlers.push(thread);
        }
        // A first query that waits for a thread to be made would call that queueing.
        for _ in &handlers {
            let _ = starts.recv();
        }
        Ok(InProcessIndexServer {
            segments: segments
                .iter()
                .map(|segment| (segment.id(), segment.clone()))
                .collect(),
            queue: Some(sender),
            handlers,
        })
    }

    fn enqueue(&self, plan: &Arc<Plan>, work: Work) {
        let job = Job {
            plan: Arc::clone(plan),
            arrived: Instant::now(),
            work,
        };
        let Some(queue) = &self.queue else { return };
        match queue.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(job)) => job.refuse(queue.len()),
            // Without handlers the dropped reply is the answer.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    fn hit_details(
        &self,
        plan: &Plan,
        hits: &[(u32, DocId)],
        explain: bool,
    ) -> Result<Vec<HitDetails>, ServerError> {
        let one = |&(segment, doc): &(u32, DocId)| {
            let segment = self
                .segments
                .get(&segment)
                .ok_or_else(|| ServerError::Unavailable {
                    reason: format!("it does not serve segment {segment}"),
                })?;
            Ok(HitDetails {
                details: segment.details(doc)?,
                explanation: match explain {
                    true => exhaustive::explain(plan, segment, doc)?,
                    false => None,
                },
            })
        };
        hits.iter().map(one).collect()
    }
}

impl IndexServer for InProcessIndexServer {
    fn search(&self, plan: &Arc<Plan>, k: usize, reply: Reply<PartitionHits>) {
        self.enqueue(plan, Work::Search { k, reply });
    }

    fn details(
        &self,
        plan: &Arc<Plan>,
        hits: Vec<(u32, DocId)>,
        explain: bool,
        reply: Reply<Vec<HitDetails>>,
    ) {
        reply.send(self.hit_details(plan, &hits, explain));
    }

    fn count_sites(
        &self,
        plan: &Arc<Plan>,
        sites: &Arc<[String]>,
        limit: u64,
        reply: Reply<Vec<u64>>,
    ) {
        self.enqueue(
            plan,
            Work::CountSites {
                sites: Arc::clone(sites),
                limit,
                reply,
            },
        );
    }
}

impl Drop for InProcessIndexServer {
    fn drop(&mut self) {
        self.queue = None;
        for handler in self.handlers.drain(..) {
            // Handlers catch panics; there is nothing to learn from the result.
            let _ = handler.join();
        }
    }
}

/// The life of a handler: takes jobs until the queue is closed and empty.
fn handle(segments: &[Arc<Segment>], queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        let taken = Instant::now();
        // A bug that panics costs one query, whose reply is dropped and reported, not the handler.
        let _ = catch_unwind(AssertUnwindSafe(|| job.work(segments, taken)));
    }
}

impl Job {
    fn work(self, segments: &[Arc<Segment>], taken: Instant) {
        match self.work {
            Work::Search { k, reply } => {
                let found = search_partition(&self.plan, segments, k);
                reply.send(
                    found
                        .map_err(ServerError::from)
                        .map(|(hits, matches_count)| PartitionHits {
                            hits,
                            matches_count,
                            queueing_us: (taken - self.arrived).as_micros() as u64,
                            search_us: taken.elapsed().as_micros() as u64,
                        }),
                );
            }
            Work::CountSites {
                sites,
                limit,
                reply,
            } => {
                let count = |site: &String| count_site(&self.plan, segments, site, limit);
                let counts: Result<Vec<u64>, IndexError> = sites.iter().map(count).collect();
                reply.send(counts.map_err(ServerError::from));
            }
        }
    }

    fn refuse(self, waiting: usize) {
        match self.work {
            Work::Search { reply, .. } => reply.send(Err(ServerError::Overloaded { waiting })),
            Work::CountSites { reply, .. } => reply.send(Err(ServerError::Overloaded { waiting })),
        }
    }
}

/// Matches of one site in all segments, up to `limit`.
fn count_site(
    plan: &Plan,
    segments: &[Arc<Segment>],
    site: &str,
    limit: u64,
) -> Result<u64, IndexError> {
    let mut count = 0;
    for segment in segments {
        if count >= limit {
            break;
        }
        count += exhaustive::count_site(plan, segment, site, limit - count)?;
    }
    Ok(count.min(limit))
}
