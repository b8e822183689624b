//! Hosts of other members: their pages are given without a pause, come back when the host is adopted, and stay away
//! otherwise.
use super::driver::{START, link, next_page, open, small};
use crate::frontier::{
    Frontier, FrontierOptions, Next, Outcome, Parked, Permission, State, Visit, VisitKind,
};
use crate::politeness::TimeMs;
use vfs::MemoryStorage;

const ORIGIN: &str = "http://a.example";

fn next(frontier: &mut Frontier, now: TimeMs) -> Visit {
    match frontier.next(now).expect("next") {
        Next::Visit(visit) => *visit,
        other => panic!("{other:?}"),
    }
}

/// Discovers pages of a host, leaves it, and returns the visits of its pages, given at once.
fn left(frontier: &mut Frontier, pages: usize) -> Vec<Visit> {
    for page in 0..pages {
        let url = format!("{ORIGIN}/{page}");
        frontier.discover(&link(&url), START).expect("discovers");
    }
    let robots = next(frontier, START);
    assert_eq!(robots.kind, VisitKind::Robots);
    frontier.leave_host(robots.id).expect("leaves");
    (0..pages).map(|_| next(frontier, START)).collect()
}

fn state(frontier: &mut Frontier, page: usize) -> State {
    let url = format!("{ORIGIN}/{page}");
    frontier.explain(&url).expect("known").record.state
}

#[test]
fn pages_of_a_host_that_is_left_are_given_once_and_again_where_a_change_is_claimed() {
    let disk = MemoryStorage::new();
    let mut frontier = open(&disk, small(), START);
    for visit in left(&mut frontier, 9) {
        assert_eq!(visit.kind, VisitKind::Page);
        frontier
            .handed_over(visit.id, "own", START)
            .expect("handed over");
    }
    assert_eq!(state(&mut frontier, 3), State::Elsewhere);
    frontier.sync().expect("syncs");
    drop(frontier);

    let later = START.plus_ms(3_600_000);
    let mut frontier = open(&disk.power_loss(0), small(), later);
    frontier.again(later).expect("again");
    let mut now = later;
    // The store is looked through for what is due, and has nothing.
    while let Next::Wait { until } = frontier.next(now).expect("next") {
        if until == TimeMs::LATEST {
            break;
        }
        now = until;
    }
    let mut claimed = link("http://a.example/3");
    claimed.modified = Some(later);
    frontier.discover(&claimed, later).expect("discovers");
    now = later;
    let visit = next_page(&mut frontier, &mut now).expect("a page");
    assert_eq!(visit.url, "http://a.example/3");
}

#[test]
fn an_adopted_host_gets_its_pages_back() {
    let disk = MemoryStorage::new();
    let mut frontier = open(&disk, small(), START);
    let visits = left(&mut frontier, 6);
    let (ended, flying) = visits.split_at(4);
    for visit in ended {
        frontier
            .handed_over(visit.id, "own", START)
            .expect("handed over");
    }
    frontier.adopt_host(ORIGIN, "own", START).expect("adopts");
    // These were on their way.
    for visit in flying {
        frontier
            .handed_over(visit.id, "own", START)
            .expect("handed over");
    }
    frontier.sync().expect("syncs");
    drop(frontier);
    let mut frontier = open(&disk.power_loss(0), small(), START);
    assert_eq!(frontier.member_of(ORIGIN).as_deref(), Some("own"));
    let mut now = START;
    let robots = loop {
        match frontier.next(now).expect("next") {
            Next::Visit(visit) => break *visit,
            Next::Wait { until } => now = until,
            Next::Idle => panic!("pages are due"),
        }
    };
    assert_eq!(robots.kind, VisitKind::Robots);
    frontier.returned(robots.id);
    let mut urls = Vec::new();
    while let Some(visit) = next_page(&mut frontier, &mut now) {
        urls.push(visit.url);
        let parked = Outcome::Parked(Parked::Type);
        frontier.finished(visit.id, &parked, now).expect("finishes");
    }
    urls.sort();
    let all: Vec<String> = (0..6).map(|page| format!("{ORIGIN}/{page}")).collect();
    assert_eq!(urls, all);
}

#[test]
fn a_settled_host_stays_settled() {
    let disk = MemoryStorage::new();
    let mut frontier = open(&disk, small(), START);
    assert_eq!(frontier.member_of(ORIGIN), None);
    frontier.settle_host(ORIGIN, "b", START).expect("settles");
    frontier.sync().expect("syncs");
    drop(frontier);
    let mut frontier = open(&disk.power_loss(0), small(), START);
    assert_eq!(frontier.member_of(ORIGIN).as_deref(), Some("b"));
}

#[test]
fn after_a_crash_every_address_waits_even_where_nothing_was_durable() {
    let disk = MemoryStorage::new();
    let address = "192.0.2.1".parse().expect("an address");
    let url = format!("{ORIGIN}/0");
    let visit = |disk: &MemoryStorage| {
        let mut frontier = open(disk, FrontierOptions::default(), START);
        frontier.discover(&link(&url), START).expect("discovers");
        let robots = next(&mut frontier, START);
        frontier.resolved(robots.id, address, START)
    };
    assert_eq!(visit(&disk), Permission::Go);
    let found = disk.power_loss(0);
    assert!(open(&found, small(), START).origins().next().is_none());
    assert_eq!(visit(&found), Permission::Later);
}
