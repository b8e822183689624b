//! Judge of the virtual days: the law written down again, kept for each host and address while the log goes by.
//!
//! ```text
//! gap    = max(clamp(2 × average, 0.5 s, 30 s), Crawl-delay)   average: 0.8 of the old, 0.2 of the latest fetch time
//! start >= end of the last visit + gap                         of the host, and of the address (without Crawl-delay)
//! page   : known, due, and robots.txt of the host read in the last day
//! ```
//!
//! Polite bound: an address with a page that is due is visited at the first instant at which the law lets one of its
//! hosts be. A host alone on its address is bound by both clocks. Of the visits in the log an address needs
//! `fetch time + gap` each. It loses the time from the first instant at which a page might have been visited to the
//! visit, and from that instant to the end of the crawl. A page might be visited from its discovery on, and once visited
//! from its due time on, so time in which nothing is known or due counts nowhere.
//!
//! ```text
//! share of an address = needed / (needed + lost)                        mean weighted by visits
//! visits permitted    = visits + sum of lost / (needed / visits)        what would have fitted into the time lost
//! ```
use super::virtual_web::{DAY_MS, Web};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use xxhash_rust::xxh3::Xxh3Default;

/// Release of a page that no page has named, or that is in flight.
const UNKNOWN: u32 = u32::MAX;
const IN_FLIGHT: u32 = u32::MAX - 1;
/// Release after every crawl, in milliseconds: 49 days.
const LATEST: u32 = u32::MAX - 2;

pub(super) struct Judge {
    hosts: Vec<Host>,
    addresses: Vec<Address>,
    /// Time from which each page may be visited; those of a host together.
    releases: Vec<u32>,
    log: Xxh3Default,
    visits: u64,
    host_gaps: Verdict,
    address_gaps: Verdict,
    /// Visits of a host or address that began while one was in flight.
    together: u64,
    /// Pages visited before they were due or known.
    not_due: u64,
    without_robots: u64,
    shared: usize,
    longest_loss_ms: u64,
}

#[derive(Default)]
struct Verdict {
    judged: u64,
    broken: u64,
}

#[derive(Default)]
struct Host {
    clock: Clock,
    robots_until: u64,
    first_release: usize,
    /// Releases and pages; those that differ from `Judge::releases` are stale.
    waiting: BinaryHeap<Reverse<(u32, u32)>>,
}

#[derive(Default)]
struct Address {
    clock: Clock,
    needed_ms: u64,
    lost_ms: u64,
}

/// State of the law for a host or address.
#[derive(Default)]
struct Clock {
    visits: u64,
    average_ms: f64,
    end: u64,
    allowed: u64,
}

impl Clock {
    /// Judges a visit and charges it. Returns whether it began while one was in flight.
    fn visited(&mut self, (start, end): (u64, u64), delay_ms: u64, verdict: &mut Verdict) -> bool {
        let together = start < self.end;
        let took_ms = (end - start) as f64;
        verdict.judged += u64::from(self.visits > 0);
        verdict.broken += u64::from(start < self.allowed);
        self.average_ms = match self.visits {
            0 => took_ms,
            _ => self.average_ms + 0.2 * (took_ms - self.average_ms),
        };
        let gap_ms = ((2.0 * self.average_ms) as u64).clamp(500, 30_000);
        self.visits += 1;
        self.end = end;
        self.allowed = end + gap_ms.max(delay_ms);
        together
    }
}

impl Judge {
    pub(super) fn new(web: &Web) -> Judge {
        let mut paths = 0;
        let hosts = (0..web.hosts()).map(|host| {
            let first_release = paths;
            paths += web.paths(host) as usize;
            Host {
                first_release,
                ..Host::default()
            }
        });
        let hosts: Vec<Host> = hosts.collect();
        let addresses = web.shared_addresses() + web.hosts();
        Judge {
            hosts,
            addresses: (0..addresses).map(|_| Address::default()).collect(),
            releases: vec![UNKNOWN; paths],
            log: Xxh3Default::new(),
            visits: 0,
            host_gaps: Verdict::default(),
            address_gaps: Verdict::default(),
            together: 0,
            not_due: 0,
            without_robots: 0,
            shared: web.shared_addresses(),
            longest_loss_ms: 0,
        }
    }

    /// Notes that a link names a page.
    pub(super) fn found(&mut self, host: usize, page: u32, now: u64) {
        if self.releases[self.hosts[host].first_release + page as usize] == UNKNOWN {
            self.release(host, page, now);
        }
    }

    /// Notes the time of the next visit of a page whose visit ended.
    pub(super) fn due(&mut self, host: usize, page: u32, due: u64) {
        self.release(host, page, due);
    }

    fn release(&mut self, host: usize, page: u32, time: u64) {
        let time = u32::try_from(time).map_or(LATEST, |time| time.min(LATEST));
        let host = &mut self.hosts[host];
        self.releases[host.first_release + page as usize] = time;
        if time < LATEST {
            host.waiting.push(Reverse((time, page)));
        }
    }

    /// Judges an entry of the log: a visit of a page, or of robots.txt where `page` is `None`.
    pub(super) fn started(
        &mut self,
        web: &Web,
        host: usize,
        page: Option<u32>,
        url: &str,
        span: (u64, u64),
    ) {
        let (number, (start, end)) = (web.address_number(host), span);
        let possible = self.possible(web, number);
        let loss_ms = start.saturating_sub(possible);
        self.longest_loss_ms = self.longest_loss_ms.max(loss_ms);
        let delay_ms = 1_000 * web.crawl_delay_s(host);
        let (at, address) = (&mut self.hosts[host], &mut self.addresses[number]);
        let one = at.clock.visited(span, delay_ms, &mut self.host_gaps);
        let two = address.clock.visited(span, 0, &mut self.address_gaps);
        let is_alone = number >= self.shared;
        let allowed = match is_alone {
            true => address.clock.allowed.max(at.clock.allowed),
            false => address.clock.allowed,
        };
        address.needed_ms += allowed - start;
        address.lost_ms += loss_ms;
        self.together += u64::from(one || two);
        match page {
            Some(page) => {
                let release = &mut self.releases[at.first_release + page as usize];
                self.not_due += u64::from(u64::from(*release) > start);
                self.without_robots += u64::from(start >= at.robots_until);
                *release = IN_FLIGHT;
            }
            None => at.robots_until = end + DAY_MS,
        }
        self.visits += 1;
        for number in [start, end] {
            self.log.update(&number.to_le_bytes());
        }
        self.log.update(url.as_bytes());
    }

    /// Counts what each address loses up to the end of the crawl.
    pub(super) fn close(&mut self, web: &Web, horizon: u64) {
        for number in 0..self.addresses.len() {
            let possible = self.possible(web, number);
            self.addresses[number].lost_ms += horizon.saturating_sub(possible);
        }
    }

    /// Returns the first instant at which the law permits a visit of a page of the address; `u64::MAX` without one.
    fn possible(&mut self, web: &Web, number: usize) -> u64 {
        let mut earliest = u64::MAX;
        for host in web.hosts_of(number) {
            let host = &mut self.hosts[host];
            let releases = &self.releases[host.first_release..];
            while let Some(Reverse((time, page))) = host.waiting.peek() {
                if releases[*page as usize] == *time {
                    earliest = earliest.min(host.clock.allowed.max(u64::from(*time)));
                    break;
                }
                host.waiting.pop();
            }
        }
        earliest.max(self.addresses[number].clock.allowed)
    }

    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// Hash of the log: start, end and URL of each visit, in order.
    pub(super) fn hash(&self) -> u64 {
        self.log.digest()
    }

    /// Visits against the law.
    pub(super) fn broken(&self) -> u64 {
        self.host_gaps.broken
            + self.address_gaps.broken
            + self.together
            + self.not_due
            + self.without_robots
    }

    pub(super) fn bytes(&self) -> usize {
        let waiting = self.hosts.iter().map(|host| host.waiting.capacity());
        waiting.sum::<usize>() * size_of::<(u32, u32)>()
            + self.releases.capacity() * size_of::<u32>()
            + self.hosts.capacity() * size_of::<Host>()
            + self.addresses.capacity() * size_of::<Address>()
    }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, gaps) in [
            ("hosts", &self.host_gaps),
            ("addresses", &self.address_gaps),
        ] {
            let kept = 100.0 * (1.0 - gaps.broken as f64 / gaps.judged.max(1) as f64);
            let (judged, broken) = (gaps.judged, gaps.broken);
            writeln!(
                f,
                "gaps of {name}: {judged} judged, {broken} broken, {kept:.4} % kept"
            )?;
        }
        writeln!(
            f,
            "{} visits while one was in flight, {} pages not due, {} without a valid robots.txt",
            self.together, self.not_due, self.without_robots
        )?;
        let (shared, alone) = self.addresses.split_at(self.shared);
        for (name, addresses) in [("hosts alone", alone), ("shared addresses", shared)] {
            let share = Share::of(addresses);
            let (mean, least) = (100.0 * share.mean, 100.0 * share.least);
            writeln!(
                f,
                "polite bound, {name}: {mean:.2} % of it reached, {least:.2} % at least"
            )?;
        }
        let (share, visits) = (Share::of(&self.addresses), self.visits);
        writeln!(
            f,
            "polite bound, all: {:.2} % of it reached; {:.0} visits permitted, {visits} made: {:.2} %",
            100.0 * share.mean,
            share.permitted,
            100.0 * visits as f64 / share.permitted,
        )?;
        let (loss_ms, at) = (self.longest_loss_ms, &self.addresses);
        let (needed, lost) = at.iter().fold((0, 0), |(needed, lost), address| {
            (needed + address.needed_ms, lost + address.lost_ms)
        });
        let hours = |ms: u64| ms / 3_600_000;
        let (needed, lost) = (hours(needed), hours(lost));
        writeln!(
            f,
            "{needed} hours needed, {lost} lost; {loss_ms} ms lost before one visit at most"
        )
    }
}

/// Share of the polite bound that addresses reached.
struct Share {
    /// Weighted by visits.
    mean: f64,
    least: f64,
    /// Visits that the bound permits.
    permitted: f64,
}

impl Share {
    fn of(addresses: &[Address]) -> Share {
        let (mut share, mut all_visits) = (0.0, 0.0);
        let (mut least, mut permitted) = (1.0_f64, 0.0);
        for address in addresses {
            if address.clock.visits == 0 {
                // Never visited though it might have been: nothing of its bound is reached.
                least = if address.lost_ms > 0 { 0.0 } else { least };
                continue;
            }
            let visits = address.clock.visits as f64;
            let (needed, lost) = (address.needed_ms as f64, address.lost_ms as f64);
            let reached = needed / (needed + lost);
            share += visits * reached;
            all_visits += visits;
            least = least.min(reached);
            permitted += visits + (lost / needed * visits).floor();
        }
        Share {
            mean: share / f64::max(all_visits, 1.0),
            least,
            permitted,
        }
    }
}
