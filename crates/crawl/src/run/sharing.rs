//! What a crawl that several members share knows of them: who visits which host.

use super::setup::members_of;
use super::state::CrawlState;
use crate::config::CrawlConfig;
use crate::error::CrawlError;
use crate::frontier::{Frontier, FrontierError, Source, Visit};
use crate::members::{Members, Ownership};
use crate::politeness::TimeMs;
use std::collections::HashMap;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use vfs::SharedStorage;
use wire::members::{HandedUrl, UrlSource};

/// This process among the members of a crawl.
#[derive(Debug, Clone)]
pub struct MemberSetup {
    /// Its name in the configuration.
    pub name: String,
    /// Listener for the other members.
    pub listener: Arc<TcpListener>,
}

/// State of a crawl that is shared with other members.
pub(super) struct Sharing {
    pub(super) members: Members,
    /// Members by origin.
    places: HashMap<String, Place>,
    /// URLs on their way to other members.
    pub(super) handing: usize,
    /// Acknowledgements of URLs that are taken over, but not durable yet.
    pub(super) taken: Vec<oneshot::Sender<()>>,
}

/// Member that visits a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Own,
    Other(usize),
    /// This member decides, by the address of the host.
    Undecided,
}

/// Next step, once the frontier has given out what is due.
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
        Some(member) => Some(config.member_at(member)?),
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

impl Sharing {
    pub(super) fn new(members: Members) -> Sharing {
        Sharing {
            members,
            places: HashMap::new(),
            handing: 0,
            taken: Vec::new(),
        }
    }

    /// Returns the other member that visits an origin. Settles it, if this member decides and knows the address.
    pub(super) fn elsewhere(
        &mut self,
        frontier: &mut Frontier,
        origin: &str,
        address: Option<IpAddr>,
        now: TimeMs,
    ) -> Result<Option<usize>, FrontierError> {
        let ownership = &self.members.ownership;
        let known = self.places.get(origin).copied();
        let mut place = known.unwrap_or_else(|| place_of(ownership, frontier, origin));
        if let (Place::Undecided, Some(address)) = (place, address) {
            let member = ownership.of_address(address);
            frontier.settle_host(origin, ownership.name(member), now)?;
            place = placed(ownership, member);
            if place != Place::Own {
                // Before that member has a URL of it: after a crash the address might name another one.
                frontier.sync()?;
            }
        }
        if known != Some(place) {
            self.places.insert(origin.to_owned(), place);
        }
        Ok(match place {
            Place::Own | Place::Undecided => None,
            Place::Other(member) => Some(member),
        })
    }

    pub(super) fn hand_over(&mut self, member: usize, visit: &Visit, now: TimeMs) {
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
    pub(super) fn adopt(
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
        Source::List => UrlSource::List,
        Source::Link | Source::Probe => UrlSource::Link,
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
