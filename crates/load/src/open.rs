//! Open-loop load: one thread sends at the scheduled instants, another reads the responses.
//!
//! ```text
//!  schedule ──► dispatcher ──► connections ──► receiver ──► examiner ──► samples
//!               sleeps on absolute             epoll;       reads bodies, so that
//!               instants, sends                stamps       neither clock waits for it
//! ```
//!
//! The dispatcher never waits for an answer: a request that finds no free connection is dropped and
//! counted. Per request it costs one wake-up and one write.
use crate::clock::{Clock, run_first, wake_precisely};
use crate::examine::{Examined, Outbox};
use crate::pool::{Finished, Place, Pool, Sent, Ticket};
use crate::sample::Ending;
use crate::{Arrivals, Live, LoadError, Settings};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::time::Timespec;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// Upper limit on the receiver's sleep in ns before it checks flags and deadlines again.
const LOOK_NS: u64 = 20_000_000;
const RECEIVE_BYTES: usize = 64 << 10;
const EVENTS_MAX: usize = 256;

/// State shared by dispatcher and receiver.
struct Shared<'a> {
    clock: Clock,
    pool: Pool,
    live: &'a Live,
    outbox: Outbox<'a>,
    timeout_ns: u64,
    drain_ns: u64,
    in_flight: AtomicUsize,
    is_dispatched: AtomicBool,
    /// Requests in the order of their deadlines.
    deadlines: Mutex<VecDeque<Deadline>>,
}

struct Deadline {
    at_ns: u64,
    place: Place,
    arrival: (bool, u32),
}

/// Arrivals of a run, warm-up first, and their requests.
pub(crate) struct Schedule {
    arrivals: Vec<Ticket>,
    requests: Vec<Arc<[u8]>>,
}

impl Schedule {
    pub(crate) fn draw(settings: &Settings, arrivals: &Arrivals) -> Result<Schedule, LoadError> {
        let warm_up_ns = settings.warm_up.as_nanos() as u64;
        let queries = &settings.queries;
        let warm_up = arrivals.draw_warm_up(settings.warm_up, settings.seed);
        let measured = arrivals.draw(settings.duration, settings.seed)?;
        let ticket = |n: usize, query_idx, warm_up, intended_ns| Ticket {
            arrival_idx: n as u32,
            query_idx,
            warm_up,
            intended_ns,
            sent_ns: 0,
            new_connection: false,
        };
        let before = warm_up.into_iter().enumerate();
        let before = before.map(|(n, at_ns)| ticket(n, queries.nth_of_warm_up(n), true, at_ns));
        let counted = measured.into_iter().enumerate();
        let counted = counted.map(|(n, at_ns)| {
            let intended_ns = warm_up_ns + at_ns;
            ticket(n, queries.nth(n), false, intended_ns)
        });
        let texts = queries.texts().iter();
        Ok(Schedule {
            arrivals: before.chain(counted).collect(),
            requests: texts.map(|text| settings.target.request(text)).collect(),
        })
    }
}

/// Offers the load; returns when every request has ended. Sends samples to the outbox.
pub(crate) fn run(
    settings: &Settings,
    schedule: &Schedule,
    clock: Clock,
    live: &Live,
    outbox: Outbox<'_>,
) -> Result<(), LoadError> {
    let pool = Pool::new(clock, settings.target.address(), settings.connections_max)
        .map_err(LoadError::machine("wait for many connections at once"))?;
    let shared = Shared {
        clock,
        pool,
        live,
        outbox,
        timeout_ns: settings.timeout.as_nanos() as u64,
        drain_ns: settings.drain.as_nanos() as u64,
        in_flight: AtomicUsize::new(0),
        is_dispatched: AtomicBool::new(false),
        deadlines: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let receiver = std::thread::Builder::new().name("load-receiver".into());
        let receiver = receiver
            .spawn_scoped(scope, || receive(&shared))
            .map_err(LoadError::machine("start a thread"))?;
        let dispatcher = std::thread::Builder::new().name("load-dispatcher".into());
        if let Err(error) = dispatcher.spawn_scoped(scope, || dispatch(&shared, schedule)) {
            shared.is_dispatched.store(true, SeqCst);
            return Err(LoadError::machine("start a thread")(error));
        }
        let received = receiver.join().unwrap_or(Err(Errno::IO));
        received.map_err(LoadError::machine("wait for answers"))
    })
}

fn dispatch(shared: &Shared<'_>, schedule: &Schedule) {
    wake_precisely();
    run_first();
    for ticket in &schedule.arrivals {
        if !sleep_until(shared, ticket.intended_ns) {
            break;
        }
        shared.live.offer(ticket.intended_ns);
        shared.send(*ticket, &schedule.requests[ticket.query_idx as usize]);
    }
    shared.is_dispatched.store(true, SeqCst);
}

/// Sleeps until `at_ns`; returns false if the run was stopped meanwhile.
fn sleep_until(shared: &Shared<'_>, at_ns: u64) -> bool {
    while !shared.live.is_stopped() {
        let now_ns = shared.clock.now_ns();
        if now_ns >= at_ns {
            return true;
        }
        // Sleeps in steps, so that a stop takes effect during a long pause.
        shared.clock.sleep_until(at_ns.min(now_ns + 5 * LOOK_NS));
    }
    false
}

impl Shared<'_> {
    fn send(&self, ticket: Ticket, request: &Arc<[u8]>) {
        // Counted before the send: the answer may arrive before this thread continues.
        self.in_flight.fetch_add(1, SeqCst);
        match self.pool.send(ticket, request) {
            Sent::UnderWay(place) => {
                self.live.send();
                let deadline = Deadline {
                    at_ns: ticket.intended_ns.saturating_add(self.timeout_ns),
                    place,
                    arrival: (ticket.warm_up, ticket.arrival_idx),
                };
                let deadlines = self.deadlines.lock();
                deadlines
                    .unwrap_or_else(PoisonError::into_inner)
                    .push_back(deadline);
            }
            Sent::Ended(ticket, ending) => {
                self.live.send();
                self.end(ticket, Some(self.clock.now_ns()), Err(ending));
            }
            Sent::NoneFree => {
                let examined = Examined::never_sent(ticket);
                self.outbox.put(examined);
                self.in_flight.fetch_sub(1, SeqCst);
            }
        }
    }

    fn end(
        &self,
        ticket: Ticket,
        done_ns: Option<u64>,
        result: Result<crate::response::Response, Ending>,
    ) {
        self.outbox.put(Examined::ended(ticket, done_ns, result));
        self.in_flight.fetch_sub(1, SeqCst);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        let deadlines = self
            .deadlines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        deadlines.front().map(|deadline| deadline.at_ns)
    }

    /// Gives up requests whose deadline has passed, in order.
    fn expire(&self) {
        let now_ns = self.clock.now_ns();
        loop {
            let deadline = {
                let mut all = self
                    .deadlines
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                match all.front() {
                    Some(front) if front.at_ns <= now_ns => all.pop_front(),
                    _ => None,
                }
            };
            let Some(deadline) = deadline else { return };
            if let Some(ticket) = self.pool.give_up(deadline.place, deadline.arrival) {
                self.end(ticket, Some(self.clock.now_ns()), Err(Ending::TimedOut));
            }
        }
    }
}

fn receive(shared: &Shared<'_>) -> Result<(), Errno> {
    let mut events = Vec::with_capacity(EVENTS_MAX);
    let mut buffer = vec![0; RECEIVE_BYTES];
    let mut drain_until_ns = None;
    loop {
        let now_ns = shared.clock.now_ns();
        shared.live.tick(now_ns);
        if shared.is_dispatched.load(SeqCst) {
            let until_ns = *drain_until_ns.get_or_insert(now_ns.saturating_add(shared.drain_ns));
            let is_over = shared.in_flight.load(SeqCst) == 0;
            if is_over || now_ns >= until_ns || shared.live.is_stopped() {
                break;
            }
        }
        let wait_ns = shared.next_deadline_ns().map_or(LOOK_NS, |at_ns| {
            at_ns.saturating_sub(now_ns).clamp(1_000_000, LOOK_NS)
        });
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait_ns as i64,
        };
        events.clear();
        match epoll::wait(
            shared.pool.epoll(),
            spare_capacity(&mut events),
            Some(&timeout),
        ) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => {
                shared.live.stop();
                return Err(errno);
            }
        }
        for event in &events {
            let place = Place::of_event(event.data);
            if let Some(Finished {
                ticket,
                done_ns,
                result,
            }) = shared.pool.attend(place, &mut buffer)
            {
                shared.end(ticket, Some(done_ns), result);
            }
        }
        shared.expire();
    }
    for ticket in shared.pool.give_up_all() {
        shared.end(ticket, None, Err(Ending::Unfinished));
    }
    Ok(())
}
