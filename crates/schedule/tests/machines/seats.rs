//! Choice of the handler to wake on recorded machines: fast, on a core of its own, near.

use crate::recorded::{MACHINES, machine};
use proptest::prelude::*;
use schedule::board::{Arrival, Board, Learnt, PolicyChoice, Seat, Turn};
use schedule::{CpuSet, CpuTopology, Placement, PlacementRequest, place};
use std::sync::Arc;

const MS: u64 = 1_000_000;

/// The board of a partition with a handler on every context, or on those of a list, and what is known of each.
fn seated(topology: &CpuTopology, cpus: Option<CpuSet>) -> (Board, Vec<Seat>, Vec<f64>) {
    let request = PlacementRequest {
        placement: Placement::Data,
        smt: true,
        handlers: cpus.as_ref().unwrap_or(&topology.allowed).len(),
        cpus,
        partitions: 1,
    };
    let places = place(topology, &request).unwrap();
    let seats = places
        .handlers
        .iter()
        .map(|place| Seat::of(topology, &place.cpus));
    let seats: Vec<Seat> = seats
        .map(|seat| seat.expect("a pinned handler has a seat"))
        .collect();
    let speed = |cpu| match topology.context(cpu).unwrap() {
        context if context.speed_class == 0 => 1.0,
        context => f64::from(context.capacity.unwrap_or(1024)) / 1024.0,
    };
    let cpus = places
        .handlers
        .iter()
        .map(|place| place.cpus.first().unwrap());
    let speeds: Vec<f64> = cpus.map(speed).collect();
    let policy: PolicyChoice = "help-and-yield".parse().unwrap();
    let board = Board::new(Arc::clone(policy.policy()), &speeds).seated(seats.clone());
    (board, seats, speeds)
}

fn arrive(board: &mut Board) -> usize {
    board.arrive(Arrival {
        arrived_ns: board.now_ns(),
        deadline_ns: u64::MAX,
        likely_ns: Some(20 * MS),
    })
}

/// Lets a handler begin a query that arrives, and cuts it.
fn begin(board: &mut Board, handler: usize, likely_ns: u64) -> usize {
    let id = arrive(board);
    assert_eq!(board.turn(1, handler), Turn::Begin(id));
    let start = board.start(id, likely_ns);
    board.open(2, id, start.ranges(likely_ns), 0);
    id
}

#[test]
fn siblings_of_busy_cores_help_last_and_other_nodes_only_with_long_queries() {
    // Two sockets, each a node, of eight cores with two contexts: handlers 2n and 2n + 1 are siblings.
    let topology = machine("two-sockets");
    let (mut board, seats, _) = seated(&topology, None);
    assert_eq!(seats[0].core, seats[1].core);
    begin(&mut board, 0, 20 * MS);
    let mut woken = Vec::new();
    while let Some(helper) = board.wake(3) {
        woken.push(helper);
        assert_eq!(board.turn(4, helper), Turn::Help(0));
    }
    let on_node = |handlers: &[usize], node: usize| {
        handlers
            .iter()
            .all(|&one| seats[one].node == seats[node].node)
    };
    // The seven other cores of the node, then the other node, then siblings, until another one does not pay any more.
    assert_eq!(woken[..7], [2, 4, 6, 8, 10, 12, 14]);
    assert!(on_node(&woken[..7], 0));
    let is_sibling = |at: usize| {
        let mut before = woken[..at].iter().chain(&[0]);
        before.any(|&other| seats[other].core == seats[woken[at]].core)
    };
    let siblings: Vec<bool> = (0..woken.len()).map(is_sibling).collect();
    assert_eq!(siblings.iter().position(|&one| one), Some(15), "{woken:?}");
    assert!(siblings.is_sorted(), "{woken:?}");
    // 0.9 ms are helped on the node alone.
    let (mut board, ..) = seated(&topology, None);
    board.learn(Learnt {
        wake_ns: 0.0,
        join_ns: 1_000.0,
        ..Learnt::default()
    });
    begin(&mut board, 16, 900_000);
    while let Some(helper) = board.wake(3) {
        assert_eq!(seats[helper].node, seats[16].node, "from another node");
        assert_eq!(board.turn(4, helper), Turn::Help(0));
    }
}

#[test]
fn the_sibling_of_the_only_busy_core_helps_with_a_query_that_is_long_enough() {
    let topology = machine("two-sockets");
    let siblings: CpuSet = "0,16".parse().unwrap();
    for (likely_ns, helps) in [(300_000, false), (500_000, true)] {
        let (mut board, ..) = seated(&topology, Some(siblings.clone()));
        begin(&mut board, 0, likely_ns);
        // 2 (32 + 5) µs × 1.27 / 0.27 = 348 µs.
        assert_eq!(board.wake(3).is_some(), helps, "{likely_ns}");
    }
}

proptest! {
    /// Whoever is busy: the woken handler is among the fastest idle ones, on a core without another handler at work if such
    /// a core has one of its speed, and nobody idle is nearer to the query that it helps.
    #[test]
    fn no_better_handler_stays_asleep(
        at in 0..MACHINES.len(),
        busy in prop::collection::vec(any::<bool>(), 64),
        helps in any::<bool>(),
    ) {
        let topology = machine(MACHINES[at].0);
        let (mut board, seats, speeds) = seated(&topology, None);
        let count = seats.len();
        let owner = (0..count).find(|&one| busy[one]);
        // Short queries first, which nobody helps.
        for handler in (0..count).filter(|&one| busy[one] && Some(one) != owner) {
            begin(&mut board, handler, 1_000);
        }
        let expected = match (helps, owner) {
            (true, Some(owner)) => Turn::Help(begin(&mut board, owner, 5_000 * MS)),
            _ => Turn::Begin(arrive(&mut board)),
        };
        let idle: Vec<usize> = (0..count)
            .filter(|&one| board.handlers()[one].is_idle())
            .collect();
        let shares = |one: usize| {
            (0..count).any(|other| !idle.contains(&other) && seats[other].core == seats[one].core)
        };
        let woken = board.wake(5);
        prop_assert_eq!(woken.is_none(), idle.is_empty());
        let Some(woken) = woken else { return Ok(()) };
        prop_assert!(idle.contains(&woken));
        for &other in &idle {
            prop_assert!(speeds[other] <= speeds[woken]);
            if speeds[other] == speeds[woken] {
                prop_assert!(!shares(woken) || shares(other), "{} shares a core", woken);
                let far = |one: usize| match (expected, owner) {
                    (Turn::Help(_), Some(owner)) => {
                        let (one, owner) = (&seats[one], &seats[owner]);
                        (one.cache != owner.cache, one.node != owner.node)
                    }
                    _ => (false, false),
                };
                prop_assert!(shares(woken) != shares(other) || far(woken) <= far(other));
            }
        }
        prop_assert_eq!(board.turn(6, woken), expected);
    }
}
