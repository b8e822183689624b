//! Replicas of one part of the index, and a call to any of them.
//!
//! ```text
//! call ─► the replica with least to do ──────────────► answer
//!            │ slower than 19 of 20   └► a second one, the first answer counts      (hedge)
//!            │ fails, or dies meanwhile ► the next one                              (failover)
//!            └ deadline ► expired
//! ```

use crate::api::messages::Status;
use crate::api::reply::Reply;
use crate::cluster::hedge::{HedgeBudget, Pace};
use engine::calls::Chunks;
use engine::calls::{PartError, Retry};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Upper limit on calls to one replica for one request: a connection that broke while the server was
/// away deserves a second try.
const TRIES_MAX: u32 = 2;
/// Timeout of a call to a replica that counts as dead, when no other is left.
const LAST_RESORT: Duration = Duration::from_millis(250);
/// Pause before a replica is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// Kind of a call; each kind has its own hedging delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Search,
    Details,
    CountMatches,
    CountFacets,
    NearWords,
    Summaries,
    Document,
}

/// Health of a replica, which decides whether it gets calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Up,
    /// The replica ends soon and finishes its requests.
    Draining,
    Down,
}

/// Counters over all calls of a front-end.
#[derive(Debug)]
pub(crate) struct CallFigures {
    pub(crate) calls: AtomicU64,
    pub(crate) hedges: AtomicU64,
    pub(crate) hedges_won: AtomicU64,
    pub(crate) failovers: AtomicU64,
    budget: HedgeBudget,
}

impl CallFigures {
    pub(crate) fn new(hedges: bool) -> CallFigures {
        CallFigures {
            calls: AtomicU64::new(0),
            hedges: AtomicU64::new(0),
            hedges_won: AtomicU64::new(0),
            failovers: AtomicU64::new(0),
            budget: HedgeBudget::new(hedges),
        }
    }
}

/// Servers of the same chunks.
pub(crate) struct Replicas<S: ?Sized> {
    pub(crate) chunks: Chunks,
    pub(crate) replicas: Vec<Replica<S>>,
    next: AtomicUsize,
    paces: [Pace; 7],
}

/// One server of several with the same chunks.
pub(crate) struct Replica<S: ?Sized> {
    /// Name in messages.
    pub(crate) name: String,
    pub(crate) server: Arc<S>,
    health: watch::Sender<Health>,
    in_flight: Arc<AtomicUsize>,
    /// Last status of the server.
    status: Mutex<Option<Status>>,
}

/// One call under way.
struct Attempt<T> {
    number: usize,
    replica: usize,
    result: Result<T, PartError>,
}

impl<S: ?Sized> Replica<S> {
    pub(crate) fn new(name: String, server: Arc<S>) -> Replica<S> {
        Replica {
            name,
            server,
            health: watch::Sender::new(Health::Up),
            in_flight: Arc::default(),
            status: Mutex::new(None),
        }
    }

    pub(crate) fn health(&self) -> Health {
        *self.health.borrow()
    }

    /// Sets the health of the replica; returns whether it changed.
    pub(crate) fn set_health(&self, health: Health) -> bool {
        self.health
            .send_if_modified(|known| std::mem::replace(known, health) != health)
    }

    pub(crate) fn set_status(&self, status: Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }

    /// Returns part of the server's last status.
    fn status<T>(&self, part: impl FnOnce(&Status) -> T) -> Option<T> {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.as_ref().map(part)
    }
}

impl<S: ?Sized> Replicas<S> {
    pub(crate) fn new(chunks: Chunks, replicas: Vec<Replica<S>>) -> Replicas<S> {
        Replicas {
            chunks,
            replicas,
            next: AtomicUsize::new(0),
            paces: Default::default(),
        }
    }

    /// Returns part of the last status of any replica.
    pub(crate) fn status<T>(&self, part: impl Fn(&Status) -> T) -> Option<T> {
        self.replicas.iter().find_map(|one| one.status(&part))
    }

    /// Returns the trust epoch of each replica; `None` where it never answered.
    pub(crate) fn trust_epochs(&self) -> impl Iterator<Item = Option<u64>> {
        let epoch = |status: &Status| status.trust_epoch;
        self.replicas.iter().map(move |one| one.status(epoch))
    }

    /// Calls one replica, or several until one answers.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        kind: Call,
        figures: &CallFigures,
        deadline: Instant,
        start: impl Fn(&S, Reply<T>),
    ) -> Result<T, PartError> {
        figures.calls.fetch_add(1, Ordering::Relaxed);
        figures.budget.earn();
        let begun = Instant::now();
        let pace = &self.paces[kind as usize];
        let mut tries = vec![0; self.replicas.len()];
        let mut running: FuturesUnordered<BoxFuture<'_, Attempt<T>>> = FuturesUnordered::new();
        let mut begun_count = 0;
        // Starts a call to a replica and counts its tries.
        let mut begin = |replica: usize, tries: &mut [u32]| {
            tries[replica] += 1;
            begun_count += 1;
            (begun_count, self.attempt(begun_count, replica, &start))
        };
        if let Some(replica) = self.pick(&tries) {
            running.push(begin(replica, &mut tries).1);
        }
        let mut hedge_at = match self.replicas.len() {
            0 | 1 => None,
            _ => pace.hedge_after().map(|after| begun + after),
        };
        let mut hedge = 0;
        let mut failed = PartError::NotServed {
            reason: "no server holds it".into(),
        };
        let expired = tokio::time::sleep_until(deadline.into());
        tokio::pin!(expired);
        loop {
            if running.is_empty() {
                let Some(replica) = self.pick(&tries) else {
                    return Err(failed);
                };
                if tries[replica] > 0 {
                    tokio::time::sleep(PAUSE).await;
                }
                figures.failovers.fetch_add(1, Ordering::Relaxed);
                running.push(begin(replica, &mut tries).1);
            }
            tokio::select! {
                biased;
                Some(attempt) = running.next() => match attempt.result {
                    Ok(value) => {
                        pace.note(begun.elapsed());
                        if attempt.number == hedge {
                            figures.hedges_won.fetch_add(1, Ordering::Relaxed);
                        }
                        return Ok(value);
                    }
                    Err(PartError::Expired) if Instant::now() >= deadline => {
                        return Err(PartError::Expired);
                    }
                    Err(error) => {
                        match error.retry() {
                            Retry::None => return Err(error),
                            Retry::OtherReplica => tries[attempt.replica] = TRIES_MAX,
                            Retry::AnyReplica => {}
                        }
                        failed = failed.graver(error);
                    }
                },
                () = tokio::time::sleep_until(hedge_at.unwrap_or(deadline).into()), if hedge_at.is_some() => {
                    hedge_at = None;
                    if let Some(replica) = self.pick(&tries)
                        && tries[replica] == 0
                        && self.replicas[replica].health() == Health::Up
                        && figures.budget.spend()
                    {
                        figures.hedges.fetch_add(1, Ordering::Relaxed);
                        let (number, attempt) = begin(replica, &mut tries);
                        hedge = number;
                        running.push(attempt);
                    }
                }
                () = &mut expired => return Err(PartError::Expired),
            }
        }
    }

    /// Calls one replica; the call ends when health checks find the replica down.
    fn attempt<'s, T: Send + 'static>(
        &'s self,
        number: usize,
        replica: usize,
        start: &impl Fn(&S, Reply<T>),
    ) -> BoxFuture<'s, Attempt<T>> {
        let called = &self.replicas[replica];
        let (reply, answer) = Reply::channel();
        let in_flight = InFlight::new(&called.in_flight);
        let mut health = called.health.subscribe();
        let was_down = *health.borrow_and_update() == Health::Down;
        start(&called.server, reply);
        let name = &called.name;
        Box::pin(async move {
            let _in_flight = in_flight;
            let result = tokio::select! {
                biased;
                answered = answer => answered.unwrap_or_else(|_| Err(PartError::Unreachable {
                    reason: format!("{name} gave the request up; see its log, or restart it"),
                })),
                () = tokio::time::sleep(LAST_RESORT), if was_down => {
                    Err(PartError::Unreachable { reason: format!("{name} does not answer") })
                }
                _ = health.wait_for(|health| *health == Health::Down), if !was_down => {
                    Err(PartError::Unreachable { reason: format!("{name} stopped answering") })
                }
            };
            Attempt {
                number,
                replica,
                result,
            }
        })
    }

    /// Returns the replica to call next: fewest tries, then best health, then fewest calls under way. A
    /// replica that counts as dead is chosen only if no other is left.
    fn pick(&self, tries: &[u32]) -> Option<usize> {
        let count = self.replicas.len();
        let turn = match count {
            1 => 0,
            _ => self.next.fetch_add(1, Ordering::Relaxed),
        };
        let standing = |&at: &usize| {
            let replica = &self.replicas[at];
            let health = replica.health();
            let in_flight = replica.in_flight.load(Ordering::Relaxed);
            let is_down = health == Health::Down;
            (is_down, tries[at], health == Health::Draining, in_flight)
        };
        let may_be_tried = |&at: &usize| {
            let tries_max = match self.replicas[at].health() {
                Health::Down => 1,
                _ => TRIES_MAX,
            };
            tries[at] < tries_max
        };
        (0..count)
            .map(|step| (turn + step) % count)
            .filter(may_be_tried)
            .min_by_key(standing)
    }
}

/// Count of calls under way, decremented when dropped.
struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    fn new(count: &Arc<AtomicUsize>) -> InFlight {
        count.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(count))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
