//! Properties of every policy on random scripts.

use crate::world::{Step, World};
use proptest::prelude::*;
use schedule::board::script::{Event, play_all};
use schedule::board::{Board, Policy, policy_named};
use std::sync::Arc;

const POLICIES: [&str; 16] = [
    "help-if-idle",
    "boost",
    "least-left",
    "least-left:alone",
    "help-and-yield",
    "help-and-yield:300us,500us",
    "fifo",
    "fifo:2",
    "fifo:8",
    "idle-share",
    "adaptive",
    "few-to-many:200us",
    "target:1ms",
    "sjf",
    "earliest-deadline",
    "hurry-up:100us,200us",
];

fn policies() -> impl Strategy<Value = Arc<dyn Policy>> {
    (0..POLICIES.len()).prop_map(|number| policy_named(POLICIES[number]).unwrap())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (any::<u8>(), any::<u16>(), 0u32..200_000).prop_map(|(kind, pick, after_ns)| Step {
        kind,
        pick,
        after_ns,
    });
    prop::collection::vec(step, 0..400)
}

fn speeds() -> impl Strategy<Value = Vec<f64>> {
    (1usize..7, 0usize..4).prop_map(|(big, little)| {
        let mut speeds = vec![1.0; big];
        speeds.resize(big + little, 0.4);
        speeds
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The world checks its invariants after each step.
    #[test]
    fn every_query_ends_once_and_no_wake_up_is_lost(
        policy in policies(), speeds in speeds(), steps in steps()
    ) {
        let mut world = World::new(&policy, &speeds);
        for step in steps {
            world.step(step);
        }
        world.drain();
        prop_assert_eq!(world.arrived, world.ended);
        prop_assert_eq!(world.board.queries_count(), 0);
        prop_assert_eq!(world.board.claimable_ns(), 0);
    }

    #[test]
    fn the_same_script_gives_the_same_log(
        policy in policies(), speeds in speeds(), steps in steps()
    ) {
        let mut world = World::new(&policy, &speeds);
        for step in steps {
            world.step(step);
        }
        let events: Vec<Event> = world.records.iter().map(|one| one.event).collect();
        let mut board = Board::new(policy, &speeds).parked_max_ns(2_000_000);
        let again = play_all(&mut board, events);
        for (number, (ours, theirs)) in again.iter().zip(&world.records).enumerate() {
            prop_assert_eq!(ours, theirs, "event {}", number);
            prop_assert_eq!(ours.to_string(), theirs.to_string());
        }
    }
}

/// The worlds above do give parts away.
#[test]
fn idle_handlers_are_given_parts() {
    let policy = policy_named("help-if-idle").unwrap();
    let mut world = World::new(&policy, &[1.0; 4]);
    for number in 0..2_000_u64 {
        // Weyl sequence and a multiplication (Steele et al. 2014).
        let mixed =
            (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        world.step(Step {
            kind: (mixed >> 56) as u8 | 2,
            pick: (mixed >> 40) as u16,
            after_ns: 5_000,
        });
        if number % 40 == 0 {
            world.step(Step {
                kind: 0,
                pick: (mixed >> 24) as u16,
                after_ns: 0,
            });
        }
    }
    world.drain();
    assert_eq!(world.arrived, world.ended);
    assert!(world.given > 20, "{} parts given", world.given);
}
