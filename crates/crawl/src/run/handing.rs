//! A crawl that several members share: which visits are handed over, what is taken over, and when the run of all is over.

use super::crawl::Crawl;
use super::sharing::{Rest, Sharing};
use super::visit::Event;
use crate::error::CrawlError;
use crate::frontier::{Discovery, Outcome, Source, Visit, VisitKind};
use crate::members::{MemberEvent, Members, Ownership, RunEnd, Taken};
use crate::politeness::TimeMs;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use web::address::CanonicalUrl;
use wire::members::{FollowedSeed, UrlSource};

/// Longest wait for events where nothing is due here.
const TURN: Duration = Duration::from_millis(100);

impl Crawl {
    /// Connects to the other members and serves them.
    pub(super) fn join_members(
        &mut self,
        ownership: Ownership,
        listener: &TcpListener,
    ) -> Result<(), CrawlError> {
        let events = self.events.0.clone();
        let _entered = self.runtime.enter();
        let addresses: Vec<String> = self
            .config
            .members
            .iter()
            .map(|member| member.address.clone())
            .collect();
        let listener = listener.try_clone().map_err(CrawlError::Members)?;
        let members = Members::start(
            ownership,
            &addresses,
            listener,
            Duration::from_secs_f64(self.config.members_wait_s),
            Arc::new(move |event| events.send(Event::Member(event)).is_ok()),
        );
        let members = members.map_err(CrawlError::Members)?;
        for (from, to) in &self.state.followed_seeds {
            members.tell_followed(from, to);
        }
        self.sharing = Some(Sharing::new(members));
        Ok(())
    }

    /// Notifies the other members that this one takes nothing any more.
    pub(super) fn leave_members(&self) {
        if let Some(sharing) = &self.sharing {
            sharing.members.figures.set_ended();
        }
    }

    /// Sends the other members a redirect that extends a site.
    pub(super) fn tell_followed(&self, (from, to): &(String, String)) {
        if let Some(sharing) = &self.sharing {
            sharing.members.tell_followed(from, to);
        }
    }

    /// Returns a visit that this member makes; hands it over if another one visits its host. The address of the host may
    /// decide that.
    pub(super) fn unless_elsewhere(
        &mut self,
        visit: Visit,
        address: Option<IpAddr>,
        now: TimeMs,
    ) -> Result<Option<Visit>, CrawlError> {
        let Some(sharing) = &mut self.sharing else {
            return Ok(Some(visit));
        };
        sharing.members.figures.acted();
        let origin = &visit.origin;
        let Some(member) = sharing.elsewhere(&mut self.frontier, origin, address, now)? else {
            return Ok(Some(visit));
        };
        let source = visit.record.as_ref().map(|record| record.source);
        match (visit.kind, source) {
            (VisitKind::Robots, _) => self.frontier.leave_host(visit.id)?,
            // Each member probes its own hosts.
            (VisitKind::Page, Some(Source::Probe)) => {
                self.frontier
                    .finished(visit.id, &Outcome::HandedOver, now)?;
            }
            (VisitKind::Page, _) => sharing.hand_over(member, &visit, now),
        }
        self.unsynced += 1;
        Ok(None)
    }

    /// Takes URLs that another member has sent, or its reply to URLs sent to it.
    pub(super) fn take_member_event(
        &mut self,
        event: MemberEvent,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        match event {
            MemberEvent::Taken(taken) => self.take_over(taken, now),
            MemberEvent::HandedOver(visits) => {
                let Some(sharing) = &mut self.sharing else {
                    return Ok(());
                };
                sharing.handing -= visits.len();
                self.progress.handed_over += visits.len() as u64;
                self.unsynced += visits.len() as u32;
                let own = sharing.members.ownership.own_name();
                for visit in visits {
                    self.frontier.handed_over(visit, own, now)?;
                }
                Ok(())
            }
            MemberEvent::Refused { member, reason } => {
                self.progress
                    .notice(format!("member {member}: {reason}; URLs wait for it"));
                Ok(())
            }
        }
    }

    fn take_over(&mut self, taken: Taken, now: TimeMs) -> Result<(), CrawlError> {
        for FollowedSeed { from, to } in &taken.followed {
            if let (Ok(from), Ok(to)) = (CanonicalUrl::parse(from), CanonicalUrl::parse(to)) {
                self.follow_seed(&from, &to)?;
            }
        }
        for handed in &taken.urls {
            let Ok(url) = CanonicalUrl::parse(&handed.url) else {
                continue;
            };
            if let (Some(sharing), true) = (&mut self.sharing, handed.is_settled) {
                sharing.adopt(&mut self.frontier, url.origin(), now)?;
            }
            self.progress.taken_over += 1;
            let found = Discovery {
                url: url.as_str(),
                depth: u16::try_from(handed.depth).unwrap_or(u16::MAX),
                source: source_of(handed.source()),
                from: (handed.from != 0).then_some(handed.from),
                importance: 1.0,
                modified: (handed.modified_ms != 0).then_some(TimeMs(handed.modified_ms)),
            };
            self.discover_admitted(&url, found, now)?;
        }
        if let Some(sharing) = &mut self.sharing {
            sharing.members.figures.acted();
            sharing.taken.push(taken.durable);
        }
        Ok(())
    }

    /// Makes URLs taken over durable, and acknowledges them.
    pub(super) fn acknowledge_taken(&mut self) -> Result<(), CrawlError> {
        let Some(sharing) = &mut self.sharing else {
            return Ok(());
        };
        if sharing.taken.is_empty() {
            return Ok(());
        }
        self.frontier.sync()?;
        for durable in sharing.taken.drain(..) {
            // The other member may have ended.
            let _ = durable.send(());
        }
        Ok(())
    }

    /// Decides the next step when everything due is given out; `wait` is the longest wait for events, `None` where
    /// nothing is due. A crawl of one process is over then.
    pub(super) fn rest(&mut self, wait: Option<Duration>) -> Rest {
        let Some(sharing) = &self.sharing else {
            return wait.map_or(Rest::Over { is_complete: true }, Rest::Until);
        };
        if let Some(wait) = wait {
            sharing.members.figures.set_busy();
            return Rest::Until(wait);
        }
        match sharing.members.figures.set_idle(sharing.handing == 0) {
            None => Rest::Until(TURN),
            Some(RunEnd::AllQuiet) => Rest::Over { is_complete: true },
            Some(RunEnd::Unreachable(names)) => {
                let names = names.join(", ");
                let waiting = sharing.handing;
                self.progress.notice(format!(
                    "members that cannot be reached: {names}; {waiting} URLs wait for them, and the next run goes on"
                ));
                Rest::Over { is_complete: false }
            }
        }
    }
}

fn source_of(source: UrlSource) -> Source {
    match source {
        UrlSource::Link => Source::Link,
        UrlSource::Seed => Source::Seed,
        UrlSource::Sitemap => Source::Sitemap,
        UrlSource::Redirect => Source::Redirect,
        UrlSource::Ping => Source::Ping,
        UrlSource::List => Source::List,
    }
}
