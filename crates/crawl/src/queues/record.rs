//! Records of URLs and of settings.
//!
//! url := 1 due_s created_s count (key count value*)*
//! settings := 1 blocked_until_s (delay_s + 1 | 0) limit
//!
//! Integers are variable-length, strings have their length before them. Example, a URL seen at 5 s and due at 7 s with
//! `a: [b]`: 01 07 05 01 · 01 61 · 01 · 01 62. A value without bytes is a record that was removed.
use crate::bytes::{Reader, put_bytes, put_varint};

const FORM: u8 = 1;

/// Keys and values that a client keeps with a URL.
pub type Metadata = Vec<(String, Vec<String>)>;

/// Returns the approximate bytes of a URL and its metadata.
pub(super) fn size_bytes(url: &str, metadata: &Metadata) -> usize {
    let values = metadata.iter().map(|(key, values)| {
        let values: usize = values.iter().map(|value| 8 + value.len()).sum();
        8 + key.len() + values
    });
    64 + url.len() + values.sum::<usize>()
}

/// Record of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlRecord {
    /// Seconds since 1970 from which it may be fetched; 0: it is completed.
    pub due_s: u64,
    /// Seconds since 1970 at which it was first seen.
    pub created_s: u64,
    /// Metadata of the client, kept with the URL, by key.
    pub metadata: Metadata,
}

impl UrlRecord {
    /// Returns whether it is not to be fetched again.
    pub fn is_completed(&self) -> bool {
        self.due_s == 0
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        put_varint(&mut out, self.due_s);
        put_varint(&mut out, self.created_s);
        put_varint(&mut out, self.metadata.len() as u64);
        for (key, values) in &self.metadata {
            put_bytes(&mut out, key.as_bytes());
            put_varint(&mut out, values.len() as u64);
            for value in values {
                put_bytes(&mut out, value.as_bytes());
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<UrlRecord> {
        let mut reader = Reader::new(bytes);
        let mut record = UrlRecord::dates(&mut reader)?;
        for _ in 0..reader.varint()? {
            let key = text(&mut reader)?;
            let mut values = Vec::new();
            for _ in 0..reader.varint()? {
                values.push(text(&mut reader)?);
            }
            record.metadata.push((key, values));
        }
        reader.is_empty().then_some(record)
    }

    /// Reads the dates alone.
    pub(super) fn decode_dates(bytes: &[u8]) -> Option<UrlRecord> {
        UrlRecord::dates(&mut Reader::new(bytes))
    }

    fn dates(reader: &mut Reader<'_>) -> Option<UrlRecord> {
        (reader.byte()? == FORM).then_some(())?;
        Some(UrlRecord {
            due_s: reader.varint()?,
            created_s: reader.varint()?,
            metadata: Vec::new(),
        })
    }
}

fn text(reader: &mut Reader<'_>) -> Option<String> {
    String::from_utf8(reader.bytes()?.to_vec()).ok()
}

/// Settings of one queue or of all queues, made by a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Seconds since 1970 before which it gives no URL.
    pub(super) blocked_until_s: u64,
    /// Seconds between two calls that get URLs of it; `None`: those of all queues.
    pub(super) delay_s: Option<u32>,
    /// Completed URLs at which it gives no more; 0: none.
    pub(super) limit: u32,
}

impl Settings {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        put_varint(&mut out, self.blocked_until_s);
        put_varint(
            &mut out,
            self.delay_s.map_or(0, |delay| u64::from(delay) + 1),
        );
        put_varint(&mut out, u64::from(self.limit));
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Settings> {
        let mut reader = Reader::new(bytes);
        (reader.byte()? == FORM).then_some(())?;
        let blocked_until_s = reader.varint()?;
        let delay_s = match reader.varint()? {
            0 => None,
            delay => Some(u32::try_from(delay - 1).ok()?),
        };
        let limit = u32::try_from(reader.varint()?).ok()?;
        reader.is_empty().then_some(Settings {
            blocked_until_s,
            delay_s,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_back(
            due_s: u64,
            created_s: u64,
            metadata in prop::collection::vec((".{0,5}", prop::collection::vec(".{0,5}", 0..3)), 0..3),
            cut in 0usize..40,
        ) {
            let record = UrlRecord { due_s, created_s, metadata };
            let bytes = record.encode();
            prop_assert_eq!(UrlRecord::decode(&bytes), Some(record));
            if cut < bytes.len() {
                prop_assert_eq!(UrlRecord::decode(&bytes[..cut]), None);
            }
        }

        #[test]
        fn settings_come_back(blocked_until_s: u64, delay_s: Option<u32>, limit: u32) {
            let settings = Settings { blocked_until_s, delay_s, limit };
            prop_assert_eq!(Settings::decode(&settings.encode()), Some(settings));
        }

        #[test]
        fn other_bytes_are_none_or_a_record(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = UrlRecord::decode(&bytes);
            let _ = Settings::decode(&bytes);
        }
    }

    #[test]
    fn the_example_has_these_bytes() {
        let metadata = vec![("a".to_owned(), vec!["b".to_owned()])];
        let record = UrlRecord {
            due_s: 7,
            created_s: 5,
            metadata,
        };
        assert_eq!(record.encode(), [1, 7, 5, 1, 1, b'a', 1, 1, b'b']);
    }
}
