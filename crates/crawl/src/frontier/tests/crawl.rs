//! Simulated crawl in virtual time, judged by its log: every gap kept, little time lost.
use super::driver::{START, fetched, free, link, open};
use crate::frontier::{FrontierOptions, Next, Permission, VisitId, VisitKind};
use crate::politeness::TimeMs;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{IpAddr, Ipv4Addr};
use vfs::MemoryStorage;

const HOSTS: usize = 200;
const SHARED: usize = 50;

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    host: usize,
    url: String,
    start: TimeMs,
    end: TimeMs,
}

fn address(host: usize) -> IpAddr {
    let last = if host < SHARED { 0 } else { host };
    IpAddr::V4(Ipv4Addr::new(10, 0, (last / 256) as u8, (last % 256) as u8))
}

fn took_ms(host: usize) -> u64 {
    20 + (host as u64 * 37) % 700
}

fn crawl(pages: usize) -> Vec<Entry> {
    let mut frontier = open(&MemoryStorage::new(), FrontierOptions::default(), START);
    for host in 0..HOSTS {
        for page in 0..pages {
            let url = format!("http://h{host}.example/{page}");
            frontier.discover(&link(&url), START).expect("discovers");
        }
    }
    let mut log = Vec::new();
    let mut flying: BinaryHeap<Reverse<(TimeMs, VisitId, bool)>> = BinaryHeap::new();
    let (mut now, mut left) = (START, HOSTS * pages);
    while left > 0 {
        while let Some(Reverse((end, id, is_page))) = flying.peek().copied() {
            if end > now {
                break;
            }
            flying.pop();
            if is_page {
                let text = u128::from(id.0);
                frontier
                    .finished(id, &fetched(text, took_of(&log, id)), now)
                    .expect("finishes");
                left -= 1;
            } else {
                free(&mut frontier, id, now);
            }
        }
        match frontier.next(now).expect("next") {
            Next::Visit(visit) => {
                let host = visit.origin[8..]
                    .trim_end_matches(".example")
                    .parse()
                    .expect("a host");
                if frontier.resolved(visit.id, address(host), now) == Permission::Later {
                    continue;
                }
                let is_page = visit.kind == VisitKind::Page;
                let end = now.plus_ms(if is_page { took_ms(host) } else { 20 });
                flying.push(Reverse((end, visit.id, is_page)));
                log.push((
                    visit.id,
                    Entry {
                        host,
                        url: visit.url,
                        start: now,
                        end,
                    },
                ));
            }
            Next::Wait { until } => {
                let end = flying.peek().map_or(TimeMs::NEVER, |flight| flight.0.0);
                now = until.min(end);
            }
            Next::Idle => break,
        }
    }
    log.into_iter().map(|(_, entry)| entry).collect()
}

fn took_of(log: &[(VisitId, Entry)], id: VisitId) -> u64 {
    let entry = log.iter().rev().find(|(visit, _)| *visit == id);
    entry.map_or(0, |(_, entry)| entry.end.since_ms(entry.start))
}

/// Judges visits of one host or address by the law, written down again. Returns the shortest time they can take.
fn judge(visits: &[&Entry]) -> u64 {
    let (mut average_ms, mut least_ms) = (0.0, 0);
    for (at, visit) in visits.iter().enumerate() {
        let took = visit.end.since_ms(visit.start) as f64;
        average_ms = if at == 0 {
            took
        } else {
            average_ms + 0.2 * (took - average_ms)
        };
        let gap_ms = (2.0_f64 * average_ms).clamp(500.0, 30_000.0) as u64;
        least_ms += took as u64 + gap_ms;
        if let Some(next) = visits.get(at + 1) {
            let earliest = visit.end.plus_ms(gap_ms);
            assert!(
                next.start >= earliest,
                "{} began {:?}, not before {earliest:?}",
                next.url,
                next.start
            );
        }
    }
    least_ms
}

#[test]
fn every_gap_is_kept_and_the_crawl_is_near_the_polite_bound() {
    let log = crawl(8);
    let mut by_host: BTreeMap<usize, Vec<&Entry>> = BTreeMap::new();
    let mut by_address: BTreeMap<IpAddr, Vec<&Entry>> = BTreeMap::new();
    for entry in &log {
        by_host.entry(entry.host).or_default().push(entry);
        by_address
            .entry(address(entry.host))
            .or_default()
            .push(entry);
    }
    assert_eq!(log.len(), HOSTS * 9);
    let bound_ms = by_host
        .values()
        .chain(by_address.values())
        .map(|visits| judge(visits))
        .max()
        .unwrap_or(0);
    let last = log.iter().map(|entry| entry.end).max().unwrap_or(START);
    let share = bound_ms as f64 / last.since_ms(START) as f64;
    println!(
        "{} visits, bound {bound_ms} ms, {:.1} % of it reached",
        log.len(),
        100.0 * share
    );
    assert!(share >= 0.95, "{share}");
    assert_eq!(log, crawl(8), "the same crawl has the same log");
}
