//! The queues: opening, settings, durability.
use super::key::{self, QueueName};
use super::options::QueuesOptions;
use super::queue::Queue;
use super::record::{Settings, UrlRecord};
use crate::frontier::store::Store;
use crate::frontier::{Damage, FrontierError, Recovered};
use std::collections::BTreeMap;
use vfs::SharedStorage;

/// Pause between two calls that get URLs of a queue, in seconds, where no client has set it.
const DELAY_S: u32 = 1;

/// URLs of other crawlers, in queues; durable.
///
/// It has no clock: each call brings the time. A change is durable after [`Queues::sync`].
pub struct Queues {
    pub(super) options: QueuesOptions,
    pub(super) store: Store,
    pub(super) queues: BTreeMap<QueueName, Queue>,
    /// Settings of all queues: their delay.
    pub(super) all: Settings,
    /// Whether URLs are given.
    pub(super) is_active: bool,
    /// Queue that was last asked for URLs: the next call goes on after it.
    pub(super) turn: Option<QueueName>,
}

impl Queues {
    /// Opens the queues in `storage`, or makes them. Reads the record of every URL, to count.
    pub fn open(
        storage: SharedStorage,
        options: QueuesOptions,
    ) -> Result<(Queues, Recovered), FrontierError> {
        let mut sizes = options.store;
        sizes.drops_empty = true;
        let location = storage.location().display().to_string();
        let (mut store, mut recovered) = Store::open(storage, sizes)?;
        let mut is_of_a_crawl = false;
        store.scan(&[], key::ALL, |_, _| {
            is_of_a_crawl = true;
            false
        });
        if is_of_a_crawl {
            return Err(FrontierError::NotQueues(location));
        }
        let all = store
            .get(key::ALL)
            .and_then(|value| Settings::decode(&value));
        let mut queues = BTreeMap::new();
        let [from, to] = key::QUEUES;
        store.scan(from, to, |key, found| {
            let settings = found.value.and_then(Settings::decode);
            if let (Some(name), Some(settings)) = (key::queue_of(key), settings) {
                queues.insert(name, Queue::stored(settings));
            }
            true
        });
        let mut queues = Queues {
            options,
            store,
            queues,
            all: all.unwrap_or_default(),
            is_active: true,
            turn: None,
        };
        queues.count();
        recovered.damage = queues.store.damage().to_vec();
        Ok((queues, recovered))
    }

    fn count(&mut self) {
        let Queues { store, queues, .. } = self;
        let [from, to] = key::URLS;
        let mut last: Option<(QueueName, Queue)> = None;
        store.scan(from, to, |key, found| {
            let record = found.value.and_then(UrlRecord::decode_dates);
            let (Some([crawl, name, _]), Some(record)) = (key::parts_of(key), record) else {
                return true;
            };
            let is_same = |found: &QueueName| found.crawl == crawl && found.key == name;
            if !last.as_ref().is_some_and(|(found, _)| is_same(found)) {
                queues.extend(last.take());
                let name = QueueName {
                    crawl: crawl.to_owned(),
                    key: name.to_owned(),
                };
                // Settings that were damaged: the URLs are there still.
                let queue = queues.remove(&name);
                let queue = queue.unwrap_or_else(|| Queue::stored(Settings::default()));
                last = Some((name, queue));
            }
            if let Some((_, queue)) = &mut last {
                match record.is_completed() {
                    true => queue.completed += 1,
                    false => queue.active += 1,
                }
            }
            true
        });
        queues.extend(last);
    }

    /// Makes everything noted so far durable.
    pub fn sync(&mut self) -> Result<(), FrontierError> {
        self.store.sync()
    }

    /// Makes everything durable and begins a new journal. Happens by itself when the batch is full.
    pub fn checkpoint(&mut self) -> Result<(), FrontierError> {
        self.store.checkpoint()
    }

    /// Places that could not be read so far.
    pub fn damage(&self) -> &[Damage] {
        self.store.damage()
    }

    /// Returns whether URLs are given.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Sets whether URLs are given, until the end of the process.
    pub fn set_active(&mut self, is_active: bool) {
        self.is_active = is_active;
    }

    /// Makes a queue give no URL before a time in seconds since 1970; 0 ends the block. A queue that does not exist is left
    /// alone, here and below.
    pub fn block_until(&mut self, name: &QueueName, until_s: u64) -> Result<(), FrontierError> {
        self.set(name, |settings| settings.blocked_until_s = until_s)
    }

    /// Sets the pause of a queue in seconds, or that of all queues without one of their own.
    pub fn set_delay(
        &mut self,
        name: Option<&QueueName>,
        delay_s: u32,
    ) -> Result<(), FrontierError> {
        match name {
            Some(name) => self.set(name, |settings| settings.delay_s = Some(delay_s)),
            None => {
                self.all.delay_s = Some(delay_s);
                self.store.put(key::ALL, self.all.encode(), None)
            }
        }
    }

    /// Makes a queue give no URL when `limit` are completed; 0: without a limit.
    pub fn set_limit(&mut self, name: &QueueName, limit: u32) -> Result<(), FrontierError> {
        self.set(name, |settings| settings.limit = limit)
    }

    fn set(
        &mut self,
        name: &QueueName,
        change: impl FnOnce(&mut Settings),
    ) -> Result<(), FrontierError> {
        let Some(queue) = self.queues.get_mut(name) else {
            return Ok(());
        };
        change(&mut queue.settings);
        let value = queue.settings.encode();
        self.store.put(&name.settings_key(), value, None)
    }

    pub(super) fn delay_s(&self) -> u32 {
        self.all.delay_s.unwrap_or(DELAY_S)
    }

    /// Returns the record of a URL.
    pub fn record(&mut self, name: &QueueName, url: &str) -> Option<UrlRecord> {
        let value = self.store.get(&name.url_key(url))?;
        UrlRecord::decode(&value)
    }

    pub(super) fn checkpoint_if_full(&mut self) -> Result<(), FrontierError> {
        match self.store.is_full() {
            true => self.checkpoint(),
            false => Ok(()),
        }
    }
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queues")
            .field("queues", &self.queues.len())
            .finish_non_exhaustive()
    }
}
