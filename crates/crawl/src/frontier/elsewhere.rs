//! Hosts of a crawl of several members: who visits each. A host is settled once, for good: two members that both visit it
//! would break the politeness law together.
use super::core::{Frontier, InFlight, PART_MEMBER};
use super::error::FrontierError;
use super::host::Robots;
use super::key;
use super::state::State;
use super::visit::{Outcome, VisitId};
use crate::politeness::TimeMs;

impl Frontier {
    /// Notes which member visits an origin. Durable after the next [`Frontier::sync`].
    pub fn settle_host(
        &mut self,
        origin: &str,
        member: &str,
        now: TimeMs,
    ) -> Result<(), FrontierError> {
        let id = self.host_of(origin, now)?;
        let key = key::part_of(&self.hosts[id as usize].prefix, PART_MEMBER);
        self.store.put(&key, member.as_bytes().to_vec(), None)
    }

    /// Returns the member that visits an origin, where it was noted.
    pub fn member_of(&mut self, origin: &str) -> Option<String> {
        let id = self.find_host(origin)?;
        let key = key::part_of(&self.hosts[id as usize].prefix, PART_MEMBER);
        String::from_utf8(self.store.get(&key)?).ok()
    }

    /// Ends a visit of robots.txt without a request, because another member visits the host. `next` gives the pages of the
    /// host from now on without a pause, to be handed over.
    pub fn leave_host(&mut self, visit: VisitId) -> Result<(), FrontierError> {
        let is_robots = |flight: &InFlight| flight.key.is_none();
        if !self.in_flight.get(&visit.0).is_some_and(is_robots) {
            return Ok(());
        }
        let Some(flight) = self.end(visit) else {
            return Ok(());
        };
        self.hosts[flight.host as usize].robots = Robots::Elsewhere;
        self.store_host(flight.host)?;
        self.schedule(flight.host);
        self.checkpoint_if_full()
    }

    /// Ends the visit of a page that was handed over. If `own`, the member that calls, has adopted the host meanwhile, the
    /// page is due here.
    pub fn handed_over(
        &mut self,
        visit: VisitId,
        own: &str,
        now: TimeMs,
    ) -> Result<(), FrontierError> {
        let host = self.in_flight.get(&visit.0).map(|flight| flight.host);
        let origin = host.map(|id| self.hosts[id as usize].origin.clone());
        let member = origin.and_then(|origin| self.member_of(&origin));
        match member.as_deref() == Some(own) {
            true => self.returned(visit),
            false => {
                self.finished(visit, &Outcome::HandedOver, now)?;
            }
        }
        Ok(())
    }

    /// Makes `member`, the caller, the one that visits an origin. Its URLs that were handed over come back: they are
    /// due.
    pub fn adopt_host(
        &mut self,
        origin: &str,
        member: &str,
        now: TimeMs,
    ) -> Result<(), FrontierError> {
        let id = self.host_of(origin, now)?;
        if self.member_of(origin).as_deref() == Some(member) {
            return Ok(());
        }
        let prefix = self.hosts[id as usize].prefix.clone();
        let mut handed = Vec::new();
        let (from, end) = (key::pages_of(&prefix), key::end_of(&prefix));
        self.store.scan(&from, &end, |key, found| {
            let record = found.record();
            handed.extend(
                record
                    .filter(|record| record.state == State::Elsewhere)
                    .map(|record| (key.to_vec(), record)),
            );
            true
        });
        for (key, mut record) in handed {
            let before = Some(record.state.class());
            (record.state, record.due) = (State::Queued, now);
            let change = Some((before, record.state.class()));
            self.store.put(&key, record.encode(), change)?;
        }
        let host = &mut self.hosts[id as usize];
        if host.robots == Robots::Elsewhere {
            host.robots = Robots::Unknown;
        }
        self.store_host(id)?;
        // Last: with this the rest is known to be there.
        self.settle_host(origin, member, now)?;
        self.check(id, now);
        self.schedule(id);
        self.checkpoint_if_full()
    }
}
