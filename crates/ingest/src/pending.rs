//! Changes that no generation has yet: the last one of each URL, in the order of arrival.

use corpus::Document;
use index::LogRecord;
use std::collections::HashMap;
use std::time::Instant;

/// Memory of a change besides its texts, in bytes.
const CHANGE_BYTES: u64 = 200;

/// Changes since a refresh.
#[derive(Debug, Default, Clone)]
pub(crate) struct Pending {
    /// Changes; `None` where a later one of the same URL took the place.
    changes: Vec<Option<LogRecord>>,
    by_url: HashMap<String, usize>,
    bytes: u64,
    since: Option<Instant>,
}

impl Pending {
    /// Adds a change, which replaces an earlier one of its URL.
    pub(crate) fn push(&mut self, change: LogRecord) {
        self.since.get_or_insert_with(Instant::now);
        self.bytes += bytes_of(&change);
        let at = self.changes.len();
        if let Some(before) = self.by_url.insert(change.url().to_owned(), at)
            && let Some(replaced) = self.changes[before].take()
        {
            self.bytes -= bytes_of(&replaced);
        }
        self.changes.push(Some(change));
    }

    /// Adds the changes of `later`, which come after these.
    pub(crate) fn append(&mut self, later: Pending) {
        let since = self.since.or(later.since);
        later
            .changes
            .into_iter()
            .flatten()
            .for_each(|change| self.push(change));
        self.since = since;
    }

    /// Returns the last change of a URL.
    pub(crate) fn get(&self, url: &str) -> Option<&LogRecord> {
        self.changes[*self.by_url.get(url)?].as_ref()
    }

    /// Returns the last change of each URL, in the order of arrival.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &LogRecord> {
        self.changes.iter().flatten()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_url.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_url.len()
    }

    /// Returns the approximate memory of the changes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns when the first change arrived.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.since
    }
}

fn bytes_of(change: &LogRecord) -> u64 {
    let texts = match change {
        LogRecord::Put(Document {
            url,
            title,
            body,
            fields,
            ..
        }) => 2 * url.len() + title.len() + body.len() + 100 * fields.len(),
        LogRecord::Delete(url) => 2 * url.len(),
    };
    texts as u64 + CHANGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(url: &str, body: &str) -> LogRecord {
        LogRecord::Put(Document {
            url: url.into(),
            body: body.into(),
            ..Document::default()
        })
    }

    #[test]
    fn the_last_change_of_a_url_counts() {
        let mut pending = Pending::default();
        pending.push(put("a", "one"));
        pending.push(put("b", "two"));
        let bytes = pending.bytes();
        pending.push(LogRecord::Delete("a".into()));
        pending.push(put("a", "one"));
        assert_eq!((pending.bytes(), pending.len()), (bytes, 2));
        let mut later = Pending::default();
        later.push(LogRecord::Delete("b".into()));
        later.push(put("c", "three"));
        let since = pending.since();
        pending.append(later);
        let urls: Vec<_> = pending.iter().map(LogRecord::url).collect();
        assert_eq!((urls, pending.since()), (vec!["a", "b", "c"], since));
        assert_eq!(pending.get("b"), Some(&LogRecord::Delete("b".into())));
        assert_eq!(pending.get("d"), None);
    }
}
