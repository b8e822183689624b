//! Why a URL is where it is, and how many are in each state.
use super::core::Frontier;
use super::host::{Host, Robots};
use super::key;
use super::law::effective_due;
use super::record::Record;
use super::state::State;
use super::visit::{Counts, Explanation, Waiting};
use crate::politeness::TimeMs;
use std::cmp::Reverse;

impl Frontier {
    /// State, reason, dates and next visit of a URL; `None` if it is not known.
    pub fn explain(&mut self, url: &str) -> Option<Explanation> {
        let origin = key::origin_of(url)?;
        let id = self.find_host(origin)?;
        let key = key::key_of(&self.hosts[id as usize].prefix, origin, url);
        let (record, _) = self.store.record(&key)?;
        let host = &self.hosts[id as usize];
        let due = effective_due(&record, self.again_at);
        let allowed_at = host.allowed_at();
        Some(Explanation {
            reason: record.state.to_string(),
            next_visit: (due < TimeMs::LATEST).then(|| due.max(allowed_at)),
            in_flight: self.keys_in_flight.contains(key.as_slice()),
            host_parked: matches!(host.robots, Robots::Parked(_)),
            record,
        })
    }

    /// Counts URLs by state, and hosts by the reason for which they wait. Linear in the number of hosts.
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
        Counts {
            known: states.iter().map(|(_, count)| count).sum(),
            unchecked,
            queued: of(State::Queued),
            fetched: of(State::Fetched),
            hosts: self.hosts.len() as u64,
            hosts_waiting: self.hosts_waiting(now).count() as u64,
            in_flight: self.in_flight.len() as u64,
            disk_bytes: self.store.disk_bytes(),
            states,
        }
    }

    /// Returns up to `max` hosts with a URL that is due and must wait, those that wait longest first. Linear in the number
    /// of hosts.
    pub fn waiting(&self, now: TimeMs, max: usize) -> Vec<Waiting> {
        let mut hosts: Vec<&Host> = self.hosts_waiting(now).collect();
        let order = |host: &&Host| Reverse(host.allowed_at());
        if hosts.len() > max && max > 0 {
            hosts.select_nth_unstable_by_key(max - 1, order);
        }
        hosts.truncate(max);
        hosts.sort_by_key(order);
        let told = hosts.into_iter().map(|host| Waiting {
            origin: host.origin.to_string(),
            until: host.allowed_at(),
            reason: host.wait_reason(),
        });
        told.collect()
    }

    fn hosts_waiting(&self, now: TimeMs) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(move |host| host.is_waiting(now))
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
        self.hosts
            .iter()
            .map(|host| (&*host.origin, host.allowed_at()))
    }
}
