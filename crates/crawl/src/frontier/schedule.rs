//! Order of visits: hosts by their earliest instant, gated by address.
use super::core::{Frontier, InFlight};
use super::error::FrontierError;
use super::key;
use super::law::{effective_due, park};
use super::record::Record;
use super::state::Parked;
use super::visit::{Next, Permission, Visit, VisitId, VisitKind, WaitReason};
use crate::politeness::TimeMs;
use std::cmp::Reverse;
use std::net::IpAddr;

/// Key and record of a page.
type Page = (Box<[u8]>, Record);

impl Frontier {
    /// Returns the next visit that the politeness law permits.
    pub fn next(&mut self, now: TimeMs) -> Result<Next, FrontierError> {
        loop {
            let Some(&Reverse((wake, served, id))) = self.ready.peek() else {
                return Ok(match self.in_flight.is_empty() {
                    true => Next::Idle,
                    false => Next::Wait {
                        until: TimeMs::NEVER,
                    },
                });
            };
            let host = &self.hosts[id as usize];
            if (wake, served) != (host.wake, host.served) {
                self.ready.pop();
                continue;
            }
            if wake > now {
                return Ok(Next::Wait { until: wake });
            }
            self.ready.pop();
            self.hosts[id as usize].wake = TimeMs::NEVER;
            if let Some(visit) = self.visit_host(id, now)? {
                return Ok(Next::Visit(Box::new(visit)));
            }
        }
    }

    /// Returns when the next visit is due of a host that does not wait for a robots.txt that cannot be read; `None` without
    /// one.
    pub fn next_of_readable(&self) -> Option<TimeMs> {
        let due = self
            .ready
            .iter()
            .filter_map(|&Reverse((wake, served, id))| {
                let host = &self.hosts[id as usize];
                let is_current = (wake, served) == (host.wake, host.served);
                (is_current && host.wait_reason() != WaitReason::Robots).then_some(wake)
            });
        due.min()
    }

    /// Returns a visit of a host whose own clock permits one; else the host waits for what it lacks.
    fn visit_host(&mut self, id: u32, now: TimeMs) -> Result<Option<Visit>, FrontierError> {
        if !self.address_is_free(id, now) {
            return Ok(None);
        }
        let Some((key, record)) = self.due_page(id, now)? else {
            self.schedule(id);
            return Ok(None);
        };
        let host = &mut self.hosts[id as usize];
        if host.robots.is_valid(now) {
            let url = key::url_of(&host.prefix, &host.origin, &key);
            return Ok(Some(self.start(id, url, Some((key, record)), now)));
        }
        // The page waits; one request for robots.txt at a time, and none beside pages in flight.
        host.queue.push_front(key);
        if host.in_flight > 0 {
            return Ok(None);
        }
        host.robots_in_flight = true;
        let url = format!("{}/robots.txt", host.origin);
        Ok(Some(self.start(id, url, None, now)))
    }

    fn start(&mut self, id: u32, url: String, page: Option<Page>, now: TimeMs) -> Visit {
        let visit = self.next_visit;
        self.next_visit += 1;
        let host = &mut self.hosts[id as usize];
        host.in_flight += 1;
        let served_before = std::mem::replace(&mut host.served, now);
        let origin = host.origin.to_string();
        let address = host.address.filter(|_| !host.owned);
        if let Some(address) = address {
            self.addresses.entry(address).or_default().in_flight += 1;
        }
        let (key, record) = page.unzip();
        self.keys_in_flight.extend(key.clone());
        self.in_flight.insert(
            visit,
            InFlight {
                host: id,
                key,
                address,
                served_before,
            },
        );
        self.schedule(id);
        Visit {
            id: VisitId(visit),
            url,
            origin,
            kind: if record.is_some() {
                VisitKind::Page
            } else {
                VisitKind::Robots
            },
            record,
        }
    }

    /// Returns whether the address of the host permits a visit; if not, the host waits for it.
    fn address_is_free(&mut self, id: u32, now: TimeMs) -> bool {
        let host = &mut self.hosts[id as usize];
        let Some(address) = host.address.filter(|_| !host.owned) else {
            return true;
        };
        let address = self.addresses.entry(address).or_default();
        if address.in_flight > 0 {
            address.waiting.push(id);
            return false;
        }
        let allowed_at = address.pace.allowed_at.max(self.addresses_from);
        if allowed_at > now {
            host.wake = allowed_at;
            self.ready.push(Reverse((allowed_at, host.served, id)));
            return false;
        }
        true
    }

    /// Notes the address that a visit resolved to. Must be called before the connection; obey the answer.
    pub fn resolved(&mut self, visit: VisitId, address: IpAddr, now: TimeMs) -> Permission {
        let Some(flight) = self.in_flight.get(&visit.0) else {
            return Permission::Later;
        };
        let (id, before) = (flight.host, flight.address);
        let host = &mut self.hosts[id as usize];
        host.address = Some(address);
        if host.owned || before == Some(address) {
            return Permission::Go;
        }
        if let Some(before) = before {
            self.leave_address(before);
        }
        let addresses_from = self.addresses_from;
        let entry = self.addresses.entry(address).or_default();
        if entry.in_flight == 0 && entry.pace.allowed_at.max(addresses_from) <= now {
            entry.in_flight += 1;
            if let Some(flight) = self.in_flight.get_mut(&visit.0) {
                flight.address = Some(address);
            }
            return Permission::Go;
        }
        if let Some(flight) = self.in_flight.get_mut(&visit.0) {
            flight.address = None;
        }
        self.returned(visit);
        Permission::Later
    }

    /// Takes back a visit for which no request was sent.
    pub fn returned(&mut self, visit: VisitId) {
        if let Some(flight) = self.end(visit) {
            let host = &mut self.hosts[flight.host as usize];
            host.served = flight.served_before;
            if let Some(key) = flight.key {
                host.queue.push_front(key);
            }
            self.schedule(flight.host);
        }
    }

    /// Ends a visit: its host and address are free, but for their clocks.
    pub(super) fn end(&mut self, visit: VisitId) -> Option<InFlight> {
        let flight = self.in_flight.remove(&visit.0)?;
        let host = &mut self.hosts[flight.host as usize];
        host.in_flight = host.in_flight.saturating_sub(1);
        match &flight.key {
            Some(key) => {
                self.keys_in_flight.remove(key);
            }
            None => host.robots_in_flight = false,
        }
        if let Some(address) = flight.address {
            self.leave_address(address);
        }
        Some(flight)
    }

    fn leave_address(&mut self, address: IpAddr) {
        let Some(entry) = self.addresses.get_mut(&address) else {
            return;
        };
        entry.in_flight = entry.in_flight.saturating_sub(1);
        for waiting in std::mem::take(&mut entry.waiting) {
            self.schedule(waiting);
        }
    }

    /// Enters the host in the heap at its earliest instant, if it has one.
    pub(super) fn schedule(&mut self, id: u32) {
        let host = &mut self.hosts[id as usize];
        let full = host.in_flight >= host.in_flight_max(&self.options.law);
        let mut wake = host.allowed_at();
        if host.queue.is_empty() {
            wake = wake.max(host.due_at());
        }
        if full || host.robots_in_flight {
            wake = TimeMs::NEVER;
        }
        host.wake = wake;
        if wake != TimeMs::NEVER {
            self.ready.push(Reverse((wake, host.served, id)));
        }
    }

    /// Returns the best URL of the host that is due. Refills its queue where it is empty.
    fn due_page(&mut self, id: u32, now: TimeMs) -> Result<Option<Page>, FrontierError> {
        loop {
            let host = &mut self.hosts[id as usize];
            let mut key = host.queue.pop_front();
            if key.is_none() && host.check_at > now {
                key = host.take_due(now);
                if key.is_none() {
                    return Ok(None);
                }
            }
            let Some(key) = key else {
                self.refill(id, now);
                if self.hosts[id as usize].queue.is_empty() {
                    return Ok(None);
                }
                continue;
            };
            // The queue may be older than the record.
            let Some((mut record, stored)) = self.store.record(&key) else {
                continue;
            };
            let due = effective_due(&record, self.again_at);
            if due > now || self.keys_in_flight.contains(&key) {
                self.check(id, due.max(now));
                continue;
            }
            let host = &self.hosts[id as usize];
            let shape = (self.options.shape)(&key::url_of(&host.prefix, &host.origin, &key));
            let trap =
                record.visits == 0 && self.shapes.get(&(id, shape)).is_some_and(|s| s.parked);
            if !trap {
                return Ok(Some((key, record)));
            }
            let before = stored.then(|| record.state.class());
            park(&mut record, Parked::Trap);
            self.store
                .put(&key, record.encode(), Some((before, record.state.class())))?;
        }
    }
}
