//! Removal of URLs, queues and crawls.
use super::key::QueueName;
use super::list::UrlFilter;
use super::queues::Queues;
use crate::frontier::FrontierError;

/// URLs that are looked for before they are removed.
const STEP_URLS: usize = 10_000;

impl Queues {
    /// Removes a queue with its URLs. Returns their number.
    pub fn delete_queue(&mut self, name: &QueueName) -> Result<u64, FrontierError> {
        if !self.queues.contains_key(name) {
            return Ok(0);
        }
        let filter = UrlFilter {
            crawl: name.crawl.clone(),
            key: Some(name.key.clone()),
            ..UrlFilter::default()
        };
        let removed = self.remove_urls(&filter, u64::MAX)?;
        self.queues.remove(name);
        self.store.put(&name.settings_key(), Vec::new(), None)?;
        Ok(removed)
    }

    /// Removes a crawl with its queues. Returns the number of their URLs.
    pub fn delete_crawl(&mut self, crawl: &str) -> Result<u64, FrontierError> {
        let queues = self.of_crawl(crawl, None);
        let names: Vec<QueueName> = queues.map(|(name, _)| name.clone()).collect();
        let mut removed = 0;
        for name in names {
            removed += self.delete_queue(&name)?;
        }
        Ok(removed)
    }

    /// Removes the URLs that were first seen before `created_s`. Returns their number; their queues stay.
    pub fn purge(&mut self, filter: &UrlFilter, created_s: u64) -> Result<u64, FrontierError> {
        self.remove_urls(filter, created_s)
    }

    fn remove_urls(&mut self, filter: &UrlFilter, created_s: u64) -> Result<u64, FrontierError> {
        let (mut removed, mut last) = (0, None::<Vec<u8>>);
        loop {
            let mut found = Vec::new();
            self.urls_after(filter, last.as_deref(), |listed| {
                if listed.record.created_s < created_s {
                    found.push(listed);
                }
                found.len() < STEP_URLS
            });
            if found.is_empty() {
                return Ok(removed);
            }
            for listed in found {
                let key = listed.queue.url_key(&listed.url);
                self.store.put(&key, Vec::new(), None)?;
                if let Some(queue) = self.queues.get_mut(&listed.queue) {
                    queue.forget(listed.record.due_s, &listed.url);
                    queue.uncount(&listed.record);
                }
                removed += 1;
                last = Some(key);
                self.checkpoint_if_full()?;
            }
        }
    }
}
