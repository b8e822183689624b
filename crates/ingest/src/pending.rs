//! Changes that no generation has yet: the last one of each URL, in the order of arrival.

use document::Document;
use index::LogRecord;
use json::Value;
use std::collections::HashMap;
use std::time::Instant;

/// Memory of a change besides its texts, and of a value besides its text, in bytes.
const CHANGE_BYTES: u64 = 200;
const VALUE_BYTES: usize = 100;

/// Places from which on empty ones are removed, once they are more than half.
const PLACES_MIN: usize = 64;

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
        if self.changes.len() > PLACES_MIN && self.changes.len() > 2 * self.by_url.len() {
            self.compact();
        }
    }

    /// Removes the empty places: a URL that changes again and again takes the memory of one change.
    fn compact(&mut self) {
        self.changes.retain(Option::is_some);
        for (at, change) in self.changes.iter().flatten().enumerate() {
            if let Some(place) = self.by_url.get_mut(change.url()) {
                *place = at;
            }
        }
        self.changes.shrink_to(2 * self.changes.len());
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
            id,
            title,
            body,
            fields,
        }) => {
            let id = id.as_ref().map_or(0, String::len);
            let fields = fields
                .iter()
                .map(|(name, value)| name.len() + value_bytes(value));
            2 * url.len() + id + title.len() + body.len() + fields.sum::<usize>()
        }
        LogRecord::Delete(url) => 2 * url.len(),
    };
    texts as u64 + CHANGE_BYTES
}

/// Returns the approximate memory of a field's value, in bytes.
fn value_bytes(value: &Value) -> usize {
    let within = match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(number) => number.text().len(),
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_bytes).sum(),
        Value::Object(values) => {
            let values = values.iter();
            values
                .map(|(name, value)| name.len() + value_bytes(value))
                .sum()
        }
    };
    VALUE_BYTES + within
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

    #[test]
    fn a_url_that_changes_again_and_again_takes_the_place_of_one() {
        let mut pending = Pending::default();
        pending.push(put("first", "one"));
        for number in 0..10_000 {
            pending.push(LogRecord::Delete(format!("{}", number % 3)));
        }
        pending.push(put("last", "two"));
        assert!(pending.changes.len() <= 2 * PLACES_MIN);
        let urls: Vec<_> = pending.iter().map(LogRecord::url).collect();
        assert_eq!(urls, ["first", "1", "2", "0", "last"]);
        assert_eq!(pending.get("last"), Some(&put("last", "two")));
        assert_eq!(pending.get("2"), Some(&LogRecord::Delete("2".into())));
    }

    #[test]
    fn the_memory_of_all_parts_counts() {
        let mut document = Document {
            url: "u".into(),
            ..Document::default()
        };
        let empty = bytes_of(&LogRecord::Put(document.clone()));
        document.id = Some("x".repeat(1000));
        document.fields = [(
            "n".to_owned(),
            serde_json::json!([{ "a": "x".repeat(5000) }]).into(),
        )]
        .into_iter()
        .collect();
        assert!(bytes_of(&LogRecord::Put(document)) > empty + 6000);
    }
}
