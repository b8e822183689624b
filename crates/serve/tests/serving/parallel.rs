//! Searches that handlers share, leave and resume in any order: the answers of one handler.

use crate::corpus::{Searched, document, index};
use index::Index;
use schedule::board::{Board, Entry, Give, Load, Policy, PolicyChoice, Seen, Start, Turn, Visit};
use serve::{
    Cluster, FrontEnd, FrontEndOptions, Generations, HandlerOptions, SearchOptions, Topology,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use wire::schedule::{End, Role};
use wire::{PhaseTimes, SearchAnswer};

/// Policy that decides by chance: it takes any query that waits, helps any that it may, and leaves at any end of a range.
#[derive(Debug)]
struct ByChance(AtomicU64);

impl ByChance {
    fn below(&self, below: u64) -> u64 {
        // Weyl sequence and a multiplication (Steele et al. 2014).
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 31) % below
    }
}

impl Policy for ByChance {
    fn name(&self) -> String {
        "by-chance".to_owned()
    }

    fn begins(&self, _query: &Entry, _load: &Load) -> Start {
        // Half of them begin in one piece, of which parts are asked for.
        Start {
            range_ns: match self.below(2) {
                0 => 1 + self.below(2_000),
                _ => u64::MAX,
            },
            degree_max: 1 + self.below(8) as u32,
        }
    }

    fn gives(&self, _is_owner: bool, _seen: &Seen) -> Give {
        match self.below(4) {
            0 => Give::Nothing,
            1 => Give::Half,
            _ => {
                GIVEN_COUNT.fetch_add(1, Relaxed);
                Give::All
            }
        }
    }

    fn stays(&self, _visit: &Visit, _seen: &Seen) -> bool {
        self.below(3) > 0
    }

    fn turn(&self, _handler: usize, board: &Board) -> Turn {
        let waiting = board.claimable_count() as u64;
        if waiting > 0 {
            let chosen = board.claimable().nth(self.below(waiting) as usize);
            return chosen.map_or(Turn::Rest, |one| match one.stage {
                schedule::board::Stage::Waiting => Turn::Begin(one.id),
                _ => Turn::Resume(one.id),
            });
        }
        let helpable: Vec<_> = board.running().filter(|one| one.is_helpable()).collect();
        match helpable.len() as u64 {
            0 => Turn::Rest,
            count => Turn::Help(helpable[self.below(count) as usize].id),
        }
    }

    fn calls_helpers(&self) -> bool {
        true
    }
}

/// Rests of searches that were given away.
static GIVEN_COUNT: AtomicU64 = AtomicU64::new(0);

const QUERIES: [&str; 8] = [
    "alpha",
    "alpha beta",
    "alpha OR beta OR gamma",
    "gamma -delta",
    "\"alpha beta\"",
    "om* zeta",
    "\"alpha beta\" OR zeta OR omega",
    "nothing",
];

/// A front-end before index servers whose handlers follow a policy, with ranges as short as can be.
fn searched(index: &Arc<Index>, handlers: usize, policy: &PolicyChoice) -> Searched {
    let options = HandlerOptions {
        policy: policy.clone(),
        range_postings_min: 0,
        ..HandlerOptions::default()
    };
    let topology = Topology {
        handlers,
        ..Topology::default()
    };
    let generations = Generations::fixed(index.clone());
    let cluster = Cluster::in_process(&generations, &topology, &[], &options).unwrap();
    Searched(FrontEnd::new(cluster, FrontEndOptions::default()))
}

/// Document `n` with words that differ from one document to the next.
fn mixed(n: usize) -> document::Document {
    let words = (n.wrapping_mul(2_654_435_761) >> 7) & 63;
    document(n, (n % 7) as u8, words as u8)
}

/// An answer without its times.
fn timeless(mut answer: SearchAnswer) -> SearchAnswer {
    answer.phases_us = PhaseTimes::default();
    answer
}

fn policies() -> impl Iterator<Item = PolicyChoice> {
    let chance = (0..3).map(|seed| {
        let policy = ByChance(AtomicU64::new(seed));
        PolicyChoice::of(Arc::new(policy))
    });
    let named = [
        "help-if-idle",
        "boost",
        "least-left",
        "fifo:3",
        "idle-share",
        "help-and-yield",
        "adaptive",
        "few-to-many:1us",
        "target:1us",
        "sjf",
        "earliest-deadline",
        "hurry-up",
    ];
    chance.chain(named.map(|name| name.parse().unwrap()))
}

#[test]
fn any_policy_gives_the_answers_of_one_handler() {
    let index = index((0..6_000).map(mixed), 1);
    let alone = searched(&index, 1, &"fifo:1".parse().unwrap());
    for counted in [true, false] {
        let options = SearchOptions {
            returned: engine::Returned {
                counted,
                ..Default::default()
            },
            ..SearchOptions::default()
        };
        let expected = QUERIES.map(|query| timeless(alone.search(query, &options).unwrap()));
        for policy in policies() {
            let shared = searched(&index, 4, &policy);
            std::thread::scope(|scope| {
                for client in 0..6 {
                    let (shared, options, expected, policy) =
                        (&shared, &options, &expected, &policy);
                    scope.spawn(move || {
                        for at in 0..24 {
                            let at = (at * 5 + client) % QUERIES.len();
                            let mut found = timeless(shared.search(QUERIES[at], options).unwrap());
                            if !counted {
                                // A lower bound, which depends on what was skipped.
                                found.total = expected[at].total;
                            }
                            assert_eq!(found, expected[at], "{policy}: {}", QUERIES[at]);
                        }
                    });
                }
            });
        }
    }
    let given_count = GIVEN_COUNT.load(Relaxed);
    assert!(given_count > 100, "{given_count} rests given away");
}

#[test]
fn facets_and_sorted_hits_are_gathered_by_any_handlers() {
    let index = index((0..6_000).map(mixed), 1);
    let alone = searched(&index, 1, &"fifo:1".parse().unwrap());
    let options = ["", "rank:desc"].map(|sort| SearchOptions {
        facets: vec![
            "site:terms:3".into(),
            "day:month".into(),
            "price:stats".into(),
            "site:terms:3{day:month,price:stats}".into(),
        ],
        sort: sort.into(),
        ..SearchOptions::default()
    });
    let ask = |searched: &Searched, query: &str| {
        let answers = (options.iter()).map(|options| searched.search(query, options).unwrap());
        answers.map(timeless).collect::<Vec<_>>()
    };
    let expected = QUERIES.map(|query| ask(&alone, query));
    assert!(!expected[0][0].facets.is_empty() && !expected[0][1].hits[0].sort.is_empty());
    for policy in policies() {
        let shared = searched(&index, 4, &policy);
        std::thread::scope(|scope| {
            for client in 0..4 {
                let (shared, ask, expected, policy) = (&shared, &ask, &expected, &policy);
                scope.spawn(move || {
                    for at in 0..8 {
                        let at = (at * 3 + client) % QUERIES.len();
                        let found = ask(shared, QUERIES[at]);
                        assert_eq!(found, expected[at], "{policy}: {}", QUERIES[at]);
                    }
                });
            }
        });
    }
}

#[test]
fn a_traced_search_says_who_took_its_ranges() {
    let index = index((0..6_000).map(mixed), 1);
    for policy in policies() {
        let shared = searched(&index, 4, &policy);
        let options = SearchOptions {
            trace: true,
            ..SearchOptions::default()
        };
        for round in 0..24 {
            let query = QUERIES[round % 7];
            let answer = shared.search(query, &options).unwrap();
            assert!(!answer.schedule.is_empty(), "{policy}: {query}");
            for schedule in &answer.schedule {
                let visits = &schedule.visits;
                assert_eq!(
                    schedule.ranges_searched() + schedule.ranges_skipped(),
                    schedule.ranges_cut,
                    "{policy}: {query}: {schedule:?}"
                );
                assert_eq!(visits[0].role, Role::Begins);
                let of_role = |role| visits.iter().filter(|one| one.role == role).count();
                let of_end = |end| visits.iter().filter(|one| one.end == end).count();
                assert_eq!(of_role(Role::Begins), 1);
                // Whatever is parked is resumed.
                assert_eq!(of_role(Role::Resumes), of_end(End::Parked), "{schedule:?}");
                assert!(of_end(End::Finished) >= 1 && of_end(End::Stopped) == 0);
                assert!((1..=4).contains(&schedule.degree()), "{schedule:?}");
                let stays = answer.trace.iter().flatten();
                let stays = stays.filter(|one| one.name.starts_with("handler "));
                assert!(stays.count() >= visits.len());
            }
            let times_cpu = answer.phases_us.search_cpu.unwrap();
            let of_visits = answer.schedule.iter().flat_map(|one| &one.visits);
            let cpu_us: u64 = of_visits.filter_map(|visit| visit.cpu_us).sum();
            // Each visit is rounded down.
            assert!(times_cpu >= cpu_us, "{times_cpu} {cpu_us}");
        }
        let untraced = shared.search("alpha", &SearchOptions::default()).unwrap();
        assert!(untraced.schedule.is_empty() && untraced.trace.is_none());
    }
}

#[test]
fn a_search_cut_short_says_so_whoever_worked_on_it() {
    let index = index((0..6_000).map(mixed), 1);
    let alone = searched(&index, 1, &"fifo:1".parse().unwrap());
    let expected =
        QUERIES.map(|query| timeless(alone.search(query, &SearchOptions::default()).unwrap()));
    for policy in policies() {
        let shared = searched(&index, 3, &policy);
        for round in 0..64 {
            let at = round % QUERIES.len();
            let options = SearchOptions {
                timeout: Some(Duration::from_micros(300 + 40 * round as u64)),
                ..SearchOptions::default()
            };
            // Without any time nothing need be found.
            let Ok(found) = shared.search(QUERIES[at], &options) else {
                continue;
            };
            let found = timeless(found);
            if !found.timed_out && found.coverage == 1.0 {
                assert_eq!(found.hits, expected[at].hits, "{policy}: {}", QUERIES[at]);
            }
        }
    }
}
