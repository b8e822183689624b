//! Decisions of each policy on small boards.

use schedule::board::{
    Arrival, Board, Give, Learnt, Load, QueryId, Seen, Start, Turn, Visit, policy_named,
};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// Returns a board of equal handlers.
fn board(policy: &str, handlers: usize) -> Board {
    Board::new(policy_named(policy).unwrap(), &vec![1.0; handlers])
}

/// Puts a query on the board.
fn arrive(board: &mut Board, at_ns: u64, likely_ns: u64) -> QueryId {
    arrive_until(board, at_ns, likely_ns, u64::MAX)
}

fn arrive_until(board: &mut Board, at_ns: u64, likely_ns: u64, deadline_ns: u64) -> QueryId {
    board.arrive(Arrival {
        arrived_ns: at_ns,
        deadline_ns,
        likely_ns: Some(likely_ns),
    })
}

/// Lets a handler begin its next query, and cuts it into `ranges` of which it takes one.
fn begin(board: &mut Board, at_ns: u64, handler: usize, ranges: u32) -> QueryId {
    let Turn::Begin(id) = board.turn(at_ns, handler) else {
        panic!("nothing to begin");
    };
    let likely_ns = board.query(id).unwrap().left_ns();
    board.start(id, likely_ns);
    board.open(at_ns, id, ranges, 0);
    board.query(id).unwrap().progress.range_taken(ranges - 1);
    id
}

/// Returns how a query of `likely_ns` starts with `claimable` others and `idle` handlers, of 8.
fn started(policy: &str, likely_ns: u64, claimable: usize, idle: usize) -> Start {
    let mut board = board(policy, 8);
    let id = arrive(&mut board, 0, likely_ns);
    let load = Load {
        claimable,
        idle,
        handlers: 8,
    };
    (board.policy()).begins(board.query(id).unwrap(), &load)
}

fn visit(is_owner: bool, left_ns: u64) -> Visit {
    Visit {
        now_ns: 10 * MS,
        is_owner,
        arrived_ns: 0,
        left_ns,
        join_ns: 0,
        stay_ns: u64::MAX,
        deadline_ns: u64::MAX,
        urgent_ns: u64::MAX,
    }
}

/// Signals with one query that waits with `least_left_ns`; none if it is `u64::MAX`.
fn seen(least_left_ns: u64) -> Seen {
    Seen {
        claimable: u32::from(least_left_ns < u64::MAX),
        idle: 0,
        least_key: least_left_ns,
        urgent_at_ns: u64::MAX,
        decay_per_ns: 0.0,
        is_called: false,
    }
}

#[test]
fn a_guest_begins_in_the_place_of_an_idle_handler_where_nothing_else_waits() {
    let mut board = board("help-if-idle", 2);
    let first = arrive(&mut board, 0, MS);
    assert_eq!(board.begin_in_place(0, first), Some(0));
    assert_eq!(board.query(first).unwrap().hands, 1);
    assert_eq!(board.idle_count(), 1);
    let second = arrive(&mut board, 1, MS);
    assert_eq!(board.begin_in_place(1, second), Some(1));
    // Nobody idles.
    let third = arrive(&mut board, 2, MS);
    assert_eq!(board.begin_in_place(2, third), None);
    assert_eq!(board.leave(3, 0, true), schedule::board::Left::Finished);
    board.rests(3, 0);
    assert_eq!(board.wake(3), Some(0));
    // What waits goes first.
    let fourth = arrive(&mut board, 4, MS);
    assert_eq!(board.begin_in_place(4, fourth), None);
    assert_eq!(board.turn(5, 0), Turn::Begin(third));
}

#[test]
fn a_guest_leaves_the_rest_of_a_long_query_to_a_handler() {
    for policy in ["help-if-idle", "fifo:1", "boost"] {
        let mut board = board(policy, 1);
        let id = arrive(&mut board, 0, MS);
        assert_eq!(board.begin_in_place(0, id), Some(0));
        board.start(id, 9 * MS);
        assert_eq!(board.leave(MS, 0, false), schedule::board::Left::Parked);
        board.rests(MS, 0);
        assert_eq!(board.wake(MS), Some(0), "{policy}");
        assert_eq!(board.turn(MS, 0), Turn::Resume(id), "{policy}");
    }
}

#[test]
fn order_of_arrival_never_helps_with_degree_one_and_helps_first_with_more() {
    for (policy, expected) in [("fifo:1", false), ("fifo:2", true)] {
        let mut board = board(policy, 4);
        let long = arrive(&mut board, 0, 8 * MS);
        let short = arrive(&mut board, 1, MS / 10);
        assert_eq!(begin(&mut board, 10, 0, 50), long);
        let next = if expected {
            Turn::Help(long)
        } else {
            Turn::Begin(short)
        };
        assert_eq!(board.turn(20, 1), next);
        // Two are enough.
        let next = if expected {
            Turn::Begin(short)
        } else {
            Turn::Rest
        };
        assert_eq!(board.turn(30, 2), next);
        assert!(board.policy().stays(&visit(false, 8 * MS), &seen(US)));
    }
    assert_eq!(started("fifo:1", 8 * MS, 0, 7), Start::WHOLE);
    assert_eq!(started("fifo:4", 8 * MS, 0, 7).degree_max, 4);
}

#[test]
fn idle_handlers_are_shared_with_those_that_wait() {
    assert_eq!(started("idle-share", 8 * MS, 0, 7).degree_max, 8);
    assert_eq!(started("idle-share", 8 * MS, 1, 7).degree_max, 4);
    assert_eq!(started("idle-share:2", 8 * MS, 0, 7).degree_max, 2);
    assert_eq!(started("idle-share", 8 * MS, 9, 7), Start::WHOLE);
}

#[test]
fn adaptive_degrees_fall_with_the_queue_and_with_the_ranges() {
    assert_eq!(started("adaptive", 8 * MS, 0, 7).degree_max, 8);
    assert_eq!(started("adaptive", 8 * MS, 100, 0), Start::WHOLE);
    // (1 + K·P/8) / (0.1 + 0.9·P) falls with P for K up to 72, and rises beyond.
    assert_eq!(started("adaptive", 8 * MS, 71, 0).degree_max, 8);
    assert_eq!(started("adaptive", 8 * MS, 73, 0), Start::WHOLE);
    // Two ranges occupy two handlers.
    assert_eq!(started("adaptive", 250 * US, 0, 7).degree_max, 2);
}

#[test]
fn shortest_and_earliest_go_first() {
    for (policy, expected) in [("sjf", 2), ("earliest-deadline", 1), ("fifo", 0)] {
        let mut board = board(policy, 1);
        let ids = [
            arrive_until(&mut board, 0, 5 * MS, 90 * MS),
            arrive_until(&mut board, 1, 4 * MS, 50 * MS),
            arrive_until(&mut board, 2, 3 * MS, 70 * MS),
        ];
        assert_eq!(board.turn(3, 0), Turn::Begin(ids[expected]), "{policy}");
    }
}

#[test]
fn least_left_goes_first_whether_it_waits_or_is_parked() {
    let mut board = board("least-left", 1);
    let long = arrive(&mut board, 0, 10 * MS);
    assert_eq!(begin(&mut board, 0, 0, 10), long);
    let progress = board.query(long).unwrap().progress.clone();
    progress.range_done(MS);
    let middle = arrive(&mut board, MS, 2 * MS);
    board.leave(MS, 0, false);
    assert_eq!(board.turn(MS, 0), Turn::Begin(middle));
    board.leave(2 * MS, 0, true);
    // Nine ranges of 1 ms are left of the long one.
    let longer = arrive(&mut board, 2 * MS, 9 * MS + 1);
    assert_eq!(board.turn(2 * MS, 0), Turn::Resume(long));
    progress.range_taken(0);
    board.leave(11 * MS, 0, true);
    assert_eq!(board.turn(11 * MS, 0), Turn::Begin(longer));
}

#[test]
fn owners_park_for_queries_of_less_than_half_their_time() {
    let policy = policy_named("least-left").unwrap();
    let stays = |left_ns, waiting_ns| policy.stays(&visit(true, left_ns), &seen(waiting_ns));
    assert!(stays(10 * MS, u64::MAX));
    assert!(stays(2 * MS, MS));
    assert!(!stays(2 * MS + 1, MS));
    // A helper leaves as soon as any query waits.
    assert!(policy.stays(&visit(false, 2 * MS), &seen(u64::MAX)));
    assert!(!policy.stays(&visit(false, MS), &seen(10 * MS)));
    // A query near its deadline, or overdue, is not parked; one that waits and is overdue goes first.
    let near = Visit {
        deadline_ns: 18 * MS,
        ..visit(true, 2 * MS)
    };
    assert!(policy.stays(&near, &seen(US)));
    let overdue = Visit {
        urgent_ns: 10 * MS,
        ..visit(true, 10 * MS)
    };
    assert!(policy.stays(&overdue, &seen(US)));
    let mut urgent = seen(10 * MS);
    urgent.urgent_at_ns = 10 * MS;
    assert!(!policy.stays(&visit(true, MS), &urgent));
    assert!(policy.stays(&overdue, &urgent));
}

#[test]
fn urgent_queries_go_before_shorter_ones() {
    let mut board = board("least-left", 1).parked_max_ns(5 * MS);
    let long = arrive(&mut board, 0, 20 * MS);
    let short = arrive(&mut board, 4 * MS, MS);
    assert_eq!(board.policy().turn(0, &board), Turn::Begin(short));
    let pressed = arrive_until(&mut board, 4 * MS, 2 * MS, 7 * MS);
    assert_eq!(board.turn(4 * MS, 0), Turn::Begin(pressed));
    board.leave(6 * MS, 0, true);
    assert_eq!(board.turn(6 * MS, 0), Turn::Begin(long));
}

#[test]
fn the_oldest_query_is_helped_if_that_shortens_it() {
    let mut board = board("least-left", 4);
    let old = arrive(&mut board, 0, MS);
    assert_eq!(begin(&mut board, 0, 0, 7), old);
    let young = arrive(&mut board, 1, 9 * MS);
    assert_eq!(begin(&mut board, 1, 1, 60), young);
    assert_eq!(board.wake(2), Some(2));
    assert_eq!(board.turn(32 * US, 2), Turn::Help(old));
    // 1 ms is worth two handlers and, for one that sleeps, not a third; 9 ms are.
    assert!(board.learnt().worth_ns(2, false) < MS);
    assert_eq!(board.turn(33 * US, 3), Turn::Help(old));
    board.leave(34 * US, 3, false);
    board.learn(Learnt {
        join_ns: 120.0 * US as f64,
        ..Learnt::default()
    });
    assert_eq!(board.turn(35 * US, 3), Turn::Help(young));
    board.leave(36 * US, 3, false);
    board.learn(Learnt {
        efficiency: 0.5,
        ..Learnt::default()
    });
    assert_eq!(board.turn(37 * US, 3), Turn::Rest);
    // And nobody helps where only order is wanted.
    assert_eq!(started("least-left:alone", 9 * MS, 0, 7).degree_max, 1);
}

#[test]
fn help_comes_after_a_time_or_at_once_for_long_predictions() {
    let turn = |policy: &str, likely_ns, now_ns| {
        let mut board = board(policy, 2);
        arrive(&mut board, 0, likely_ns);
        begin(&mut board, 0, 0, 20);
        board.turn(now_ns, 1)
    };
    assert_eq!(turn("help-and-yield", MS, US), Turn::Help(0));
    assert_eq!(turn("help-and-yield:300us", MS, 299 * US), Turn::Rest);
    assert_eq!(turn("help-and-yield:300us", MS, 300 * US), Turn::Help(0));
    let both = "help-and-yield:300us,500us";
    assert_eq!(turn(both, 501 * US, US), Turn::Help(0));
    assert_eq!(turn(both, 500 * US, US), Turn::Rest);
    assert_eq!(turn("few-to-many:1ms", 5 * MS, MS - 1), Turn::Rest);
    // A second query on the board would double the interval of two handlers.
    assert_eq!(turn("few-to-many:1ms", 5 * MS, MS), Turn::Help(0));
    let policy = policy_named("help-and-yield").unwrap();
    assert!(policy.stays(&visit(true, 9 * MS), &seen(US)));
    assert!(!policy.stays(&visit(false, 9 * MS), &seen(US)));
}

#[test]
fn a_half_is_for_idle_handlers_while_nothing_waits() {
    let policy = policy_named("help-if-idle").unwrap();
    let beside = |claimable, idle| Seen {
        claimable,
        idle,
        ..seen(US)
    };
    assert!(started("help-if-idle", MS, 1, 0).is_on_request());
    assert_eq!(policy.gives(true, &beside(0, 1)), Give::Half);
    assert_eq!(policy.gives(false, &beside(0, 1)), Give::Half);
    assert_eq!(policy.gives(true, &beside(0, 0)), Give::Nothing);
    assert_eq!(policy.gives(true, &beside(1, 1)), Give::Nothing);
    assert_eq!(policy.gives(false, &beside(1, 1)), Give::All);
    assert!(!policy.stays(&visit(false, 9 * MS), &seen(US)));
}

#[test]
fn a_half_is_given_where_a_further_handler_shortens_the_query() {
    let mut board = board("help-if-idle", 2);
    board.turn(0, 1);
    let id = arrive(&mut board, 0, 9 * MS);
    board.turn(0, 0);
    board.start(id, 9 * MS);
    assert!(!board.shares(0, id, 100 * US));
    // The first query is none of the control.
    assert!(board.shares(0, id, 4 * MS));
    board.open(0, id, 1, 0);
    assert_eq!(board.wake(0), Some(1));
    assert_eq!(board.turn(0, 1), Turn::Help(id));
    // The part is taken, and no handler idles.
    assert_eq!(board.query(id).unwrap().progress.live(), 0);
    assert!(!board.shares(0, id, 4 * MS));
}

#[test]
fn one_of_sixteen_queries_is_not_helped() {
    let mut board = board("help-if-idle", 2);
    board.turn(0, 1);
    let mut helped_count = 0;
    for number in 0..1600 {
        let now_ns = number * 1000 * MS;
        let id = arrive(&mut board, now_ns, 9 * MS);
        board.turn(now_ns, 0);
        board.start(id, 9 * MS);
        helped_count += u32::from(board.shares(now_ns, id, 4 * MS));
        board.leave(now_ns, 0, true);
    }
    assert!((1450..1550).contains(&helped_count), "{helped_count}");
}

#[test]
fn targets_are_met_with_the_least_degree() {
    let helped = |likely_ns| {
        let mut board = board("target:10ms", 8);
        arrive(&mut board, 0, likely_ns);
        begin(&mut board, 0, 0, 200);
        let turns = (1..8).filter(|&handler| board.turn(0, handler) != Turn::Rest);
        turns.count()
    };
    assert_eq!(helped(10 * MS), 0);
    // 19 ms on two handlers with 1.9 of the work of one take 10 ms.
    assert_eq!(helped(19 * MS), 1);
    assert_eq!(helped(20 * MS), 2);
    assert_eq!(helped(900 * MS), 7);
}

#[test]
fn long_queries_swap_with_younger_ones_on_fast_handlers() {
    let policy = policy_named("hurry-up:1ms,2ms").unwrap();
    let mut board = Board::new(policy, &[1.0, 0.3, 0.3]);
    for at_ns in [0, 1, 2] {
        arrive(&mut board, at_ns, 9 * MS);
    }
    // The oldest begins on a little handler, the youngest on the big one.
    let old = begin(&mut board, 2, 1, 60);
    begin(&mut board, 2 * MS - 1, 2, 60);
    let young = begin(&mut board, 2 * MS, 0, 60);
    assert!(board.swap(2 * MS).is_empty());
    assert!(!board.signals().seen(1).is_called);
    assert!(board.swap(3 * MS).is_empty());
    assert!(board.signals().seen(1).is_called && board.signals().seen(0).is_called);
    assert!(!board.signals().seen(2).is_called);
    assert!(
        !board
            .policy()
            .stays(&visit(true, MS), &board.signals().seen(0))
    );
    // Whoever comes first meets the other there and owns the query all the same.
    board.leave(3 * MS, 0, false);
    assert_eq!(board.turn(3 * MS, 0), Turn::Help(old));
    assert!(board.handlers()[0].is_owner);
    board.leave(4 * MS, 1, false);
    assert_eq!(board.turn(4 * MS, 1), Turn::Resume(young));
    // An older query on the big handler stays there.
    assert!(board.swap(9 * MS).is_empty());
    assert!(!board.signals().seen(0).is_called);
}

#[test]
fn a_query_that_was_hardly_joined_is_parked_for_an_urgent_one_alone() {
    for policy in ["least-left", "boost"] {
        let policy = policy_named(policy).unwrap();
        let short = Seen {
            claimable: 1,
            idle: 0,
            least_key: 10 * US,
            urgent_at_ns: u64::MAX,
            decay_per_ns: 1e-6,
            is_called: false,
        };
        let of_stay = |stay_ns| Visit {
            join_ns: 100 * US,
            stay_ns,
            ..visit(true, 20 * MS)
        };
        assert!(
            policy.stays(&of_stay(399 * US), &short),
            "{}",
            policy.name()
        );
        assert!(
            !policy.stays(&of_stay(400 * US), &short),
            "{}",
            policy.name()
        );
        let urgent = Seen {
            urgent_at_ns: 9 * MS,
            ..short
        };
        assert!(!policy.stays(&of_stay(0), &urgent), "{}", policy.name());
    }
}
