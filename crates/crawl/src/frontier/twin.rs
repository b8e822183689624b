//! Slow twin of the frontier: one map in memory, for tests.
//!
//! It judges instead of choosing: whether a visit may be given now, whether there is none, what a record must be.
//! The law of states and the law of politeness are shared; storage, queues and the heap are not.
use super::host::{Host, Robots};
use super::key::origin_of;
use super::law::{Recrawl, apply, effective_due};
use super::record::Record;
use super::sighting::Sighting;
use super::visit::{Discovery, Effect, Outcome};
use crate::politeness::{Law, TimeMs};
use crate::recrawl::{RecrawlLaw, Threshold};
use std::collections::{BTreeMap, BTreeSet};

/// The simple frontier.
pub struct Twin {
    law: Law,
    recrawl: RecrawlLaw,
    threshold: Threshold,
    records: BTreeMap<String, Record>,
    hosts: BTreeMap<String, Host>,
    in_flight: BTreeSet<String>,
    again_at: TimeMs,
}

impl Twin {
    /// Returns an empty frontier. Its hosts have one visit in flight, and addresses of their own.
    pub fn new(law: Law, recrawl: RecrawlLaw) -> Twin {
        Twin {
            law,
            recrawl,
            threshold: Threshold::new(&recrawl),
            records: BTreeMap::new(),
            hosts: BTreeMap::new(),
            in_flight: BTreeSet::new(),
            again_at: TimeMs(0),
        }
    }

    /// Adds a URL like [`super::Frontier::discover`]; returns whether it is new.
    pub fn discover(&mut self, found: &Discovery<'_>, now: TimeMs) -> bool {
        let Some(origin) = origin_of(found.url) else {
            return false;
        };
        let host = || Host::new(origin, false, now);
        self.hosts.entry(origin.to_owned()).or_insert_with(host);
        let sighting = Sighting {
            source: found.source,
            depth: found.depth,
            from: found.from.filter(|from| *from != 0),
            importance: found.importance,
            at: now,
            modified: found.modified.unwrap_or(TimeMs(0)).min(now),
        };
        match self.records.get_mut(found.url) {
            Some(record) => {
                record.note(&sighting);
                false
            }
            None => {
                self.records
                    .insert(found.url.to_owned(), Record::new(&sighting));
                true
            }
        }
    }

    /// Makes every URL due like [`super::Frontier::again`].
    pub fn again(&mut self, now: TimeMs) {
        self.again_at = now;
    }

    /// Marks a visit as given. Returns the objection of the law, if any.
    pub fn visit(&mut self, url: &str, is_robots: bool, now: TimeMs) -> Result<(), &'static str> {
        let origin = origin_of(url).ok_or("no URL")?;
        let host = self.hosts.get_mut(origin).ok_or("unknown host")?;
        if host.in_flight > 0 {
            return Err("the host has a visit in flight");
        }
        if host.pace.allowed_at > now || host.robots.blocked_until() > now {
            return Err("the host may not be visited yet");
        }
        if host.robots.is_valid(now) == is_robots {
            return Err("robots.txt must be read before a page, and not more often");
        }
        host.in_flight = 1;
        if is_robots {
            return Ok(());
        }
        let record = self.records.get(url).ok_or("unknown URL")?;
        if effective_due(record, self.again_at) > now {
            return Err("the URL is not due");
        }
        self.in_flight.insert(url.to_owned());
        Ok(())
    }

    /// Returns the earliest instant at which a visit may be given, `None` if nothing will be due.
    pub fn next_at(&self) -> Option<TimeMs> {
        let of_host = |(origin, host): (&String, &Host)| {
            let pages = self
                .records
                .range(format!("{origin}/")..format!("{origin}0"));
            let due = pages
                .map(|(_, record)| effective_due(record, self.again_at))
                .min()?;
            let idle = host.in_flight == 0 && due != TimeMs::NEVER;
            idle.then(|| {
                due.max(host.pace.allowed_at)
                    .max(host.robots.blocked_until())
            })
        };
        self.hosts.iter().filter_map(of_host).min()
    }

    /// Ends a page visit.
    pub fn finished(&mut self, url: &str, outcome: &Outcome, now: TimeMs) -> Effect {
        let origin = origin_of(url).unwrap_or_default();
        self.in_flight.remove(url);
        let (Some(host), Some(record)) = (self.hosts.get_mut(origin), self.records.get_mut(url))
        else {
            return Effect::Keep;
        };
        host.in_flight = 0;
        let retry_after = match outcome {
            Outcome::Failed {
                failure: super::Failure::Throttled,
                retry_after_s,
                ..
            } => Some(*retry_after_s),
            _ => None,
        };
        match (outcome, retry_after) {
            (_, Some(retry_after_s)) => host.pace.throttled(&self.law, false, retry_after_s, now),
            (
                Outcome::Failed {
                    failure: super::Failure::Client,
                    took_ms,
                    ..
                },
                None,
            )
            | (
                Outcome::Fetched { took_ms, .. }
                | Outcome::NotModified { took_ms }
                | Outcome::Redirected { took_ms, .. }
                | Outcome::Gone { took_ms, .. },
                None,
            ) => host.pace.answered(&self.law, false, *took_ms, now),
            (Outcome::Failed { took_ms, .. }, None) => {
                host.pace.failed(&self.law, false, *took_ms, now)
            }
            (Outcome::Parked(super::Parked::Type | super::Parked::Probe), None) => {
                host.pace.allow_after(&self.law, false, now);
            }
            (Outcome::Refused(_) | Outcome::Parked(_) | Outcome::HandedOver, None) => {}
        }
        let recrawl = Recrawl {
            law: &self.recrawl,
            threshold: self.threshold.value,
        };
        apply(record, &mut host.rate, outcome, recrawl, now)
    }

    /// Ends a visit of robots.txt that permits all until `valid_until`, or not before `wait_until`.
    pub fn robots(
        &mut self,
        origin: &str,
        valid_until: Result<TimeMs, TimeMs>,
        took_ms: u64,
        now: TimeMs,
    ) {
        if let Some(host) = self.hosts.get_mut(origin) {
            host.in_flight = 0;
            host.robots = match valid_until {
                Ok(valid_until) => Robots::Free(valid_until),
                Err(wait_until) => Robots::Wait(wait_until),
            };
            host.pace.answered(&self.law, false, took_ms, now);
        }
    }

    /// Restarts at `now`: visits in flight are due again, every host waits for its gap, clocks keep the precision that
    /// they have on disk.
    pub fn restart(&mut self, now: TimeMs) {
        self.in_flight.clear();
        for host in self.hosts.values_mut() {
            if let Some(mut kept) = Host::decode(&host.encode()) {
                kept.pace.allow_after(&self.law, false, now);
                *host = kept;
            }
        }
    }

    /// Returns all URLs with their records.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.records
            .iter()
            .map(|(url, record)| (url.as_str(), record))
    }
}
