//! Random calls on the queues and on a twin of maps.
use super::super::{Metadata, Put, PutStatus, QueueName, Queues, Take, UrlFilter, UrlRecord};
use super::{START, open, small, take_all};
use crate::politeness::TimeMs;
use proptest::prelude::*;
use std::collections::BTreeMap;
use vfs::MemoryStorage;

#[derive(Debug, Default)]
struct TwinQueue {
    urls: BTreeMap<String, UrlRecord>,
    held: BTreeMap<String, TimeMs>,
    gave_at: Option<TimeMs>,
    blocked_until_s: u64,
    delay_s: Option<u32>,
    limit: u32,
}

impl TwinQueue {
    fn count(&self, completed: bool) -> u64 {
        let urls = self.urls.values();
        urls.filter(|record| record.is_completed() == completed)
            .count() as u64
    }

    fn held(&self, now: TimeMs) -> usize {
        self.held.values().filter(|until| **until > now).count()
    }

    /// Returns what it gives, in order.
    fn would_give(&self, default_delay_s: u32, most: usize, now: TimeMs) -> Vec<String> {
        let pause_ms = u64::from(self.delay_s.unwrap_or(default_delay_s)) * 1000;
        let is_late = self.gave_at.is_some_and(|at| at.plus_ms(pause_ms) > now);
        let is_full = self.limit > 0 && self.count(true) >= u64::from(self.limit);
        if is_late || is_full || self.blocked_until_s * 1000 > now.0 {
            return Vec::new();
        }
        let mut due: Vec<(u64, &String)> = (self.urls.iter())
            .filter(|(url, record)| {
                let is_held = self.held.get(*url).is_some_and(|until| *until > now);
                !record.is_completed() && record.due_s * 1000 <= now.0 && !is_held
            })
            .map(|(url, record)| (record.due_s, url))
            .collect();
        due.sort();
        let room = most.saturating_sub(self.held(now));
        due.into_iter()
            .take(room)
            .map(|(_, url)| url.clone())
            .collect()
    }
}

#[derive(Debug, Clone)]
enum Call {
    Put(Put),
    Take(Take),
    Wait(u64),
    Block(QueueName, u64),
    Delay(Option<QueueName>, u32),
    Limit(QueueName, u32),
    DeleteQueue(QueueName),
    DeleteCrawl(String),
    Purge(QueueName, u64),
    Reopen,
}

fn crawl() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["DEFAULT", "other"]).prop_map(str::to_owned)
}

fn queue() -> impl Strategy<Value = QueueName> {
    let keys = prop::sample::select(vec!["a", "b", "a.b"]);
    (crawl(), keys).prop_map(|(crawl, key)| QueueName {
        crawl,
        key: key.to_owned(),
    })
}

/// Seconds around the start of a test.
fn second() -> impl Strategy<Value = u64> {
    (0u64..40).prop_map(|s| START.0 / 1000 - 10 + s)
}

fn call() -> impl Strategy<Value = Call> {
    let due = prop_oneof![Just(None), Just(Some(0)), second().prop_map(Some)];
    let metadata = prop_oneof![
        Just(Metadata::new()),
        Just(vec![("k".to_owned(), vec!["v".to_owned(), String::new()])]),
    ];
    let put = (queue(), 0u32..12, due, metadata).prop_map(|(name, number, due_s, metadata)| {
        Call::Put(Put {
            url: format!("http://h/{number}"),
            key: name.key,
            crawl: name.crawl,
            metadata,
            due_s,
        })
    });
    let limits = || prop_oneof![Just(usize::MAX), 1usize..4];
    let take = (
        prop::option::of(queue()),
        any::<bool>(),
        limits(),
        limits(),
        1u64..8_000,
    )
        .prop_map(
            |(name, any_queue, queues_max, urls_per_queue_max, hold_ms)| {
                Call::Take(Take {
                    crawl: name.as_ref().map(|name| name.crawl.clone()),
                    key: name.filter(|_| !any_queue).map(|name| name.key),
                    queues_max,
                    urls_per_queue_max,
                    hold_ms,
                })
            },
        );
    prop_oneof![
        10 => put,
        5 => take,
        3 => (0u64..4_000).prop_map(Call::Wait),
        1 => (queue(), second()).prop_map(|(name, until)| Call::Block(name, until)),
        1 => (prop::option::of(queue()), 0u32..4).prop_map(|(name, s)| Call::Delay(name, s)),
        1 => (queue(), 0u32..4).prop_map(|(name, limit)| Call::Limit(name, limit)),
        1 => queue().prop_map(Call::DeleteQueue),
        1 => crawl().prop_map(Call::DeleteCrawl),
        1 => (queue(), second()).prop_map(|(name, s)| Call::Purge(name, s)),
        1 => Just(Call::Reopen),
    ]
}

#[derive(Default)]
struct Twin {
    queues: BTreeMap<QueueName, TwinQueue>,
    delay_s: Option<u32>,
}

impl Twin {
    fn put(&mut self, put: &Put, now: TimeMs) -> PutStatus {
        let name = QueueName {
            crawl: put.crawl.clone(),
            key: put.key.clone(),
        };
        let queue = self.queues.entry(name).or_default();
        let before = queue.urls.get(&put.url);
        if put.due_s.is_none() && before.is_some() {
            return PutStatus::Skipped;
        }
        let now_s = now.0 / 1000;
        let record = UrlRecord {
            due_s: put.due_s.unwrap_or(now_s),
            created_s: before.map_or(now_s, |before| before.created_s),
            metadata: put.metadata.clone(),
        };
        queue.held.remove(&put.url);
        queue.urls.insert(put.url.clone(), record);
        PutStatus::Ok
    }

    fn take(&mut self, take: &Take, queues: &mut Queues, now: TimeMs) {
        let mut given: BTreeMap<QueueName, Vec<String>> = BTreeMap::new();
        for one in take_all(queues, take.clone(), now) {
            let record = &self.queues[&one.queue].urls[&one.url];
            assert_eq!(one.metadata, record.metadata);
            given.entry(one.queue).or_default().push(one.url);
        }
        let is_wanted = |name: &QueueName| {
            take.crawl.as_ref().is_none_or(|crawl| *crawl == name.crawl)
                && take.key.as_ref().is_none_or(|key| *key == name.key)
        };
        let delay_s = self.delay_s.unwrap_or(1);
        let would = |queue: &TwinQueue| queue.would_give(delay_s, take.urls_per_queue_max, now);
        let mut eligible = 0;
        for (name, queue) in self.queues.iter_mut().filter(|(name, _)| is_wanted(name)) {
            let expected = would(queue);
            eligible += usize::from(!expected.is_empty());
            if let Some(urls) = given.remove(name) {
                assert_eq!(urls, expected, "{name:?}");
                queue.gave_at = Some(now);
                let until = now.plus_ms(take.hold_ms);
                queue.held.extend(urls.into_iter().map(|url| (url, until)));
                eligible -= 1;
            }
        }
        assert!(given.is_empty(), "nobody asked for {given:?}");
        let is_unlimited = take.queues_max == usize::MAX;
        assert!(
            !is_unlimited || eligible == 0,
            "{eligible} queues were left out"
        );
    }

    fn agrees(&self, queues: &mut Queues, now: TimeMs) {
        for (name, queue) in &self.queues {
            let counts = queues.counts(&name.crawl, Some(&name.key), now);
            let found = [counts.queues, counts.active, counts.completed, counts.held];
            let held = queue.held(now) as u64;
            assert_eq!(found, [1, queue.count(false), queue.count(true), held]);
            let filter = UrlFilter {
                crawl: name.crawl.clone(),
                key: Some(name.key.clone()),
                ..UrlFilter::default()
            };
            let mut listed = BTreeMap::new();
            queues.urls(&filter, |found| {
                assert_eq!(found.queue, *name);
                listed.insert(found.url, found.record);
                true
            });
            assert_eq!(listed, queue.urls);
        }
        for crawl in ["DEFAULT", "other"] {
            let names = self.queues.keys().filter(|name| name.crawl == crawl);
            let found: Vec<&QueueName> = queues.queues_of(crawl, true, now).collect();
            assert!(names.eq(found));
            let active = self.queues.iter().filter(|(name, queue)| {
                let is_blocked = queue.blocked_until_s * 1000 > now.0;
                name.crawl == crawl && queue.count(false) > 0 && !is_blocked
            });
            let found: Vec<&QueueName> = queues.queues_of(crawl, false, now).collect();
            assert!(active.map(|(name, _)| name).eq(found));
        }
    }
}

fn remove(urls: &mut BTreeMap<String, UrlRecord>, created_s: u64) -> u64 {
    let before = urls.len();
    urls.retain(|_, record| record.created_s >= created_s);
    (before - urls.len()) as u64
}

fn agree(calls: Vec<Call>) {
    let disk = MemoryStorage::new();
    let (mut queues, mut twin) = (open(&disk, small()), Twin::default());
    let mut now = START;
    for call in calls {
        match call {
            Call::Put(put) => {
                let status = queues.put(put.clone(), now).expect("puts");
                assert_eq!(status, twin.put(&put, now), "{put:?}");
            }
            Call::Take(take) => twin.take(&take, &mut queues, now),
            Call::Wait(ms) => now = now.plus_ms(ms),
            Call::Block(name, until_s) => {
                queues.block_until(&name, until_s).expect("blocks");
                if let Some(queue) = twin.queues.get_mut(&name) {
                    queue.blocked_until_s = until_s;
                }
            }
            Call::Delay(None, delay_s) => {
                queues.set_delay(None, delay_s).expect("sets");
                twin.delay_s = Some(delay_s);
            }
            Call::Delay(Some(name), delay_s) => {
                queues.set_delay(Some(&name), delay_s).expect("sets");
                if let Some(queue) = twin.queues.get_mut(&name) {
                    queue.delay_s = Some(delay_s);
                }
            }
            Call::Limit(name, limit) => {
                queues.set_limit(&name, limit).expect("sets");
                if let Some(queue) = twin.queues.get_mut(&name) {
                    queue.limit = limit;
                }
            }
            Call::DeleteQueue(name) => {
                let removed = queues.delete_queue(&name).expect("deletes");
                let queue = twin.queues.remove(&name).unwrap_or_default();
                assert_eq!(removed, queue.urls.len() as u64);
            }
            Call::DeleteCrawl(crawl) => {
                let removed = queues.delete_crawl(&crawl).expect("deletes");
                let mut urls = 0;
                twin.queues.retain(|name, queue| {
                    let stays = name.crawl != crawl;
                    urls += if stays { 0 } else { queue.urls.len() as u64 };
                    stays
                });
                assert_eq!(removed, urls);
            }
            Call::Purge(name, created_s) => {
                let filter = UrlFilter {
                    crawl: name.crawl.clone(),
                    key: Some(name.key.clone()),
                    ..UrlFilter::default()
                };
                let removed = queues.purge(&filter, created_s).expect("purges");
                let urls = twin.queues.get_mut(&name).map(|queue| &mut queue.urls);
                assert_eq!(removed, urls.map_or(0, |urls| remove(urls, created_s)));
                if let Some(queue) = twin.queues.get_mut(&name) {
                    queue.held.retain(|url, _| queue.urls.contains_key(url));
                }
            }
            Call::Reopen => {
                queues.sync().expect("syncs");
                drop(queues);
                queues = open(&disk, small());
                for queue in twin.queues.values_mut() {
                    queue.held.clear();
                    queue.gave_at = None;
                }
            }
        }
        twin.agrees(&mut queues, now);
    }
}

proptest! {
    #[test]
    fn queues_do_what_the_twin_does(calls in prop::collection::vec(call(), 0..120)) {
        agree(calls);
    }
}
