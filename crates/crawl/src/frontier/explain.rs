//! Why a URL is where it is, and how many are in each state.
use super::core::Frontier;
use super::key;
use super::law::effective_due;
use super::record::Record;
use super::state::State;
use super::visit::{Counts, Explanation};
use crate::politeness::TimeMs;

impl Frontier {
    /// State, reason, dates and next visit of a URL; `None` if it is not known.
    pub fn explain(&mut self, url: &str) -> Option<Explanation> {
        let origin = key::origin_of(url)?;
        let id = self.find_host(origin)?;
        let key = key::key_of(&self.hosts[id as usize].prefix, origin, url);
        let (record, _) = self.store.record(&key)?;
        let host = &self.hosts[id as usize];
        let due = effective_due(&record, self.again_at);
        let allowed_at = host.pace.allowed_at.max(host.robots.blocked_until());
        Some(Explanation {
            reason: record.state.to_string(),
            next_visit: (due != TimeMs::NEVER).then(|| due.max(allowed_at)),
            in_flight: self.keys_in_flight.contains(key.as_slice()),
            host_parked: matches!(host.robots, super::host::Robots::Parked(_)),
            record,
        })
    }

    /// URLs by state, hosts by what they wait for. Linear in the number of hosts.
    pub fn counts(&self, now: TimeMs) -> Counts {
        let (classes, unchecked) = self.store.counts();
        let states: Vec<(State, u64)> = classes
            .iter()
            .filter_map(|(class, count)| Some((State::from_class(*class)?, *count)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let of = |wanted| {
            states
                .iter()
                .find(|(state, _)| *state == wanted)
                .map_or(0, |(_, count)| *count)
        };
        let waiting = |host: &&super::host::Host| {
            let due = !host.queue.is_empty() || host.check_at <= now;
            due && host.in_flight == 0
                && host.pace.allowed_at.max(host.robots.blocked_until()) > now
        };
        Counts {
            known: states.iter().map(|(_, count)| count).sum(),
            unchecked,
            queued: of(State::Queued),
            fetched: of(State::Fetched),
            hosts: self.hosts.len() as u64,
            hosts_waiting: self.hosts.iter().filter(waiting).count() as u64,
            in_flight: self.in_flight.len() as u64,
            disk_bytes: self.store.disk_bytes(),
            states,
        }
    }

    /// Calls `visit` with each URL of an origin and its record, in order of paths, until it returns false.
    pub fn for_each_url(&mut self, origin: &str, mut visit: impl FnMut(&str, &Record) -> bool) {
        let Some(id) = self.find_host(origin) else {
            return;
        };
        let prefix = self.hosts[id as usize].prefix.clone();
        self.store.scan(
            &key::pages_of(&prefix),
            &key::end_of(&prefix),
            |key, found| match found.record() {
                Some(record) => visit(&key::url_of(&prefix, origin, key), &record),
                None => true,
            },
        );
    }

    /// Returns all origins, with the time before which none of their pages is visited.
    pub fn origins(&self) -> impl Iterator<Item = (&str, TimeMs)> {
        self.hosts.iter().map(|host| {
            (
                &*host.origin,
                host.pace.allowed_at.max(host.robots.blocked_until()),
            )
        })
    }
}
