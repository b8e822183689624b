//! A crawl that several members share: which visits are handed over, what is taken over, and when the run of all is over.

use super::crawl::Crawl;
use super::giving::TURN;
use super::setup::members_of;
use super::state::CrawlState;
use super::visit::Event;
use crate::config::CrawlConfig;
use crate::error::CrawlError;
use crate::frontier::{Discovery, Frontier, FrontierError, Outcome, Source, Visit, VisitKind};
use crate::members::{MemberEvent, Members, Ownership, RunEnd, Taken};
use crate::politeness::TimeMs;
use std::collections::HashMap;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use vfs::SharedStorage;
use web::address::CanonicalUrl;
use wire::members::{FollowedSeed, HandedUrl, UrlSource};

/// This process among the members of a crawl.
#[derive(Debug, Clone)]
pub struct MemberSetup {
    /// Its name in the configuration.
    pub name: String,
    /// Listener for the other members.
    pub listener: Arc<TcpListener>,
}

/// What a crawl knows of the other members.
pub(super) struct Sharing {
    members: Members,
    /// By origin.
    places: HashMap<String, Place>,
    /// URLs on their way to other members.
    handing: usize,
    /// Acknowledgements of URLs that are taken over, but not durable yet.
    taken: Vec<oneshot::Sender<()>>,
}

/// Who visits a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Own,
    Other(usize),
    /// This member decides, by the address of the host.
    Undecided,
}

/// What follows when the frontier has given out what is due.
pub(super) enum Rest {
    /// Wait for events for this time.
    Until(Duration),
    /// The run is over.
    Over { is_complete: bool },
}

/// Checks that `member` is one of the configuration and that the folder is its own, and notes both in `state`. Returns the
/// ownership; `None` where one process has the crawl.
pub(super) fn ownership(
    config: &CrawlConfig,
    member: Option<&str>,
    storage: &SharedStorage,
    state: &mut CrawlState,
    is_new: bool,
) -> Result<Option<Ownership>, CrawlError> {
    let names: Vec<String> = config
        .members
        .iter()
        .map(|member| member.name.clone())
        .collect();
    let own = match member {
        None if names.is_empty() => None,
        None => {
            let names = names.join(", ");
            return Err(CrawlError::NoMember(format!(
                "the configuration has members; say which one this is: --member with one of {names}"
            )));
        }
        Some(member) => Some(
            names
                .iter()
                .position(|name| name == member)
                .ok_or_else(|| {
                    let names = match names.is_empty() {
                        true => "the configuration has no [[member]]".to_owned(),
                        false => format!("its members are {}", names.join(", ")),
                    };
                    CrawlError::NoMember(format!("{member}: no member of this crawl; {names}"))
                })?,
        ),
    };
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let asked = (sorted, member.map(str::to_owned));
    let found = (state.members.clone(), state.member.clone());
    if !is_new && asked != found {
        let told = |(names, member): (Vec<String>, Option<String>)| match member {
            None => "that of one process".to_owned(),
            Some(member) => format!("that of {member} among {}", names.join(", ")),
        };
        return Err(CrawlError::OtherMember {
            path: storage.location(),
            found: told(found),
            asked: told(asked),
        });
    }
    (state.members, state.member) = asked;
    Ok(own.map(|own| Ownership::new(names, own)))
}

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
        self.sharing = Some(Sharing {
            members,
            places: HashMap::new(),
            handing: 0,
            taken: Vec::new(),
        });
        Ok(())
    }

    /// Tells the other members that this one takes nothing any more.
    pub(super) fn leave_members(&self) {
        if let Some(sharing) = &self.sharing {
            sharing.members.figures.set_ended();
        }
    }

    /// Tells the other members of a redirect that extends a site.
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

    /// Takes what another member has sent, or what became of something sent to it.
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

    /// Makes durable what was taken over, and acknowledges it.
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

    /// Decides what follows when everything due is given out; `wait` is the longest wait for events, `None` where nothing
    /// is due. A crawl of one process is over then.
    pub(super) fn rest(&mut self, wait: Option<Duration>) -> Rest {
        let (Some(sharing), None) = (&self.sharing, wait) else {
            return wait.map_or(Rest::Over { is_complete: true }, |wait| {
                if let Some(sharing) = &self.sharing {
                    sharing.members.figures.set_busy();
                }
                Rest::Until(wait)
            });
        };
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

impl Sharing {
    /// Returns the other member that visits an origin. Settles it, if this member decides and knows the address.
    fn elsewhere(
        &mut self,
        frontier: &mut Frontier,
        origin: &str,
        address: Option<IpAddr>,
        now: TimeMs,
    ) -> Result<Option<usize>, FrontierError> {
        let ownership = &self.members.ownership;
        let mut place = match self.places.get(origin) {
            Some(place) => *place,
            None => place_of(ownership, frontier, origin),
        };
        if let (Place::Undecided, Some(address)) = (place, address) {
            let member = ownership.of_address(address);
            frontier.settle_host(origin, ownership.name(member), now)?;
            place = placed(ownership, member);
        }
        self.places.insert(origin.to_owned(), place);
        Ok(match place {
            Place::Own | Place::Undecided => None,
            Place::Other(member) => Some(member),
        })
    }

    fn hand_over(&mut self, member: usize, visit: &Visit, now: TimeMs) {
        let Some(record) = &visit.record else {
            return;
        };
        // Handed over before, it comes again because a change is claimed.
        let is_claimed = record.last != TimeMs(0) || record.source == Source::Ping;
        let ownership = &self.members.ownership;
        let is_mine_to_settle = ownership.of_host(host_of(&visit.origin)) == ownership.own();
        let handed = HandedUrl {
            url: visit.url.clone(),
            depth: u32::from(record.depth),
            source: wire_source(record.source) as i32,
            from: record.from.unwrap_or(0),
            modified_ms: if is_claimed { now.0 } else { 0 },
            is_settled: is_mine_to_settle,
        };
        self.handing += 1;
        self.members.hand_over(member, handed, visit.id);
    }

    /// Takes a host that another member has settled to be this one's.
    fn adopt(
        &mut self,
        frontier: &mut Frontier,
        origin: &str,
        now: TimeMs,
    ) -> Result<(), FrontierError> {
        let own = self.members.ownership.own_name();
        frontier.adopt_host(origin, own, now)?;
        self.places.insert(origin.to_owned(), Place::Own);
        Ok(())
    }
}

/// Returns the member to which URLs of an origin go from the crawl in `storage`; `None` where one process has the crawl.
pub(crate) fn member_to_ask(
    storage: &SharedStorage,
    frontier: &mut Frontier,
    origin: &str,
) -> Result<Option<String>, CrawlError> {
    let (members, own) = members_of(storage)?;
    let own = members.iter().position(|name| Some(name) == own.as_ref());
    let Some(own) = own else {
        return Ok(None);
    };
    let ownership = Ownership::new(members, own);
    let member = match place_of(&ownership, frontier, origin) {
        Place::Other(member) => member,
        Place::Own | Place::Undecided => own,
    };
    Ok(Some(ownership.name(member).to_owned()))
}

fn place_of(ownership: &Ownership, frontier: &mut Frontier, origin: &str) -> Place {
    let settled = frontier.member_of(origin);
    if let Some(member) = settled.and_then(|name| ownership.position(&name)) {
        return placed(ownership, member);
    }
    match placed(ownership, ownership.of_host(host_of(origin))) {
        Place::Own => Place::Undecided,
        other => other,
    }
}

fn placed(ownership: &Ownership, member: usize) -> Place {
    match member == ownership.own() {
        true => Place::Own,
        false => Place::Other(member),
    }
}

/// Returns the host of an origin without scheme and port: http and https of a host have one member.
fn host_of(origin: &str) -> &str {
    let (_, authority) = origin.split_once("://").unwrap_or(("", origin));
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|c| c.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn wire_source(source: Source) -> UrlSource {
    match source {
        Source::Seed => UrlSource::Seed,
        Source::Sitemap => UrlSource::Sitemap,
        Source::Redirect => UrlSource::Redirect,
        Source::Ping => UrlSource::Ping,
        Source::Link | Source::Probe => UrlSource::Link,
    }
}

fn source_of(source: UrlSource) -> Source {
    match source {
        UrlSource::Link => Source::Link,
        UrlSource::Seed => Source::Seed,
        UrlSource::Sitemap => Source::Sitemap,
        UrlSource::Redirect => Source::Redirect,
        UrlSource::Ping => Source::Ping,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_and_all_ports_of_a_host_have_one_member() {
        for origin in ["http://a.b", "https://a.b", "https://a.b:8443"] {
            assert_eq!(host_of(origin), "a.b");
        }
        assert_eq!(host_of("http://[::1]"), "[::1]");
        assert_eq!(host_of("http://[::1]:80"), "[::1]");
    }
}
