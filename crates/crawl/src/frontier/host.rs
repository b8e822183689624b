//! Origins in memory: clock, robots.txt, the next URLs.
//!
//! host   := origin:bytes average:varint delay:varint backoff:varint allowed:varint robots rate
//! robots := kind:u8 until:varint     0 unknown, 1 rules, 2 free, 3 wait, 4 parked,
//!                                    5 elsewhere
//! rate   := revisits:varint unchanged:varint gaps:f64le
//!
//! Example, a host just found, `http://a`: 08 68 74 74 70 3a 2f 2f 61 00 00 00 00 00 00 00 00, then 8 bytes 00.
use super::key;
use super::visit::WaitReason;
use crate::bytes::{Reader, put_bytes, put_varint};
use crate::politeness::{Law, Pace, TimeMs};
use crate::recrawl::HostRate;
use std::collections::VecDeque;
use std::net::IpAddr;

/// URLs of a host on their way to another member, at most.
const HANDED_OVER_MAX: u32 = 64;

/// State of robots.txt, with the time until which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Robots {
    Unknown,
    Rules(TimeMs),
    Free(TimeMs),
    Wait(TimeMs),
    Parked(TimeMs),
    /// Another member of the crawl visits the host: its pages are handed over, whatever robots.txt says.
    Elsewhere,
}

impl Robots {
    fn parts(self) -> (u8, TimeMs) {
        match self {
            Robots::Unknown => (0, TimeMs(0)),
            Robots::Rules(until) => (1, until),
            Robots::Free(until) => (2, until),
            Robots::Wait(until) => (3, until),
            Robots::Parked(until) => (4, until),
            Robots::Elsewhere => (5, TimeMs(0)),
        }
    }

    fn from_parts(kind: u8, until: TimeMs) -> Option<Robots> {
        Some(match kind {
            0 => Robots::Unknown,
            1 => Robots::Rules(until),
            2 => Robots::Free(until),
            3 => Robots::Wait(until),
            4 => Robots::Parked(until),
            5 => Robots::Elsewhere,
            _ => return None,
        })
    }

    /// Earliest request of any kind.
    pub(super) fn blocked_until(self) -> TimeMs {
        match self {
            Robots::Wait(until) | Robots::Parked(until) => until,
            Robots::Unknown | Robots::Rules(_) | Robots::Free(_) | Robots::Elsewhere => TimeMs(0),
        }
    }

    /// Returns whether pages may be visited without reading it again.
    pub(super) fn is_valid(self, now: TimeMs) -> bool {
        match self {
            Robots::Rules(until) | Robots::Free(until) => until > now,
            Robots::Elsewhere => true,
            Robots::Unknown | Robots::Wait(_) | Robots::Parked(_) => false,
        }
    }
}

/// One origin.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) origin: Box<str>,
    pub(super) prefix: Box<[u8]>,
    pub(super) owned: bool,
    pub(super) pace: Pace,
    pub(super) robots: Robots,
    pub(super) rate: HostRate,
    pub(super) address: Option<IpAddr>,
    pub(super) in_flight: u32,
    pub(super) robots_in_flight: bool,
    /// Keys of URLs to visit, best first.
    pub(super) queue: VecDeque<Box<[u8]>>,
    /// Due times and keys of the URLs due next, latest first. Those due before `check_at` are all here or in the queue.
    pub(super) due_next: Vec<(TimeMs, Box<[u8]>)>,
    /// Time from which the store may have a due URL that is neither in the queue nor in `due_next`.
    pub(super) check_at: TimeMs,
    /// Key at which the next refill continues.
    pub(super) resume: Option<Box<[u8]>>,
    /// Its valid entry in the heap; [`TimeMs::NEVER`] if it has none.
    pub(super) wake: TimeMs,
    /// Last visit given: of hosts that may be visited, that waits longest comes first.
    pub(super) served: TimeMs,
}

impl Host {
    pub(super) fn new(origin: &str, owned: bool, now: TimeMs) -> Host {
        Host {
            origin: origin.into(),
            prefix: key::prefix_of(origin).into(),
            owned,
            pace: Pace::default(),
            robots: Robots::Unknown,
            rate: HostRate::default(),
            address: None,
            in_flight: 0,
            robots_in_flight: false,
            queue: VecDeque::new(),
            due_next: Vec::new(),
            check_at: now,
            resume: None,
            wake: TimeMs::NEVER,
            served: TimeMs(0),
        }
    }

    /// Returns the earliest request that politeness and robots.txt permit.
    pub(super) fn allowed_at(&self) -> TimeMs {
        self.pace.allowed_at.max(self.robots.blocked_until())
    }

    /// Returns the time from which it may have a due URL that is not in its queue.
    pub(super) fn due_at(&self) -> TimeMs {
        let next = self.due_next.last().map(|(due, _)| *due);
        next.map_or(self.check_at, |due| due.min(self.check_at))
    }

    /// Takes the URL of `due_next` that is due first, if it is.
    pub(super) fn take_due(&mut self, now: TimeMs) -> Option<Box<[u8]>> {
        let due = self.due_next.pop_if(|(due, _)| *due <= now);
        due.map(|(_, key)| key)
    }

    /// Returns the number of visits that may be in flight together.
    pub(super) fn in_flight_max(&self, law: &Law) -> u32 {
        match self.robots {
            Robots::Elsewhere => HANDED_OVER_MAX,
            _ => self.pace.in_flight_max(law, self.owned),
        }
    }

    /// Returns whether a URL of it is due and must wait.
    pub(super) fn is_waiting(&self, now: TimeMs) -> bool {
        let is_due = !self.queue.is_empty() || self.due_at() <= now;
        is_due && self.in_flight == 0 && self.allowed_at() > now
    }

    /// Returns the reason for which it waits, if it waits.
    pub(super) fn wait_reason(&self) -> WaitReason {
        match self.robots {
            Robots::Parked(_) => WaitReason::Parked,
            Robots::Wait(until) if until >= self.pace.allowed_at => WaitReason::Robots,
            _ if self.pace.backoff_ms > 0 => WaitReason::Throttled,
            _ if self.pace.crawl_delay_ms > 0 => WaitReason::CrawlDelay,
            _ => WaitReason::Pause,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.origin.len() + 48);
        put_bytes(&mut out, self.origin.as_bytes());
        put_varint(&mut out, self.pace.average_ms.max(0.0) as u64);
        for number in [
            self.pace.crawl_delay_ms,
            self.pace.backoff_ms,
            self.pace.allowed_at.0,
        ] {
            put_varint(&mut out, number);
        }
        let (kind, until) = self.robots.parts();
        out.push(kind);
        put_varint(&mut out, until.0);
        put_varint(&mut out, self.rate.revisits);
        put_varint(&mut out, self.rate.unchanged);
        out.extend_from_slice(&self.rate.gaps_days.to_le_bytes());
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Host> {
        let mut reader = Reader::new(bytes);
        let origin = std::str::from_utf8(reader.bytes()?).ok()?;
        key::origin_of(origin).filter(|found| *found == origin)?;
        let mut host = Host::new(origin, false, TimeMs(0));
        host.pace.average_ms = reader.varint()? as f64;
        host.pace.crawl_delay_ms = reader.varint()?;
        host.pace.backoff_ms = reader.varint()?;
        host.pace.allowed_at = TimeMs(reader.varint()?);
        host.robots = Robots::from_parts(reader.byte()?, TimeMs(reader.varint()?))?;
        host.rate.revisits = reader.varint()?;
        host.rate.unchanged = reader.varint()?;
        host.rate.gaps_days = f64::from_le_bytes(reader.array()?);
        (reader.is_empty() && host.rate.gaps_days.is_finite()).then_some(host)
    }
}

/// An address that hosts share.
#[derive(Debug, Default)]
pub(super) struct Address {
    pub(super) pace: Pace,
    pub(super) in_flight: u32,
    /// Hosts that wait for the visit in flight.
    pub(super) waiting: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_host_comes_back() {
        let mut host = Host::new("http://a.b:81", false, TimeMs(7));
        host.pace.average_ms = 120.0;
        host.pace.crawl_delay_ms = 5_000;
        host.pace.backoff_ms = 4_000;
        host.pace.allowed_at = TimeMs(99);
        host.robots = Robots::Wait(TimeMs(55));
        host.rate.revisited(true, 1.25);
        let found = Host::decode(&host.encode()).expect("decodes");
        assert_eq!(found.encode(), host.encode());
        assert_eq!(
            (found.pace, found.robots, found.rate),
            (host.pace, host.robots, host.rate)
        );
        assert_eq!(&*found.origin, "http://a.b:81");
        assert!(
            std::mem::size_of::<Host>() <= 330,
            "{}",
            std::mem::size_of::<Host>()
        );
    }

    #[test]
    fn a_wait_has_its_reason() {
        let mut host = Host::new("http://a", false, TimeMs(0));
        host.pace.allowed_at = TimeMs(500);
        assert!(host.is_waiting(TimeMs(499)) && !host.is_waiting(TimeMs(500)));
        assert_eq!(host.wait_reason(), WaitReason::Pause);
        host.pace.crawl_delay_ms = 400;
        assert_eq!(host.wait_reason(), WaitReason::CrawlDelay);
        host.pace.backoff_ms = 1_000;
        assert_eq!(host.wait_reason(), WaitReason::Throttled);
        host.robots = Robots::Wait(TimeMs(900));
        assert_eq!(host.wait_reason(), WaitReason::Robots);
        host.robots = Robots::Parked(TimeMs(9_000));
        assert_eq!(host.wait_reason(), WaitReason::Parked);
        assert_eq!(host.allowed_at(), TimeMs(9_000));
        host.in_flight = 1;
        assert!(!host.is_waiting(TimeMs(0)));
    }

    proptest! {
        #[test]
        fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Host::decode(&bytes);
        }
    }
}
