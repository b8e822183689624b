//! Queries whose ranges are counted, on the handlers of a board.

use crate::handlers::asking::Asking;
use crate::handlers::deadline::Deadline;
use crate::handlers::figures::Figures;
use crate::handlers::handler_visit::HandlerVisit;
use crate::handlers::life::Life;
use crate::handlers::options::{HandlerOptions, Place};
use crate::handlers::shared_board::{Ended, Handler, Job, SharedBoard, Visiting};
use schedule::board::{
    Board, Entry, Give, Load, Policy, PolicyChoice, Seen, Stage, Start, Turn, Visit,
};
use search::{Split, Visitor};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Policy that decides by the chance of the checker: any query that waits, any that may be helped, any end of a range.
#[derive(Debug)]
struct ByChance;

fn below(below: usize) -> usize {
    thread_rng().gen_range(0..below)
}

impl Policy for ByChance {
    fn name(&self) -> String {
        "by-chance".to_owned()
    }

    fn begins(&self, _query: &Entry, _load: &Load) -> Start {
        Start {
            range_ns: [1, u64::MAX][below(2)],
            degree_max: 1 + below(4) as u32,
        }
    }

    fn gives(&self, _is_owner: bool, _seen: &Seen) -> Give {
        [Give::Nothing, Give::Half, Give::All][below(3)]
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        below(3) > 0
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        // Work that waits is always taken, or a handler would sleep beside it.
        if let count @ 1.. = board.claimable_count() {
            let chosen = board.claimable().nth(below(count));
            return chosen.map_or(Turn::Rest, |one| match one.stage {
                Stage::Waiting => Turn::Begin(one.id),
                _ => Turn::Resume(one.id),
            });
        }
        let helpable: Vec<_> = board.running().filter(|one| one.is_helpable()).collect();
        match helpable.len() {
            0 => Turn::Rest,
            count => Turn::Help(helpable[below(count)].id),
        }
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}

/// A query of some ranges.
#[derive(Debug)]
struct Query {
    deadline: Deadline,
    ranges: u32,
    next: AtomicU32,
    /// Parts that no handler works on, of a query in one piece; `None` of one in ranges.
    parts: Mutex<Option<Vec<Range<u32>>>>,
    /// Ranges that each stay of a handler searched.
    shares: Mutex<Vec<Vec<u32>>>,
    begun: AtomicU32,
    at_work: AtomicU32,
    is_cancelled: AtomicBool,
    /// What went wrong: a panic would be caught, as those of searches are.
    faults: Mutex<Vec<String>>,
    ended: Arc<Answered>,
}

/// Parts that handlers gave away in all runs.
static GIVEN_COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Queries that guests began in all runs.
static GUESTS_COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Counter of the queries that were answered.
#[derive(Debug, Default)]
struct Answered {
    count: Mutex<u32>,
    changed: Condvar,
}

impl Query {
    /// Takes ranges until none is left, or the policy says so.
    fn take_ranges(&self, visiting: &Visiting, handler: &Handler<'_>) {
        self.at_work.fetch_add(1, Ordering::SeqCst);
        let asking = Asking::new(handler);
        let mut visitor = HandlerVisit::new(visiting, handler);
        let is_in_one_piece = self.parts.lock().unwrap().is_some();
        let share = match is_in_one_piece {
            true => self.take_parts(visitor.asked(&asking), &asking),
            false => {
                if let Turn::Begin(_) = visiting.turn {
                    visitor.opened(self.ranges as usize);
                }
                self.walk_ranges(&mut visitor)
            }
        };
        self.shares.lock().unwrap().push(share);
        self.at_work.fetch_sub(1, Ordering::SeqCst);
    }

    /// Takes parts, and gives some away, as a search in one piece does.
    fn take_parts(&self, mut visitor: HandlerVisit<'_>, asking: &Asking<'_>) -> Vec<u32> {
        let mut share = Vec::new();
        let take = || self.parts.lock().unwrap().as_mut().and_then(Vec::pop);
        let give = |part| {
            let mut parts = self.parts.lock().unwrap();
            let parts = parts.get_or_insert_default();
            parts.push(part);
            parts.len()
        };
        while let Some(mut part) = take() {
            let first = part.start;
            while let Some(next) = part.next() {
                if self.is_cancelled.load(Ordering::SeqCst) {
                    *self.parts.lock().unwrap() = Some(Vec::new());
                    return share;
                }
                share.push(next);
                if part.is_empty() || !asking.is_asked() {
                    continue;
                }
                let split = visitor.split((part.start - first).into(), part.len() as u64);
                let middle = match split {
                    Split::Keep => continue,
                    Split::Half => part.start + part.len() as u32 / 2,
                    Split::All => part.start,
                };
                GIVEN_COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let given = middle..part.end;
                part.end = middle;
                visitor.gave(give(given));
            }
            let live = self.parts.lock().unwrap().as_ref().map_or(0, Vec::len);
            if !visitor.on_range(live) {
                break;
            }
        }
        share
    }

    fn is_exhausted(&self) -> bool {
        match &*self.parts.lock().unwrap() {
            Some(parts) => parts.is_empty(),
            None => self.next.load(Ordering::SeqCst) >= self.ranges,
        }
    }

    fn walk_ranges(&self, visitor: &mut HandlerVisit<'_>) -> Vec<u32> {
        let mut share = Vec::new();
        loop {
            if self.is_cancelled.load(Ordering::SeqCst) {
                self.next.store(self.ranges, Ordering::SeqCst);
            }
            let taken = self.next.fetch_add(1, Ordering::SeqCst);
            if taken >= self.ranges {
                break;
            }
            share.push(taken);
            let left = self.ranges.saturating_sub(self.next.load(Ordering::SeqCst));
            if !visitor.on_range(left as usize) {
                break;
            }
        }
        share
    }

    fn fault(&self, what: String) {
        self.faults.lock().unwrap().push(what);
    }
}

impl Job for Query {
    fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    fn visit(&self, visiting: &Visiting, handler: &Handler<'_>) -> Ended {
        if let Turn::Begin(_) = visiting.turn {
            if self.begun.fetch_add(1, Ordering::SeqCst) > 0 {
                self.fault("begun twice".into());
            }
            let start = handler.board.start(visiting.id, 1_000_000);
            if handler.is_guest {
                GUESTS_COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                // A prediction sends some guests away at once.
                if below(3) == 0 {
                    return Ended::Leaves;
                }
            }
            if start.is_on_request() {
                *self.parts.lock().unwrap() = Some(vec![Range {
                    start: 0,
                    end: self.ranges,
                }]);
            }
        } else if self.begun.load(Ordering::SeqCst) == 0 {
            self.fault(format!("{:?} before it was begun", visiting.turn));
        }
        self.take_ranges(visiting, handler);
        let takes_interludes = below(2) > 0;
        let mut back;
        let mut visiting = visiting;
        while !self.is_exhausted() {
            if !takes_interludes {
                return Ended::Leaves;
            }
            match handler.interludes.interlude(visiting) {
                Some(next) => back = next,
                None => return Ended::HasLeft,
            }
            visiting = &back;
            self.take_ranges(visiting, handler);
        }
        Ended::Exhausted
    }

    fn finish(&self, _: &SharedBoard, _: &Figures) {
        if self.at_work.load(Ordering::SeqCst) > 0 {
            self.fault("answered while a handler is at work".into());
        }
        let mut ranges = self.shares.lock().unwrap().concat();
        ranges.sort_unstable();
        let is_whole = ranges.iter().copied().eq(0..self.ranges);
        ranges.dedup();
        let is_cancelled = self.is_cancelled.load(Ordering::SeqCst);
        if !is_whole && !is_cancelled {
            self.fault(format!("merged {ranges:?} of {}", self.ranges));
        }
        let mut count = self.ended.count.lock().unwrap();
        *count += 1;
        self.ended.changed.notify_all();
    }

    fn abandon(&self) {
        self.fault("abandoned".into());
    }
}

/// Lets clients bring queries to a board, as guests or not, cancels some, and checks that each is answered once, with all of its ranges.
fn run(policy: &PolicyChoice, handlers: usize, queries: u32, cancels: bool) {
    let options = HandlerOptions {
        handlers,
        policy: policy.clone(),
        // Without a CPU: handlers that are not placed would be steered, and all of them are one thread here.
        places: vec![Place::default(); handlers],
        // Whatever is asked for is given.
        range_postings_min: 0,
        ..HandlerOptions::default()
    };
    let board = Arc::new(SharedBoard::new(&options));
    let figures = Arc::new(Figures {
        handlers,
        ..Figures::default()
    });
    // The threads are named before the first of them works.
    let named = Arc::new((Mutex::new(false), Condvar::new()));
    let threads: Vec<_> = (0..handlers)
        .map(|handler| {
            let (board, figures, named) = (board.clone(), figures.clone(), named.clone());
            thread::spawn(move || {
                let (is_named, changed) = &*named;
                drop(
                    changed
                        .wait_while(is_named.lock().unwrap(), |named| !*named)
                        .unwrap(),
                );
                Life::new(handler, &board, &figures).live();
            })
        })
        .collect();
    board.run_by(threads.iter().map(|one| one.thread().clone()).collect());
    *named.0.lock().unwrap() = true;
    named.1.notify_all();
    let ended = Arc::new(Answered::default());
    let now = Instant::now();
    let all: Vec<Arc<Query>> = (0..queries)
        .map(|number| {
            Arc::new(Query {
                deadline: Deadline {
                    arrived: now,
                    at: now + Duration::from_secs(3_600),
                },
                ranges: 1 + number % 4 * 3,
                parts: Mutex::new(None),
                next: AtomicU32::new(0),
                shares: Mutex::default(),
                begun: AtomicU32::new(0),
                at_work: AtomicU32::new(0),
                is_cancelled: AtomicBool::new(false),
                faults: Mutex::default(),
                ended: ended.clone(),
            })
        })
        .collect();
    let clients: Vec<_> = all
        .chunks(queries.div_ceil(2) as usize)
        .map(|of_client| {
            let (board, figures) = (board.clone(), figures.clone());
            let of_client = of_client.to_vec();
            thread::spawn(move || {
                for query in of_client {
                    match below(2) {
                        0 => board.enqueue(query.clone()),
                        _ => Life::work_as_guest(&board, &figures, query.clone()),
                    }
                    if cancels && below(3) == 0 {
                        query.is_cancelled.store(true, Ordering::SeqCst);
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    // A lost wake-up, or a query that nobody merges, is a deadlock here.
    let count = ended.count.lock().unwrap();
    let count = ended.changed.wait_while(count, |count| *count < queries);
    assert_eq!(*count.unwrap(), queries);
    board.close();
    for thread in threads {
        thread.join().unwrap();
    }
    for query in &all {
        let faults = query.faults.lock().unwrap();
        assert!(faults.is_empty(), "{policy}: {faults:?}");
        assert_eq!(query.at_work.load(Ordering::SeqCst), 0);
    }
    assert_eq!(*ended.count.lock().unwrap(), queries, "answered twice");
}

fn policies() -> Vec<PolicyChoice> {
    let named = [
        "help-if-idle",
        "boost",
        "least-left",
        "help-and-yield",
        "fifo:2",
        "idle-share",
    ];
    let named = named.map(|name| name.parse().unwrap());
    let mut all: Vec<PolicyChoice> = named.into();
    all.push(PolicyChoice::of(Arc::new(ByChance)));
    all
}

#[test]
fn each_query_is_answered_once_with_all_ranges_whatever_the_interleaving() {
    for policy in policies() {
        let check = policy.clone();
        shuttle::check_random(move || run(&check, 3, 4, false), 300);
        // Few changes of threads at the worst points (Burckhardt et al. 2010).
        shuttle::check_pct(move || run(&policy, 2, 4, false), 300, 3);
    }
    let given_count = GIVEN_COUNT.load(std::sync::atomic::Ordering::Relaxed);
    assert!(given_count > 100, "{given_count} parts given away");
    let guests_count = GUESTS_COUNT.load(std::sync::atomic::Ordering::Relaxed);
    assert!(guests_count > 100, "{guests_count} guests");
}

#[test]
fn cancelled_queries_are_answered_too() {
    for policy in policies() {
        shuttle::check_random(move || run(&policy, 3, 4, true), 300);
    }
}
