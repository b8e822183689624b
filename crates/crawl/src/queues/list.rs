//! Looks at queues and URLs.
use super::key::{self, QueueName};
use super::queue::Queue;
use super::queues::Queues;
use super::record::UrlRecord;
use crate::politeness::TimeMs;

/// Counts of a queue, or of all queues of a crawl.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Queues.
    pub queues: u64,
    /// Queues with URLs that are not completed.
    pub active_queues: u64,
    /// URLs that are not completed.
    pub active: u64,
    /// URLs that are completed.
    pub completed: u64,
    /// URLs that are held.
    pub held: u64,
}

/// A URL of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its queue.
    pub queue: QueueName,
    /// The URL.
    pub url: String,
    /// Its record.
    pub record: UrlRecord,
}

/// URLs of a crawl.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlFilter {
    /// The crawl.
    pub crawl: String,
    /// The only queue; `None`: all of the crawl.
    pub key: Option<String>,
    /// Text that a URL contains.
    pub contains: Option<String>,
    /// Whether lower and upper case are the same in it.
    pub ignores_case: bool,
}

impl UrlFilter {
    fn matches(&self, url: &str) -> bool {
        let Some(wanted) = &self.contains else {
            return true;
        };
        match self.ignores_case {
            true => url.to_lowercase().contains(&wanted.to_lowercase()),
            false => url.contains(wanted),
        }
    }
}

/// Returns the URL of an entry that passes.
fn listed(filter: &UrlFilter, key: &[u8], value: Option<&[u8]>) -> Option<Listed> {
    let [crawl, name, url] = key::parts_of(key)?;
    if !filter.matches(url) {
        return None;
    }
    Some(Listed {
        record: UrlRecord::decode(value?)?,
        queue: QueueName {
            crawl: crawl.to_owned(),
            key: name.to_owned(),
        },
        url: url.to_owned(),
    })
}

impl Queues {
    /// Returns the crawls that have queues, in order.
    pub fn crawls(&self) -> Vec<String> {
        let mut crawls: Vec<String> = self.queues.keys().map(|name| name.crawl.clone()).collect();
        crawls.dedup();
        crawls
    }

    /// Returns the queues of a crawl in the order of their names, also those without URLs to be fetched and blocked ones if
    /// `inactive`.
    pub fn queues_of<'a>(
        &'a self,
        crawl: &'a str,
        inactive: bool,
        now: TimeMs,
    ) -> impl Iterator<Item = &'a QueueName> {
        let queues = self.of_crawl(crawl, None);
        queues
            .filter(move |(_, queue)| inactive || queue.is_active(now))
            .map(|(name, _)| name)
    }

    /// Returns the queues of a crawl, or one of them.
    pub(super) fn of_crawl<'a>(
        &'a self,
        crawl: &'a str,
        key: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a QueueName, &'a Queue)> {
        let first = QueueName {
            crawl: crawl.to_owned(),
            key: key.unwrap_or_default().to_owned(),
        };
        let is_wanted =
            move |name: &QueueName| name.crawl == crawl && key.is_none_or(|key| key == name.key);
        let queues = self.queues.range(first..);
        queues.take_while(move |(name, _)| is_wanted(name))
    }

    /// Returns the counts of a crawl, or of one of its queues.
    pub fn counts(&self, crawl: &str, key: Option<&str>, now: TimeMs) -> QueueCounts {
        let mut counts = QueueCounts::default();
        for (_, queue) in self.of_crawl(crawl, key) {
            counts.queues += 1;
            counts.active_queues += u64::from(queue.active > 0);
            counts.active += queue.active;
            counts.completed += queue.completed;
            counts.held += queue.held_at(now) as u64;
        }
        counts
    }

    /// Calls `visit` for each URL of a crawl that passes, in the order of queues and URLs, until it returns false.
    pub fn urls(&mut self, filter: &UrlFilter, visit: impl FnMut(Listed) -> bool) {
        self.urls_after(filter, None, visit);
    }

    /// Does the same for the URLs after the one with the key `after`.
    pub(super) fn urls_after(
        &mut self,
        filter: &UrlFilter,
        after: Option<&[u8]>,
        visit: impl FnMut(Listed) -> bool,
    ) {
        self.urls_step(filter, after, usize::MAX, visit);
    }

    /// Does the same for at most `keys_max` URLs, those that do not pass included. Returns the key of the last one where
    /// more may follow, so that a list of a large crawl is read in steps.
    pub(super) fn urls_step(
        &mut self,
        filter: &UrlFilter,
        after: Option<&[u8]>,
        keys_max: usize,
        mut visit: impl FnMut(Listed) -> bool,
    ) -> Option<Vec<u8>> {
        let [mut from, to] = match &filter.key {
            Some(key) => match QueueName::of(&filter.crawl, key, "") {
                Some(name) => name.range(),
                None => return None,
            },
            None => {
                let crawl = [key::URLS[0], filter.crawl.as_bytes()].concat();
                [[&crawl[..], b"\0"].concat(), [&crawl[..], b"\x01"].concat()]
            }
        };
        if let Some(after) = after {
            from = [after, b"\0"].concat();
        }
        let (mut keys, mut last) = (0, None);
        self.store.scan(&from, &to, |key, found| {
            keys += 1;
            let goes_on = match listed(filter, key, found.value) {
                Some(listed) => visit(listed),
                None => true,
            } && keys < keys_max;
            if !goes_on {
                last = Some(key.to_vec());
            }
            goes_on
        });
        last
    }
}
