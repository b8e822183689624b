//! Judge of the log of a synthetic web: politeness, obedience and completeness, without any code of the crawler.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io::{self, BufRead};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::options::{HostClass, Reason};
use super::web::{Place, SyntheticWeb};

/// One request of the log. Times are Unix times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRecord {
    /// Arrival of the request, in µs.
    pub start_us: u64,
    /// The answer was made, in µs.
    pub end_us: u64,
    /// Address that the client connected to.
    pub address: IpAddr,
    /// Host without port.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// The status.
    pub status: u16,
    /// Whether the request had a condition.
    pub conditional: bool,
    /// User agent.
    pub agent: String,
    /// `Retry-After` of the answer, in s.
    pub retry_after_s: Option<u64>,
}

/// Reads a log of JSON lines.
pub fn read_log(log: impl BufRead) -> io::Result<Vec<LogRecord>> {
    log.lines()
        .map(|line| serde_json::from_str(&line?).map_err(io::Error::from))
        .collect()
}

/// Demands of the judge.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// Least time from the end of an answer to the next request to the same host, in ms.
    pub host_gap_ms: u64,
    /// Least gap between two requests to an address, in ms.
    pub address_gap_ms: u64,
    /// Time for which a crawler may go by an old robots.txt, in ms.
    pub robots_cache_ms: u64,
    /// Whether every expected page must have been fetched.
    pub complete: bool,
    /// Greatest share of requests in traps.
    pub trap_share_max: f64,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            host_gap_ms: 500,
            address_gap_ms: 500,
            robots_cache_ms: 86_400_000,
            complete: true,
            trap_share_max: 0.25,
        }
    }
}

/// Findings of the judge: counts, and the first 20 of each kind in words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// Requests judged.
    pub requests_count: u64,
    /// Gaps judged, of hosts and addresses.
    pub gaps_count: u64,
    /// Gaps that were too short.
    pub short_gaps_count: u64,
    /// Fetches that were not permitted.
    pub forbidden_count: u64,
    /// Requests for paths that no link names.
    pub unexpected_count: u64,
    /// Expected pages that were not fetched.
    pub missing_count: u64,
    /// Requests in traps.
    pub trap_count: u64,
    /// Whether the share of traps is too great.
    pub trapped: bool,
    /// Examples.
    pub examples: Vec<String>,
}

impl Verdict {
    /// Returns whether nothing is wrong.
    pub fn passes(&self) -> bool {
        let wrong = self.short_gaps_count
            + self.forbidden_count
            + self.unexpected_count
            + self.missing_count;
        wrong == 0 && !self.trapped && self.requests_count > 0
    }

    fn example(&mut self, count: u64, text: impl FnOnce() -> String) {
        if count <= 20 {
            self.examples.push(text());
        }
    }
}

/// Judges a log.
pub fn judge(log: &[LogRecord], web: &SyntheticWeb, options: &JudgeOptions) -> Verdict {
    let mut verdict = Verdict {
        requests_count: log.len() as u64,
        ..Verdict::default()
    };
    let mut order: Vec<&LogRecord> = log.iter().collect();
    order.sort_by_key(|record| record.start_us);
    gaps(&order, web, options, &mut verdict);
    obedience(&order, web, options, &mut verdict);
    if options.complete {
        let fetched: HashSet<(&str, &str)> = log
            .iter()
            .filter(|record| matches!(record.status, 200 | 304))
            .map(|record| (record.host.as_str(), record.path.as_str()))
            .collect();
        for expected in web.expected() {
            let host = web.host_name(expected.host);
            if !fetched.contains(&(host.as_str(), expected.path.as_str())) {
                verdict.missing_count += 1;
                verdict.example(verdict.missing_count, || {
                    format!("missing: {host}{}", expected.path)
                });
            }
        }
    }
    verdict.trapped = verdict.trap_count as f64 > options.trap_share_max * log.len() as f64;
    verdict
}

fn gaps(order: &[&LogRecord], web: &SyntheticWeb, options: &JudgeOptions, verdict: &mut Verdict) {
    let mut host_free_us: HashMap<&str, u64> = HashMap::new();
    let mut address_free_us: HashMap<IpAddr, u64> = HashMap::new();
    for record in order {
        let host = web.host_named(&record.host);
        let delay_ms = match host.map(|host| host.class) {
            Some(HostClass::CrawlDelay) => web.options().crawl_delay_s.saturating_mul(1_000),
            _ => 0,
        };
        // robots.txt itself is fetched before its delay is known.
        let delay_ms = if record.path == "/robots.txt" {
            0
        } else {
            delay_ms
        };
        let wait_ms = options
            .host_gap_ms
            .max(delay_ms)
            .max(record.retry_after_s.unwrap_or(0).saturating_mul(1_000));
        let host_free = record.end_us.saturating_add(wait_ms.saturating_mul(1_000));
        let address_free = record
            .end_us
            .saturating_add(options.address_gap_ms.saturating_mul(1_000));
        for free in [
            extend(&mut host_free_us, record.host.as_str(), host_free),
            extend(&mut address_free_us, record.address, address_free),
        ]
        .into_iter()
        .flatten()
        {
            verdict.gaps_count += 1;
            if record.start_us < free {
                verdict.short_gaps_count += 1;
                verdict.example(verdict.short_gaps_count, || {
                    format!(
                        "{} µs too early: {}{}",
                        free - record.start_us,
                        record.host,
                        record.path
                    )
                });
            }
        }
    }
}

fn obedience(
    order: &[&LogRecord],
    web: &SyntheticWeb,
    options: &JudgeOptions,
    verdict: &mut Verdict,
) {
    let mut robots_seen: HashSet<&str> = HashSet::new();
    // A crawler may ask each host once for a path that does not exist.
    let mut probed: HashMap<&str, &str> = HashMap::new();
    let seeds = web.seeds_host();
    for record in order {
        if record.path == "/robots.txt" {
            robots_seen.insert(&record.host);
            continue;
        }
        let host = web.host_named(&record.host);
        let unavailable = host.is_some_and(|host| host.class == HostClass::RobotsUnavailable);
        let place = host.map(|host| web.place(&host, &record.path));
        let later = || {
            let limit_ms = web
                .options()
                .robots_change_ms
                .saturating_add(options.robots_cache_ms);
            record.start_us / 1_000 >= limit_ms
        };
        let forbidden = match place {
            Some(Place::Forbidden(Reason::DisallowedLater, _)) => later(),
            Some(Place::Forbidden(..)) => true,
            _ => false,
        };
        if forbidden || unavailable || !robots_seen.contains(record.host.as_str()) {
            verdict.forbidden_count += 1;
            verdict.example(verdict.forbidden_count, || {
                format!("forbidden: {}{}", record.host, record.path)
            });
        }
        match place {
            Some(Place::Trap(_)) => verdict.trap_count += 1,
            Some(Place::Unknown)
                if *probed.entry(&record.host).or_insert(&record.path) == record.path => {}
            Some(Place::Unknown) => {
                verdict.unexpected_count += 1;
                verdict.example(verdict.unexpected_count, || {
                    format!("unexpected: {}{}", record.host, record.path)
                });
            }
            None if record.host != seeds => verdict.unexpected_count += 1,
            _ => {}
        }
    }
}

/// Puts off the instant of `key` to `free_us`, if that is later, and returns the one before.
fn extend<K: Eq + Hash>(times: &mut HashMap<K, u64>, key: K, free_us: u64) -> Option<u64> {
    let before = times.get(&key).copied();
    times.insert(key, before.map_or(free_us, |before| before.max(free_us)));
    before
}
