//! Start of visits: what the frontier gives, unless rules forbid it or its address is in use.

use super::collect::says_noindex;
use super::crawl::Crawl;
use super::setup::now;
use super::visit::{Event, PageVisit, visit_page, visit_robots};
use crate::error::CrawlError;
use crate::frontier::{
    Effect, Next, Outcome, Parked, Permission, Refusal, Source, Validators, Visit, VisitKind,
};
use crate::politeness::TimeMs;
use crate::render::Manners;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use url::Url;
use web::address::CanonicalUrl;
use web::robots::Rules;

/// Longest wait for a visit that ends, before the clock is looked at again.
const TURN: Duration = Duration::from_millis(100);
/// A run ends where nothing is due for longer than this, in milliseconds: longer than any Crawl-delay that is kept. Hosts whose
/// robots.txt cannot be read do not count, however soon it is read again: the next run visits them.
const WAIT_MS_MAX: u64 = 400_000;
/// Entries of runs merged in an idle turn.
const WORK_ENTRIES: usize = 20_000;

impl Crawl {
    /// Starts visits. Returns the longest wait for events; `None` where nothing is due.
    pub(super) fn give_out(&mut self) -> Result<Option<Duration>, CrawlError> {
        while self.in_flight < self.config.fetches_max {
            if self.is_enough() {
                return Ok((self.in_flight > 0).then_some(TURN));
            }
            let now = now();
            match self.frontier.next(now)? {
                Next::Visit(visit) => self.start(*visit, now)?,
                Next::Idle => return Ok((self.in_flight > 0).then_some(TURN)),
                Next::Wait { until } => {
                    let wait_ms = until.since_ms(now);
                    if self.in_flight == 0 && !self.watch {
                        let due = self.frontier.next_of_readable();
                        if due.is_none_or(|due| due.since_ms(now) > WAIT_MS_MAX) {
                            return Ok(None);
                        }
                    }
                    // An idle moment.
                    self.frontier.work(WORK_ENTRIES)?;
                    return Ok(Some(
                        Duration::from_millis(wait_ms).clamp(Duration::ZERO, TURN),
                    ));
                }
            }
        }
        Ok(Some(TURN))
    }

    pub(super) fn is_enough(&self) -> bool {
        let visits = self.progress.answered() + self.progress.failed;
        self.config
            .pages_max
            .is_some_and(|max| visits + self.in_flight as u64 >= max)
    }

    /// Starts a visit, unless rules forbid it.
    pub(super) fn start(&mut self, visit: Visit, now: TimeMs) -> Result<(), CrawlError> {
        let Some(visit) = self.unless_elsewhere(visit, None, now)? else {
            return Ok(());
        };
        if visit.kind == VisitKind::Page
            && let Some(outcome) = self.refusal(&visit)
        {
            let finished = self.frontier.finished(visit.id, &outcome, now)?;
            self.progress.refused += 1;
            self.unsynced += 1;
            if let Some(finished) = finished
                && let Effect::Delete(deletion) = finished.effect
            {
                self.delete_unfetched(&finished.url, deletion)?;
            }
            return Ok(());
        }
        let Some(host) = Url::parse(&visit.origin).ok() else {
            self.frontier
                .finished(visit.id, &Outcome::Parked(Parked::Shape), now)?;
            return Ok(());
        };
        let known = match host.host() {
            Some(url::Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(url::Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            _ => self.addresses.get(&visit.origin).copied(),
        };
        match known {
            Some(address) => self.connect(visit, Some(address), now),
            None => {
                let (resolver, events) = (self.resolver.clone(), self.events.0.clone());
                let (id, host) = (visit.id, host.host_str().unwrap_or_default().to_owned());
                self.waiting.insert(id, visit);
                self.in_flight += 1;
                self.runtime.spawn(async move {
                    let found = resolver.resolve(&host).await.ok();
                    let address = found.and_then(|addresses| addresses.first().copied());
                    // The crawl may have ended.
                    let _ = events.send(Event::Resolved(id, address));
                });
                Ok(())
            }
        }
    }

    /// Returns the outcome of a page that may not be visited.
    pub(super) fn refusal(&mut self, visit: &Visit) -> Option<Outcome> {
        let Ok(url) = CanonicalUrl::parse(&visit.url) else {
            return Some(Outcome::Parked(Parked::Shape));
        };
        if self.sites.admit(&url).is_err() {
            return Some(Outcome::Refused(Refusal::Rule));
        }
        let rules = self.host_rules(&visit.origin);
        let is_allowed = rules.allows(url.path_and_query()).allowed;
        (!is_allowed).then_some(Outcome::Refused(Refusal::Robots))
    }

    /// Returns the rules of the robots.txt of an origin.
    fn host_rules(&mut self, origin: &str) -> Arc<Rules> {
        let token = &self.context.product_token;
        self.rules.rules(&mut self.frontier, origin, token)
    }

    /// Sends the request of a visit whose address is known, unless the address is in use.
    pub(super) fn connect(
        &mut self,
        visit: Visit,
        address: Option<IpAddr>,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let Some(visit) = self.unless_elsewhere(visit, address, now)? else {
            return Ok(());
        };
        // Without an address the fetch says why.
        if let Some(address) = address
            && self.frontier.resolved(visit.id, address, now) == Permission::Later
        {
            return Ok(());
        }
        let (context, events) = (self.context.clone(), self.events.0.clone());
        if visit.kind == VisitKind::Robots {
            self.in_flight += 1;
            let visited = visit_robots(context, visit.id, visit.origin);
            self.runtime.spawn(async move {
                let _ = events.send(Event::Robots(visited.await));
            });
            return Ok(());
        }
        let Ok(url) = CanonicalUrl::parse(&visit.url) else {
            let outcome = Outcome::Parked(Parked::Shape);
            self.frontier.finished(visit.id, &outcome, now)?;
            return Ok(());
        };
        self.in_flight += 1;
        let sites = self.sites.clone();
        let render = match sites.rendered(&url) {
            Some(site) => Some(Manners {
                rules: self.host_rules(&visit.origin),
                is_owned: site.owned,
                from: site.render_from.clone(),
            }),
            None => None,
        };
        let record = visit.record.as_ref();
        let templates = self.collection.templates_of(&visit.origin);
        let visited = visit_page(
            context,
            PageVisit {
                id: visit.id,
                url,
                depth: record.map_or(0, |record| record.depth),
                source: record.map_or(Source::Link, |record| record.source),
                is_claimed: record.is_some_and(|record| record.is_claimed()),
                // What neither the index holds nor the page itself keeps from it is fetched whole.
                validators: match record {
                    Some(record) if record.indexed || says_noindex(record.state) => {
                        record.validators.clone()
                    }
                    _ => Validators::default(),
                },
                sites,
                templates,
                render,
            },
        );
        self.runtime.spawn(async move {
            let _ = events.send(Event::Page(Box::new(visited.await)));
        });
        Ok(())
    }
}
