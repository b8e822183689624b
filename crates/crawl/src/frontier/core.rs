//! State of the frontier, opening, discoveries, durability.
use super::error::{Damage, FrontierError};
use super::host::{Address, Host};
use super::key;
use super::options::FrontierOptions;
use super::sighting::Sighting;
use super::store::{Recovered, Store};
use super::visit::Discovery;
use crate::bytes::{Reader, put_varint};
use crate::politeness::{ShapeBudget, TimeMs};
use crate::recrawl::Threshold;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::net::IpAddr;
use vfs::SharedStorage;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// All known URLs and the order of visits; durable.
///
/// One caller drives it: `next` gives visits until it says when to call again, `finished` and `robots` end them,
/// `sync` acknowledges. It has no clock: each call brings the time.
pub struct Frontier {
    pub(super) options: FrontierOptions,
    pub(super) store: Store,
    pub(super) hosts: Vec<Host>,
    /// Hosts by the hash of their origin.
    by_origin: HashMap<u64, u32>,
    /// Hosts by wake time; entries that differ from the host's own are stale.
    pub(super) ready: BinaryHeap<Reverse<(TimeMs, TimeMs, u32)>>,
    pub(super) addresses: HashMap<IpAddr, Address>,
    pub(super) in_flight: HashMap<u64, InFlight>,
    pub(super) keys_in_flight: HashSet<Box<[u8]>>,
    pub(super) next_visit: u64,
    /// Fingerprints by their low bits.
    recent: Vec<u64>,
    pub(super) shapes: HashMap<(u32, u64), ShapeBudget>,
    pub(super) threshold: Threshold,
    /// Time at which the threshold last counted.
    pub(super) counted_at: TimeMs,
    pub(super) again_at: TimeMs,
    /// No address is visited before: what was in flight at a crash is not known.
    pub(super) addresses_from: TimeMs,
}

/// A visit given.
pub(super) struct InFlight {
    pub(super) host: u32,
    /// Key of the page, `None` for robots.txt.
    pub(super) key: Option<Box<[u8]>>,
    /// Address that it occupies.
    pub(super) address: Option<IpAddr>,
    /// Time at which the host was served before, restored if this visit is taken back.
    pub(super) served_before: TimeMs,
}

/// Key part of an origin's state.
pub(super) const PART_HOST: &[u8] = b"h";
/// Key part of the source of an origin's robots.txt.
pub(super) const PART_ROBOTS: &[u8] = b"r";
/// Part of an origin: the member of the crawl that visits it.
pub(super) const PART_MEMBER: &[u8] = b"m";
/// Part of an origin: a path shape that is parked; its number follows.
pub(super) const PART_SHAPE: &[u8] = b"s";
const WHOLE_AGAIN: &[u8] = b"again";
const WHOLE_THRESHOLD: &[u8] = b"threshold";

impl Frontier {
    /// Opens the frontier in `storage`, or makes one. Visits that were in flight are due again.
    pub fn open(
        storage: SharedStorage,
        options: FrontierOptions,
        now: TimeMs,
    ) -> Result<(Frontier, Recovered), FrontierError> {
        let (store, mut recovered) = Store::open(storage, options.store)?;
        let recent = vec![0; options.recent_urls_max.max(2).next_power_of_two()];
        let mut frontier = Frontier {
            threshold: Threshold::new(&options.recrawl),
            options,
            store,
            hosts: Vec::new(),
            by_origin: HashMap::new(),
            ready: BinaryHeap::new(),
            addresses: HashMap::new(),
            in_flight: HashMap::new(),
            keys_in_flight: HashSet::new(),
            next_visit: 0,
            recent,
            shapes: HashMap::new(),
            counted_at: now,
            again_at: TimeMs(0),
            addresses_from: TimeMs(0),
        };
        frontier.load(now);
        // Also where no host is known: what was visited before a crash may not have become durable.
        if !recovered.is_new {
            frontier.addresses_from = now.plus_ms(frontier.options.law.gap_ms_min);
        }
        recovered.damage = frontier.store.damage().to_vec();
        Ok((frontier, recovered))
    }

    fn load(&mut self, now: TimeMs) {
        if let Some(value) = self.store.get(&key::whole(WHOLE_AGAIN)) {
            self.again_at = TimeMs(Reader::new(&value).varint().unwrap_or(0));
        }
        if let Some(value) = self.store.get(&key::whole(WHOLE_THRESHOLD)) {
            let bits = Reader::new(&value).array().map(f64::from_le_bytes);
            if let Some(value) = bits.filter(|value| value.is_finite() && *value > 0.0) {
                self.threshold = Threshold::at(value);
            }
        }
        for (mut host, shapes) in self.stored_hosts() {
            host.owned = self
                .options
                .owned
                .iter()
                .any(|owned| **owned == *host.origin);
            host.pace.allow_after(&self.options.law, host.owned, now);
            host.check_at = now;
            let id = self.add_host(host);
            for shape in shapes {
                self.shapes.entry((id, shape)).or_default().parked = true;
            }
        }
    }

    /// Returns the hosts, each with its shapes that are parked. Goes from host to host: pages are jumped over.
    fn stored_hosts(&mut self) -> Vec<(Host, Vec<u64>)> {
        let mut hosts: Vec<(Host, Vec<u64>)> = Vec::new();
        self.store.jump(&key::whole(b""), |key, value| {
            if let Some((host, shapes)) = hosts.last_mut()
                && key.starts_with(&host.prefix)
            {
                let shapes_from = key::part_of(&host.prefix, PART_SHAPE);
                if let Some(number) = key.strip_prefix(shapes_from.as_slice()) {
                    shapes.extend(number.try_into().map(u64::from_le_bytes));
                    return key::after(key);
                }
                let is_before = *key < *shapes_from;
                return if is_before {
                    shapes_from
                } else {
                    key::end_of(&host.prefix)
                };
            }
            // Not the state of a host: robots.txt or a shape without one, or a page of a host whose state is lost.
            let Some(host) = Host::decode(value) else {
                return key::after(key);
            };
            let next = key::part_of(&host.prefix, PART_SHAPE);
            hosts.push((host, Vec::new()));
            next
        });
        hosts
    }

    /// Makes all URLs due now that would be due at some time: the begin of a further crawl, by conditional requests.
    pub fn again(&mut self, now: TimeMs) -> Result<(), FrontierError> {
        self.again_at = now;
        let mut value = Vec::new();
        put_varint(&mut value, now.0);
        self.store.put(&key::whole(WHOLE_AGAIN), value, None)?;
        for id in 0..self.hosts.len() as u32 {
            self.check(id, now);
        }
        Ok(())
    }

    /// Notes a URL. False if it is known for certain; true if it is new, or was not checked yet.
    pub fn discover(&mut self, found: &Discovery<'_>, now: TimeMs) -> Result<bool, FrontierError> {
        let Some(origin) = key::origin_of(found.url) else {
            return Ok(false);
        };
        let modified = found.modified.unwrap_or(TimeMs(0)).min(now);
        // Navigation links come with each page: the same sighting twice says nothing new.
        let salt = u64::from(found.depth) << 32 | u64::from(found.importance.to_bits());
        let fingerprint = xxh3_64_with_seed(found.url.as_bytes(), salt) | 1;
        let slot = (fingerprint >> 1) as usize & (self.recent.len() - 1);
        if modified == TimeMs(0) && self.recent[slot] == fingerprint {
            return Ok(false);
        }
        let id = self.host_of(origin, now)?;
        let sighting = Sighting {
            source: found.source,
            depth: found.depth,
            from: found.from.filter(|from| *from != 0),
            importance: found.importance,
            at: now,
            modified,
        };
        let key = key::key_of(&self.hosts[id as usize].prefix, origin, found.url);
        let fresh = self.store.see(&key, &sighting)?;
        self.recent[slot] = fingerprint;
        if fresh || modified > TimeMs(0) {
            self.check(id, now);
        }
        self.checkpoint_if_full()?;
        Ok(fresh)
    }

    /// Notes several URLs. Returns the number of those for which `discover` is true.
    pub fn discover_all<'a>(
        &mut self,
        found: impl IntoIterator<Item = Discovery<'a>>,
        now: TimeMs,
    ) -> Result<usize, FrontierError> {
        let mut fresh = 0;
        for discovery in found {
            fresh += usize::from(self.discover(&discovery, now)?);
        }
        Ok(fresh)
    }

    /// Makes everything noted so far durable. The WARC records of finished visits must be synced before.
    pub fn sync(&mut self) -> Result<(), FrontierError> {
        self.store.sync()
    }

    /// Makes everything durable and begins a new journal. Happens by itself when the batch is full.
    pub fn checkpoint(&mut self) -> Result<(), FrontierError> {
        let value = self.threshold.value.to_le_bytes().to_vec();
        if self.options.recrawl.revisits_a_day > 0.0 {
            self.store.put(&key::whole(WHOLE_THRESHOLD), value, None)?;
        }
        self.store.checkpoint()
    }

    /// Merges at most `entries` entries of runs; for idle times. True when there is more to merge.
    pub fn work(&mut self, entries: usize) -> Result<bool, FrontierError> {
        self.store.work(entries)
    }

    /// Places that could not be read so far.
    pub fn damage(&self) -> &[Damage] {
        self.store.damage()
    }

    pub(super) fn checkpoint_if_full(&mut self) -> Result<(), FrontierError> {
        if self.store.is_full() {
            self.checkpoint()
        } else {
            Ok(())
        }
    }

    pub(super) fn find_host(&self, origin: &str) -> Option<u32> {
        let id = *self.by_origin.get(&xxh3_64(origin.as_bytes()))?;
        (*self.hosts[id as usize].origin == *origin).then_some(id)
    }

    /// Returns the host of an origin; a new one is made durable with its first URL.
    pub(super) fn host_of(&mut self, origin: &str, now: TimeMs) -> Result<u32, FrontierError> {
        if let Some(id) = self.find_host(origin) {
            return Ok(id);
        }
        let owned = self.options.owned.iter().any(|owned| owned == origin);
        let id = self.add_host(Host::new(origin, owned, now));
        self.store_host(id)?;
        Ok(id)
    }

    fn add_host(&mut self, host: Host) -> u32 {
        let id = self.hosts.len() as u32;
        self.by_origin.insert(xxh3_64(host.origin.as_bytes()), id);
        self.hosts.push(host);
        self.schedule(id);
        id
    }

    pub(super) fn store_host(&mut self, id: u32) -> Result<(), FrontierError> {
        let host = &self.hosts[id as usize];
        let key = key::part_of(&host.prefix, PART_HOST);
        let value = host.encode();
        self.store.put(&key, value, None)
    }

    /// Makes the store be looked through for URLs of a host that are due at `at`.
    pub(super) fn check(&mut self, id: u32, at: TimeMs) {
        let host = &mut self.hosts[id as usize];
        if at < host.check_at {
            host.check_at = at;
            self.schedule(id);
        }
    }
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier")
            .field("hosts", &self.hosts.len())
            .finish_non_exhaustive()
    }
}
