//! Handlers and clients that use a board as a server does, in an order that a test chooses.

use schedule::board::script::{Decision, Event, Record, play};
use schedule::board::{Arrival, Board, Give, Left, Policy, QueryId, Start, Turn};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Asleep,
    Woken,
    /// Predicts and cuts a query.
    Prepares(QueryId),
    /// Is about to take a range.
    Takes(QueryId),
    /// Searches a range.
    Searches(QueryId, u64),
}

/// Time of a block of a query in one piece, in ns.
const BLOCK_NS: u64 = 20_000;

/// A query of the test.
#[derive(Debug, Clone)]
struct Query {
    likely_ns: u64,
    deadline_ns: u64,
    ranges: u32,
    next: u32,
    /// Parts that no handler works on, in blocks, of a query in one piece.
    parts: Option<Vec<u64>>,
}

impl Query {
    fn is_exhausted(&self) -> bool {
        match &self.parts {
            Some(parts) => parts.is_empty(),
            None => self.next >= self.ranges,
        }
    }
}

/// One step of a test: which of the possible ones is chosen by `pick`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) kind: u8,
    pub(crate) pick: u16,
    pub(crate) after_ns: u32,
}

pub(crate) struct World {
    pub(crate) board: Board,
    pub(crate) records: Vec<Record>,
    handlers: Vec<State>,
    /// Blocks left of the part that each handler searches.
    blocks: Vec<u64>,
    /// Parts given away.
    pub(crate) given: u64,
    queries: BTreeMap<QueryId, Query>,
    pub(crate) arrived: u64,
    pub(crate) ended: u64,
    now_ns: u64,
}

impl World {
    pub(crate) fn new(policy: &Arc<dyn Policy>, speeds: &[f64]) -> World {
        World {
            board: Board::new(Arc::clone(policy), speeds).parked_max_ns(2_000_000),
            records: Vec::new(),
            handlers: vec![State::Asleep; speeds.len()],
            blocks: vec![0; speeds.len()],
            given: 0,
            queries: BTreeMap::new(),
            arrived: 0,
            ended: 0,
            now_ns: 0,
        }
    }

    fn play(&mut self, event: Event) -> Decision {
        let decision = play(&mut self.board, event);
        self.records.push(Record {
            event,
            decision: decision.clone(),
        });
        decision
    }

    /// Takes a step, if it is possible, and checks the invariants.
    pub(crate) fn step(&mut self, step: Step) {
        self.now_ns += u64::from(step.after_ns);
        let pick = usize::from(step.pick);
        let is_withdrawal = step.kind % 8 == 6;
        match step.kind % 8 {
            0 | 1 => self.arrive(step.pick),
            6 => self.withdraw(pick),
            7 => self.swap(),
            _ => {
                self.go_on(pick);
            }
        }
        self.check(is_withdrawal);
    }

    /// Lets the handlers work until nobody has anything to do.
    pub(crate) fn drain(&mut self) {
        let mut steps = 0;
        while self.go_on(steps) {
            self.now_ns += 10_000;
            self.check(false);
            steps += 1;
            assert!(steps < 1_000_000, "the handlers never end");
        }
    }

    fn arrive(&mut self, pick: u16) {
        let likely_ns = 20_000 + u64::from(pick % 977) * 2_000;
        let deadline_ns = match pick % 4 {
            0 => self.now_ns + 100_000 * u64::from(pick % 100),
            _ => u64::MAX,
        };
        let arrival = Arrival {
            arrived_ns: self.now_ns,
            deadline_ns,
            likely_ns: (!pick.is_multiple_of(3)).then_some(likely_ns),
        };
        let Decision::Slot(id) = self.play(Event::Arrive(arrival)) else {
            panic!("an arrival has a slot");
        };
        let query = Query {
            likely_ns,
            deadline_ns,
            ranges: 0,
            next: 0,
            parts: None,
        };
        let before = self.queries.insert(id, query);
        assert!(before.is_none(), "slot {id} holds two queries");
        self.arrived += 1;
        self.wake();
    }

    fn wake(&mut self) {
        let event = Event::Wake {
            now_ns: self.now_ns,
            handler: None,
        };
        self.rouse(event);
    }

    fn swap(&mut self) {
        let now_ns = self.now_ns;
        self.rouse(Event::Swap { now_ns });
    }

    fn rouse(&mut self, event: Event) {
        let Decision::Woken(handlers) = self.play(event) else {
            panic!("handlers to wake");
        };
        for handler in handlers {
            assert_eq!(self.handlers[handler], State::Asleep, "woken twice");
            self.handlers[handler] = State::Woken;
        }
    }

    fn withdraw(&mut self, pick: usize) {
        let ids: Vec<QueryId> = self.queries.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        let query = ids[pick % ids.len()];
        let is_worked_on = self.hands(query) > 0;
        let decision = self.play(Event::Withdraw { query });
        assert_eq!(decision, Decision::Withdrawn(!is_worked_on));
        if !is_worked_on {
            self.end(query);
        }
    }

    fn end(&mut self, query: QueryId) {
        assert!(self.queries.remove(&query).is_some(), "ended twice");
        self.ended += 1;
    }

    /// Lets one handler that is awake go on. Returns whether there is any.
    fn go_on(&mut self, pick: usize) -> bool {
        let awake: Vec<usize> = (0..self.handlers.len())
            .filter(|&handler| self.handlers[handler] != State::Asleep)
            .collect();
        if awake.is_empty() {
            return false;
        }
        let handler = awake[pick % awake.len()];
        match self.handlers[handler] {
            State::Asleep => {}
            State::Woken => self.turn(handler),
            State::Prepares(query) => self.prepare(handler, query),
            State::Takes(query) => self.take(handler, query),
            State::Searches(query, began_ns) => self.range_done(handler, query, began_ns),
        }
        true
    }

    fn turn(&mut self, handler: usize) {
        let now_ns = self.now_ns;
        let Decision::Turn(turn) = self.play(Event::Turn { now_ns, handler }) else {
            panic!("a turn");
        };
        self.handlers[handler] = match turn {
            Turn::Rest => State::Asleep,
            Turn::Begin(query) => {
                assert_eq!(self.queries[&query].ranges, 0, "begun twice");
                State::Prepares(query)
            }
            Turn::Resume(query) => {
                assert_eq!(self.hands(query), 0, "resumed while others are at work");
                State::Takes(query)
            }
            Turn::Help(query) => State::Takes(query),
        };
        if turn != Turn::Rest {
            self.wake();
        }
    }

    fn prepare(&mut self, handler: usize, id: QueryId) {
        let query = self.queries[&id].clone();
        if self.now_ns >= query.deadline_ns {
            return self.leave(handler, id, true);
        }
        let event = Event::Start {
            query: id,
            likely_ns: query.likely_ns,
        };
        let Decision::Start(start) = self.play(event) else {
            panic!("a start");
        };
        let Start { range_ns, .. } = start;
        let ranges = query.likely_ns.div_ceil(range_ns).clamp(1, 64) as u32;
        let query = self.queries.get_mut(&id).unwrap();
        query.ranges = ranges;
        if start.is_on_request() {
            query.parts = Some(vec![query.likely_ns.div_ceil(BLOCK_NS)]);
            return self.take(handler, id);
        }
        let query = query.clone();
        self.play(Event::Open {
            now_ns: self.now_ns,
            query: id,
            ranges,
            join_ns: query.likely_ns / 20,
        });
        self.take(handler, id);
        self.wake();
    }

    fn take(&mut self, handler: usize, id: QueryId) {
        let query = self.queries.get_mut(&id).unwrap();
        if query.is_exhausted() {
            // Another handler has taken the last one meanwhile.
            return self.leave(handler, id, true);
        }
        query.next += 1;
        let live = match &mut query.parts {
            Some(parts) => {
                self.blocks[handler] = parts.pop().unwrap_or(0);
                parts.len() as u32
            }
            None => query.ranges - query.next,
        };
        self.play(Event::RangeTaken { query: id, live });
        self.handlers[handler] = State::Searches(id, self.now_ns);
    }

    fn range_done(&mut self, handler: usize, id: QueryId, began_ns: u64) {
        if self.blocks[handler] > 1 && self.queries[&id].parts.is_some() {
            self.blocks[handler] -= 1;
            if self.gives(handler, id) != Give::All {
                return;
            }
        }
        let query = self.queries[&id].clone();
        let event = Event::RangeDone {
            now_ns: self.now_ns,
            handler,
            worked_ns: self.now_ns - began_ns,
        };
        let stays = self.play(event) == Decision::Stays(true);
        self.check_fairness(handler, id, stays);
        let is_exhausted = self.now_ns >= query.deadline_ns || query.is_exhausted();
        if is_exhausted || !stays {
            return self.leave(handler, id, is_exhausted);
        }
        self.take(handler, id);
        let seen = self.board.signals().seen(handler);
        if seen.idle > 0 && self.board.policy().calls_helpers() {
            self.wake();
        }
    }

    /// Gives away between two blocks what the policy says.
    fn gives(&mut self, handler: usize, id: QueryId) -> Give {
        let (now_ns, blocks) = (self.now_ns, self.blocks[handler]);
        let is_owner = self.board.handlers()[handler].is_owner;
        let seen = self.board.signals().seen(handler);
        let gives = self.board.policy().gives(is_owner, &seen);
        let given = match gives {
            Give::Nothing => return gives,
            Give::All => blocks,
            Give::Half => {
                let event = Event::Share {
                    now_ns,
                    query: id,
                    left_ns: blocks * BLOCK_NS,
                };
                if self.play(event) != Decision::Shares(true) || blocks < 2 {
                    return Give::Nothing;
                }
                blocks / 2
            }
        };
        self.given += 1;
        self.blocks[handler] -= given;
        let parts = self.queries.get_mut(&id).unwrap().parts.as_mut().unwrap();
        parts.push(given);
        let ranges = parts.len() as u32;
        self.play(Event::Open {
            now_ns,
            query: id,
            ranges,
            join_ns: 0,
        });
        self.wake();
        gives
    }

    /// With boosts or least time left first, nobody goes on with a query while another has waited for longer than it may, unless
    /// its own has too, or has little time to its deadline.
    fn check_fairness(&self, handler: usize, id: QueryId, stays: bool) {
        let name = self.board.policy().name();
        if !stays || !(name.starts_with("least-left") || name == "boost") {
            return;
        }
        let own = self.board.query(id).unwrap();
        let is_late = |urgent_ns: u64| self.now_ns >= urgent_ns;
        let slack_ns = own.deadline_ns.saturating_sub(self.now_ns);
        let is_pressed = slack_ns <= 4 * own.left_ns();
        let others_wait = self.board.claimable().any(|one| is_late(one.urgent_ns));
        let is_excused = is_late(own.urgent_ns) || is_pressed;
        assert!(
            !others_wait || is_excused,
            "handler {handler} lets others wait"
        );
    }

    fn leave(&mut self, handler: usize, id: QueryId, is_exhausted: bool) {
        let now_ns = self.now_ns;
        let others = self.hands(id) - 1;
        let decision = self.play(Event::Leave {
            now_ns,
            handler,
            is_exhausted,
        });
        let expected = match (others, is_exhausted) {
            (0, true) => Left::Finished,
            (0, false) => Left::Parked,
            _ => Left::Others,
        };
        assert_eq!(decision, Decision::Left(expected));
        self.handlers[handler] = State::Woken;
        if expected == Left::Finished {
            self.end(id);
        }
        self.turn(handler);
    }

    /// Returns the number of handlers at work on a query.
    fn hands(&self, id: QueryId) -> u32 {
        let works = |state: &&State| match state {
            State::Asleep | State::Woken => false,
            State::Prepares(query) | State::Takes(query) => *query == id,
            State::Searches(query, _) => *query == id,
        };
        self.handlers.iter().filter(works).count() as u32
    }

    fn check(&self, is_withdrawal: bool) {
        let board = &self.board;
        assert_eq!(board.queries_count(), self.queries.len());
        assert_eq!(self.arrived, self.ended + self.queries.len() as u64);
        let mut claimable = 0;
        let mut least_key = u64::MAX;
        for entry in board.queries() {
            assert_eq!(entry.hands, self.hands(entry.id), "{entry:?}");
            // A swap moves a query to its new handler before the old one leaves.
            let moves = u32::from(board.policy().sampling_ns().is_some());
            assert!(entry.hands <= entry.degree_max + moves, "{entry:?}");
            assert_eq!(entry.is_claimable(), entry.hands == 0, "{entry:?}");
            if entry.is_claimable() {
                claimable += 1;
                least_key = least_key.min(entry.key);
            }
        }
        assert!(board.claimable().map(|one| one.number).is_sorted());
        assert_eq!(board.claimable_count(), claimable);
        let seen = board.signals().seen(0);
        assert_eq!(seen.claimable as usize, claimable);
        assert_eq!(seen.idle as usize, board.idle_count());
        assert_eq!(seen.least_key, least_key);
        for (number, (handler, state)) in board.handlers().iter().zip(&self.handlers).enumerate() {
            let query = match *state {
                State::Asleep | State::Woken => None,
                State::Prepares(query) | State::Takes(query) => Some(query),
                State::Searches(query, _) => Some(query),
            };
            assert_eq!(handler.query, query, "handler {number}");
            assert_eq!(handler.is_idle(), *state == State::Asleep);
        }
        self.check_wakes(is_withdrawal);
    }

    /// No idle handler sleeps beside work that it would take, unless one that is on its way to the board will wake it.
    fn check_wakes(&self, is_withdrawal: bool) {
        if self.handlers.contains(&State::Woken) {
            return;
        }
        let Some(idle) = self.handlers.iter().position(|one| *one == State::Asleep) else {
            return;
        };
        assert_eq!(self.board.claimable_count(), 0, "a lost wake-up");
        // A withdrawal raises the degree of others, which the next range end notices.
        // Degrees that grow with time are looked at when ranges end, too.
        let name = self.board.policy().name();
        let grows = ["few-to-many", "target", "help-and-yield:"];
        let is_helped = !grows.iter().any(|one| name.starts_with(one));
        if is_helped && !is_withdrawal && self.board.now_ns() == self.now_ns {
            let turn = self.board.policy().turn(idle, &self.board);
            assert_eq!(turn, Turn::Rest, "a helper sleeps");
        }
    }
}
