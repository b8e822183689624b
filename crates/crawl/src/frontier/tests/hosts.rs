//! Hosts: robots.txt before pages, waits, shared addresses, hosts of our own.
use super::driver::{HOUR, START, fetched, free, link, open, small};
use crate::frontier::{
    FrontierOptions, Next, Notice, Permission, RobotsAnswer, RobotsOutcome, VisitKind, WaitReason,
    Waiting,
};
use crate::politeness::TimeMs;
use vfs::MemoryStorage;

const URL: &str = "http://a.example/p";

#[test]
fn robots_come_first_and_a_page_waits_for_them() {
    let mut frontier = open(&MemoryStorage::new(), small(), START);
    frontier.discover(&link(URL), START).expect("discovers");
    let Next::Visit(robots) = frontier.next(START).expect("next") else {
        panic!("robots first")
    };
    assert_eq!(
        (robots.kind, robots.url.as_str()),
        (VisitKind::Robots, "http://a.example/robots.txt")
    );
    assert_eq!(
        frontier.next(START).expect("next"),
        Next::Wait {
            until: TimeMs::NEVER
        }
    );
    let mut answer = RobotsAnswer {
        outcome: RobotsOutcome::WaitUntil(START.plus_ms(HOUR)),
        throttled: None,
        took_ms: 10,
        source: b"User-agent: *",
    };
    frontier.robots(robots.id, &answer, START).expect("robots");
    assert_eq!(
        frontier.next(START).expect("next"),
        Next::Wait {
            until: START.plus_ms(HOUR)
        }
    );
    let later = START.plus_ms(HOUR);
    let Next::Visit(robots) = frontier.next(later).expect("next") else {
        panic!("robots again")
    };
    answer.outcome = RobotsOutcome::Rules {
        crawl_delay_s: Some(301.0),
        valid_until: later.plus_ms(2 * HOUR),
    };
    let notice = frontier.robots(robots.id, &answer, later).expect("robots");
    assert!(matches!(notice, Some(Notice::HostParked { .. })));
    assert!(frontier.explain(URL).expect("known").host_parked);
    let until = later.plus_ms(2 * HOUR);
    assert_eq!(frontier.next(later).expect("next"), Next::Wait { until });
    assert_eq!(
        frontier.robots_source("http://a.example"),
        Some(b"User-agent: *".to_vec())
    );
    let Next::Visit(robots) = frontier.next(until).expect("next") else {
        panic!("robots again")
    };
    answer.outcome = RobotsOutcome::Rules {
        crawl_delay_s: Some(9.0),
        valid_until: until.plus_ms(99 * HOUR),
    };
    frontier.robots(robots.id, &answer, until).expect("robots");
    assert_eq!(
        frontier.next(until).expect("next"),
        Next::Wait {
            until: until.plus_ms(9_000)
        }
    );
    let Next::Visit(page) = frontier.next(until.plus_ms(9_000)).expect("next") else {
        panic!("page")
    };
    assert_eq!(page.url, URL);
}

#[test]
fn hosts_that_wait_longest_are_named_first() {
    let mut frontier = open(&MemoryStorage::new(), small(), START);
    assert_eq!(frontier.waiting(START, 5), []);
    for (host, wait_ms) in [("a", HOUR), ("b", 3 * HOUR), ("c", 2 * HOUR)] {
        let url = format!("http://{host}.example/");
        frontier.discover(&link(&url), START).expect("discovers");
        let Next::Visit(robots) = frontier.next(START).expect("next") else {
            panic!("robots first")
        };
        let answer = RobotsAnswer {
            outcome: RobotsOutcome::WaitUntil(START.plus_ms(wait_ms)),
            throttled: None,
            took_ms: 10,
            source: b"",
        };
        frontier.robots(robots.id, &answer, START).expect("robots");
    }
    let waiting = |host: &str, hours| Waiting {
        origin: format!("http://{host}.example"),
        until: START.plus_ms(hours * HOUR),
        reason: WaitReason::Robots,
    };
    let all = [waiting("b", 3), waiting("c", 2), waiting("a", 1)];
    assert_eq!(frontier.waiting(START, 5), all);
    assert_eq!(frontier.waiting(START, 2), all[..2]);
    assert_eq!(frontier.waiting(START, 0), []);
    assert_eq!(frontier.waiting(START.plus_ms(2 * HOUR), 5), all[..1]);
    assert_eq!(frontier.counts(START).hosts_waiting, 3);
    // They hold up no run.
    assert_eq!(frontier.next_of_readable(), None);
    frontier
        .discover(&link("http://d.example/"), START)
        .expect("discovers");
    assert_eq!(frontier.next_of_readable(), Some(START));
}

#[test]
fn an_address_serves_one_host_at_a_time() {
    let mut frontier = open(&MemoryStorage::new(), small(), START);
    let address = "192.0.2.1".parse().expect("an address");
    frontier
        .discover(&link("http://a.example/"), START)
        .expect("discovers");
    frontier
        .discover(&link("http://b.example/"), START)
        .expect("discovers");
    let Next::Visit(first) = frontier.next(START).expect("next") else {
        panic!("a visit")
    };
    let Next::Visit(second) = frontier.next(START).expect("next") else {
        panic!("a visit")
    };
    assert_eq!(frontier.resolved(first.id, address, START), Permission::Go);
    assert_eq!(
        frontier.resolved(second.id, address, START),
        Permission::Later
    );
    assert_eq!(
        frontier.next(START).expect("next"),
        Next::Wait {
            until: TimeMs::NEVER
        }
    );
    free(&mut frontier, first.id, START.plus_ms(20));
    let until = START.plus_ms(520);
    assert_eq!(
        frontier.next(START.plus_ms(20)).expect("next"),
        Next::Wait { until }
    );
    let Next::Visit(third) = frontier.next(until).expect("next") else {
        panic!("a visit")
    };
    // The host that waits longest comes first.
    assert_eq!(third.origin, second.origin);
    assert_eq!(frontier.resolved(third.id, address, until), Permission::Go);
}

#[test]
fn hosts_of_our_own_have_eight_in_flight_and_no_gap() {
    let options = FrontierOptions {
        owned: vec!["http://a.example".into()],
        queue_urls_max: 100,
        ..small()
    };
    let mut frontier = open(&MemoryStorage::new(), options, START);
    for page in 0..200 {
        frontier
            .discover(&link(&format!("http://a.example/{page}")), START)
            .expect("discovers");
    }
    let Next::Visit(robots) = frontier.next(START).expect("next") else {
        panic!("robots")
    };
    free(&mut frontier, robots.id, START);
    let (mut most, mut visits) = (0, 0);
    let mut flying = std::collections::VecDeque::new();
    loop {
        match frontier.next(START).expect("next") {
            Next::Visit(visit) => {
                flying.push_back(visit.id);
                most = most.max(flying.len());
                visits += 1;
            }
            Next::Wait { .. } if flying.is_empty() => break,
            Next::Wait { .. } => {
                let id = flying.pop_front().expect("in flight");
                frontier
                    .finished(id, &fetched(u128::from(id.0), 20), START)
                    .expect("finishes");
            }
            Next::Idle => panic!("pages are due again later"),
        }
    }
    assert_eq!((most, visits), (8, 200));
}
