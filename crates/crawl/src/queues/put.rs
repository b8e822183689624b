//! URLs that clients found or fetched.
use super::key::{QueueName, is_usable};
use super::queue::Queue;
use super::queues::Queues;
use super::record::{Metadata, UrlRecord};
use crate::frontier::FrontierError;
use crate::politeness::TimeMs;

/// A URL of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Put {
    /// The URL, as the client writes it.
    pub url: String,
    /// Its queue; that of its host if it is empty.
    pub key: String,
    /// Its crawl; the default one if it is blank.
    pub crawl: String,
    /// Metadata of the client, kept with the URL.
    pub metadata: Metadata,
    /// `None`: it was found, and is due now if it is new. Else it was fetched, and is due at this second since 1970; 0: never.
    pub due_s: Option<u64>,
}

/// Outcome for a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutStatus {
    /// The URL is kept.
    Ok,
    /// It was found and known, or cannot be kept: not to be sent again.
    Skipped,
}

impl Queues {
    /// Keeps a URL. It is durable after [`Queues::sync`].
    pub fn put(&mut self, put: Put, now: TimeMs) -> Result<PutStatus, FrontierError> {
        let name = QueueName::of(&put.crawl, &put.key, &put.url);
        let Some(name) = name.filter(|_| is_usable(&put.url)) else {
            return Ok(PutStatus::Skipped);
        };
        let key = name.url_key(&put.url);
        let before = self.store.get(&key);
        let before = before.and_then(|value| UrlRecord::decode_dates(&value));
        if put.due_s.is_none() && before.is_some() {
            return Ok(PutStatus::Skipped);
        }
        let now_s = now.0 / 1000;
        let record = UrlRecord {
            due_s: put.due_s.unwrap_or(now_s),
            created_s: before.as_ref().map_or(now_s, |before| before.created_s),
            metadata: put.metadata,
        };
        if !self.queues.contains_key(&name) {
            let settings = Queue::default().settings.encode();
            self.store.put(&name.settings_key(), settings, None)?;
        }
        self.store.put(&key, record.encode(), None)?;
        let window_urls = self.options.window_urls;
        let queue = self.queues.entry(name).or_default();
        if let Some(before) = &before {
            queue.forget(before.due_s, &put.url);
            queue.uncount(before);
        }
        match record.is_completed() {
            true => queue.completed += 1,
            false => {
                queue.active += 1;
                queue.enter(record.due_s, put.url.into());
                queue.narrow(window_urls_of(queue.active, window_urls) * 2);
            }
        }
        self.checkpoint_if_full()?;
        Ok(PutStatus::Ok)
    }
}

/// Returns the URLs that the window of a queue of `active` URLs has when it is filled: a share, so that all fillings together
/// read each record a few times only.
pub(super) fn window_urls_of(active: u64, least: usize) -> usize {
    const SHARE: u64 = 32;
    least.max((active / SHARE) as usize)
}

impl Queue {
    /// Subtracts a URL from the counts.
    pub(super) fn uncount(&mut self, record: &UrlRecord) {
        let count = match record.is_completed() {
            true => &mut self.completed,
            false => &mut self.active,
        };
        *count = count.saturating_sub(1);
    }
}
