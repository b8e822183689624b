//! Pings: URLs that their publisher, or a user, says have changed. They wait in files of the crawl until a run takes them.
//!
//! A ping makes its URL due now, like a date of change in a sitemap; politeness, robots.txt and rules hold for it. Where a
//! sitemap claims a change and there is none, its host loses trust; a ping is of the owner of the folder, and is believed.

use super::crawl::Crawl;
use crate::config::seed;
use crate::error::CrawlError;
use crate::frontier::{Discovery, Source};
use crate::politeness::TimeMs;
use std::io::Write;
use vfs::{SharedStorage, StorageError};
use web::address::{AddressError, CanonicalUrl};

const PREFIX: &str = "ping-";
const SUFFIX: &str = ".txt";
/// URLs taken from one file.
const URLS_MAX: usize = 10_000;

/// Asks the crawl in `storage` to visit URLs soon: the one that runs, within seconds, or the next one.
///
/// # Errors
/// Of the disk. URLs that are none are not written, and returned.
pub fn ping(
    storage: &SharedStorage,
    urls: &[String],
) -> Result<Vec<(String, AddressError)>, CrawlError> {
    let (mut asked, mut refused) = (Vec::new(), Vec::new());
    for url in urls {
        match seed(url) {
            Ok(url) => asked.push(url),
            Err(error) => refused.push((url.clone(), error)),
        }
    }
    if !asked.is_empty() {
        leave_ping(storage, &asked)?;
    }
    Ok(refused)
}

/// Leaves a file with URLs for the crawl in `storage`.
pub(crate) fn leave_ping<'a>(
    storage: &SharedStorage,
    urls: impl IntoIterator<Item = &'a CanonicalUrl>,
) -> Result<(), CrawlError> {
    let urls = urls.into_iter();
    let lines: String = urls.map(|url| format!("{url}\n")).collect();
    let now = jiff::Timestamp::now().as_microsecond();
    let number = xxhash_rust::xxh3::xxh3_64(lines.as_bytes());
    let name = format!("{PREFIX}{now:020}-{number:016x}{SUFFIX}");
    let temporary = format!("tmp-{name}");
    let mut file = storage.create(&temporary)?;
    file.write_all(lines.as_bytes())
        .map_err(|error| StorageError::from_io("write", &storage.location().join(&name), error))?;
    file.finish()?;
    storage.rename(&temporary, &name)?;
    Ok(storage.sync_directory()?)
}

/// Returns the number of files that wait for the crawl.
pub(crate) fn pings_waiting(storage: &SharedStorage) -> Result<usize, CrawlError> {
    let names = storage.list()?;
    Ok(names.iter().filter(|name| is_ping(name)).count())
}

fn is_ping(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

impl Crawl {
    /// Takes the pings that wait.
    pub(super) fn take_pings(&mut self, now: TimeMs) -> Result<(), CrawlError> {
        for name in self.storage.list()? {
            if !is_ping(&name) {
                continue;
            }
            let bytes = self.storage.open(&name)?.to_vec();
            let text = String::from_utf8_lossy(&bytes);
            for line in text.lines().take(URLS_MAX) {
                if let Ok(url) = CanonicalUrl::parse(line) {
                    let url = self.sites.cleaned(url);
                    self.take_ping(&url, now)?;
                }
            }
            self.frontier.sync()?;
            self.storage.remove(&name)?;
        }
        Ok(())
    }

    fn take_ping(&mut self, url: &CanonicalUrl, now: TimeMs) -> Result<(), CrawlError> {
        self.progress.pings += 1;
        if let Err(reason) = self.sites.admit(url) {
            self.progress
                .notice(format!("{url}: asked for, but not visited: {reason}"));
            return Ok(());
        }
        let found = Discovery {
            url: url.as_str(),
            depth: 0,
            source: Source::Ping,
            from: None,
            importance: 1.0,
            modified: Some(now),
        };
        self.frontier.discover(&found, now)?;
        self.note_probe(url, now)
    }
}
