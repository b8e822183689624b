//! URLs that are due, for clients to fetch.
use super::key::QueueName;
use super::put::window_urls_of;
use super::queue::{Due, Queue};
use super::queues::Queues;
use super::record::{Metadata, UrlRecord, size_bytes};
use crate::frontier::store::Store;
use crate::politeness::TimeMs;
use std::collections::BTreeSet;
use std::ops::Bound;

/// URLs of a queue that are given at once; more follow in the next batch.
const BATCH_URLS: usize = 1_000;
/// Bytes of them from which on a batch takes no more.
pub(super) const BATCH_BYTES: usize = 8 << 10;

/// Request for URLs that are due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// Crawl of the queues; `None`: any.
    pub crawl: Option<String>,
    /// The only queue; `None`: any.
    pub key: Option<String>,
    /// Queues to take URLs from.
    pub queues_max: usize,
    /// URLs of a queue that are held at a time.
    pub urls_per_queue_max: usize,
    /// Time for which a URL is held, in milliseconds.
    pub hold_ms: u64,
}

/// A URL to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its queue.
    pub queue: QueueName,
    /// The URL.
    pub url: String,
    /// Metadata of the client, kept with the URL.
    pub metadata: Metadata,
}

/// A request under way: a batch for each call of [`Queues::take`].
#[derive(Debug)]
pub struct Taking {
    take: Take,
    /// Queues that gave URLs.
    queues: usize,
    /// Queue that goes on with the next batch.
    current: Option<QueueName>,
    /// Queue after which the search continues, and the queue at which it began.
    last: Option<QueueName>,
    first: Option<QueueName>,
    wrapped: bool,
    is_over: bool,
}

impl Queues {
    /// Begins a request, after the queue that the last one ended with.
    pub fn taking(&self, take: Take) -> Taking {
        Taking {
            is_over: !self.is_active,
            last: self.turn.clone(),
            first: self.turn.clone(),
            take,
            queues: 0,
            current: None,
            wrapped: false,
        }
    }

    /// Returns the next URLs of a request, all of one queue; none at its end. They are held from now on.
    pub fn take(&mut self, taking: &mut Taking, now: TimeMs) -> Vec<Given> {
        while !taking.is_over {
            let is_first = taking.current.is_none();
            let name = match taking.current.take() {
                Some(name) => name,
                None if taking.queues >= taking.take.queues_max => break,
                None => match self.next_queue(taking, now) {
                    Some(name) => name,
                    None => break,
                },
            };
            let (given, is_cut) = self.give(&name, &taking.take, now);
            if given.is_empty() {
                continue;
            }
            taking.queues += usize::from(is_first);
            if is_cut {
                taking.current = Some(name);
            }
            return given;
        }
        taking.is_over = true;
        Vec::new()
    }

    /// Returns the next queue that may give URLs.
    fn next_queue(&mut self, taking: &mut Taking, now: TimeMs) -> Option<QueueName> {
        let delay_s = self.delay_s();
        let most = taking.take.urls_per_queue_max;
        let may_give = |queue: &mut Queue| {
            queue.expire(now);
            queue.may_give(delay_s, most, now)
        };
        if let Some(key) = &taking.take.key {
            if std::mem::replace(&mut taking.wrapped, true) {
                return None;
            }
            let crawl = taking.take.crawl.as_deref().unwrap_or_default();
            let name = QueueName::of(crawl, key, "")?;
            return may_give(self.queues.get_mut(&name)?).then_some(name);
        }
        let is_wanted = |name: &QueueName| {
            let crawl = taking.take.crawl.as_ref();
            crawl.is_none_or(|crawl| *crawl == name.crawl)
        };
        let mut found = None;
        while found.is_none() {
            let from = match &taking.last {
                Some(last) => Bound::Excluded(last.clone()),
                None => Bound::Unbounded,
            };
            let to = match &taking.first {
                Some(first) if taking.wrapped => Bound::Included(first.clone()),
                _ => Bound::Unbounded,
            };
            // The queue of the turn may be gone, or the last of all.
            let is_empty =
                matches!((&from, &to), (Bound::Excluded(a), Bound::Included(b)) if a >= b);
            let mut range = (!is_empty).then(|| self.queues.range_mut((from, to)));
            let mut queues = range.iter_mut().flatten();
            found = queues.find_map(|(name, queue)| {
                (is_wanted(name) && may_give(queue)).then(|| name.clone())
            });
            if found.is_none() {
                if taking.wrapped || taking.first.is_none() {
                    return None;
                }
                (taking.wrapped, taking.last) = (true, None);
            }
        }
        taking.last.clone_from(&found);
        self.turn.clone_from(&found);
        found
    }

    /// Returns the next URLs of a queue, and whether a limit of the batch ended them.
    fn give(&mut self, name: &QueueName, take: &Take, now: TimeMs) -> (Vec<Given>, bool) {
        let until = now.plus_ms(take.hold_ms.max(1));
        let (mut given, mut bytes) = (Vec::new(), 0);
        let Some(queue) = self.queues.get_mut(name) else {
            return (given, false);
        };
        let room = take.urls_per_queue_max.saturating_sub(queue.held_count());
        while given.len() < room.min(BATCH_URLS) && bytes < BATCH_BYTES {
            if queue.needs_refill() {
                refill(&mut self.store, name, queue, self.options.window_urls);
            }
            let Some(url) = queue.take(until, now) else {
                break;
            };
            let value = self.store.get(&name.url_key(&url));
            // A record that was damaged meanwhile is not given: it is not known what it said.
            if let Some(record) = value.and_then(|value| UrlRecord::decode(&value)) {
                bytes += size_bytes(&url, &record.metadata);
                given.push(Given {
                    queue: name.clone(),
                    url: url.into(),
                    metadata: record.metadata,
                });
            }
        }
        if !given.is_empty() {
            queue.gave_at = Some(now);
        }
        let is_cut = given.len() == BATCH_URLS || bytes >= BATCH_BYTES;
        (given, is_cut)
    }
}

/// Reads the URLs of a queue that are due first.
fn refill(store: &mut Store, name: &QueueName, queue: &mut Queue, least: usize) {
    let most = window_urls_of(queue.active, least);
    let (mut window, mut is_whole) = (BTreeSet::<Due>::new(), true);
    let [from, to] = name.range();
    store.scan(&from, &to, |key, found| {
        let url = key
            .get(from.len()..)
            .and_then(|url| std::str::from_utf8(url).ok());
        let record = found.value.and_then(UrlRecord::decode_dates);
        if let (Some(url), Some(record)) = (url, record)
            && !record.is_completed()
            && !queue.is_held(url)
        {
            let last = window.last().filter(|_| window.len() >= most);
            if last.is_some_and(|last| (record.due_s, url) > (last.0, &*last.1)) {
                is_whole = false;
                return true;
            }
            window.insert((record.due_s, url.into()));
            if window.len() > most {
                window.pop_last();
                is_whole = false;
            }
        }
        true
    });
    if is_whole {
        // What cannot be read any more is not waited for.
        queue.active = (window.len() + queue.held_count()) as u64;
    }
    queue.refill(window, is_whole);
}
