//! Record of a URL: state, dates, counts, validators, place in the WARC files.
//!
//! record := class:u8 flags:u8 source:u8 depth:varint discovered:varint importance:u16le
//!           from:u64le? due:varint? visited? text?  etag:bytes?  modified:bytes?  place?  gone:varint?
//! visited := first:varint last_after_first:varint visits:varint unchanged:varint failures:varint status:varint
//! took:varint text    := hash:u128le      place := file:varint offset:varint length:varint
//!
//! Times are milliseconds. `due` is absent while it equals `discovered`. A page that was never visited takes about
//! 19 bytes beside its key.
use super::sighting::Sighting;
use super::state::{Source, State};
use crate::bytes::{Reader, put_bytes, put_varint};
use crate::politeness::TimeMs;

/// Place of an answer's bytes: WARC file, offset and length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WarcPlace {
    /// Number of the file.
    pub file: u32,
    /// Offset of the record, in bytes.
    pub offset_bytes: u64,
    /// Length of the record, in bytes.
    pub length_bytes: u64,
}

/// Validators for a conditional request, as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
}

/// Longest validator kept, in bytes; a longer one is dropped, and the page fetched in full.
const VALIDATOR_BYTES_MAX: usize = 200;

/// Everything known about a URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// State, with its reason.
    pub state: State,
    /// Whether the index should hold the page.
    pub indexed: bool,
    /// First source, or that of a list once it is named as one.
    pub source: Source,
    /// Links from a seed.
    pub depth: u16,
    /// First discovery.
    pub discovered: TimeMs,
    /// Importance; precise to 1 %.
    pub importance: f32,
    /// Hash of the URL that it was found on.
    pub from: Option<u64>,
    /// Next visit.
    pub due: TimeMs,
    /// First and last visit that ended.
    pub first: TimeMs,
    /// Last visit that ended.
    pub last: TimeMs,
    /// Visits with an answer that told the text: fetched or not modified.
    pub visits: u32,
    /// Visits that found the text unchanged.
    pub unchanged: u32,
    /// Failures since the last good visit.
    pub failures: u32,
    /// Last HTTP status, 0 without one.
    pub status: u16,
    /// Last fetch time, in milliseconds.
    pub took_ms: u32,
    /// Hash of the main text.
    pub text_hash: Option<u128>,
    /// Validators of the last answer.
    pub validators: Validators,
    /// Place of the last answer in the WARC files.
    pub place: Option<WarcPlace>,
    /// First of the answers 404 or 410 that no other answer followed.
    pub gone_since: Option<TimeMs>,
}

const HAS_FROM: u8 = 1;
const HAS_DUE: u8 = 2;
const HAS_VISITED: u8 = 4;
const HAS_TEXT: u8 = 8;
const HAS_ETAG: u8 = 16;
const HAS_MODIFIED: u8 = 32;
const HAS_PLACE: u8 = 64;
const HAS_GONE: u8 = 128;
const INDEXED: u8 = 0x80;

impl Record {
    /// Whether a stated date of change made the page due before its time.
    pub fn is_claimed(&self) -> bool {
        self.visits > 0 && self.due <= self.last
    }

    /// Returns a record of a URL first seen by `sighting`.
    pub(super) fn new(sighting: &Sighting) -> Record {
        Record {
            state: State::Queued,
            indexed: false,
            source: sighting.source,
            depth: sighting.depth,
            discovered: sighting.at,
            importance: rounded(sighting.importance),
            from: sighting.from,
            due: sighting.at,
            first: TimeMs(0),
            last: TimeMs(0),
            visits: 0,
            unchanged: 0,
            failures: 0,
            status: 0,
            took_ms: 0,
            text_hash: None,
            validators: Validators::default(),
            place: None,
            gone_since: None,
        }
    }

    /// Adds the facts of a further sighting. Returns whether the record changed.
    pub(super) fn note(&mut self, sighting: &Sighting) -> bool {
        let before = (self.source, self.depth, self.importance, self.due);
        self.source = self.source.and(sighting.source);
        if self.state == State::Queued {
            self.depth = self.depth.min(sighting.depth);
        }
        self.importance = self.importance.max(rounded(sighting.importance));
        let due_at_all = self.due != TimeMs::NEVER && self.last != TimeMs(0);
        if due_at_all && sighting.modified > self.last {
            self.due = self.due.min(self.last);
        }
        before != (self.source, self.depth, self.importance, self.due)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        let visited = self.first != TimeMs(0) || self.last != TimeMs(0) || self.status != 0;
        let visited = visited || self.visits + self.failures + self.took_ms > 0;
        let etag = self
            .validators
            .etag
            .as_ref()
            .filter(|e| e.len() <= VALIDATOR_BYTES_MAX);
        let modified = self
            .validators
            .last_modified
            .as_ref()
            .filter(|m| m.len() <= VALIDATOR_BYTES_MAX);
        let flag = |present: bool, flag: u8| if present { flag } else { 0 };
        let flags = flag(self.from.is_some(), HAS_FROM)
            | flag(self.due != self.discovered, HAS_DUE)
            | flag(visited, HAS_VISITED)
            | flag(self.text_hash.is_some(), HAS_TEXT)
            | flag(etag.is_some(), HAS_ETAG)
            | flag(modified.is_some(), HAS_MODIFIED)
            | flag(self.place.is_some(), HAS_PLACE)
            | flag(self.gone_since.is_some(), HAS_GONE);
        out.extend_from_slice(&[self.state.class(), flags]);
        out.push(self.source.code() | flag(self.indexed, INDEXED));
        put_varint(&mut out, u64::from(self.depth));
        put_varint(&mut out, self.discovered.0);
        out.extend_from_slice(&((self.importance.to_bits() >> 16) as u16).to_le_bytes());
        if let Some(from) = self.from {
            out.extend_from_slice(&from.to_le_bytes());
        }
        if self.due != self.discovered {
            put_varint(&mut out, self.due.0);
        }
        if visited {
            put_varint(&mut out, self.first.0);
            put_varint(&mut out, self.last.since_ms(self.first));
            for count in [
                self.visits,
                self.unchanged,
                self.failures,
                u32::from(self.status),
                self.took_ms,
            ] {
                put_varint(&mut out, u64::from(count));
            }
        }
        if let Some(hash) = self.text_hash {
            out.extend_from_slice(&hash.to_le_bytes());
        }
        for text in [etag, modified].into_iter().flatten() {
            put_bytes(&mut out, text.as_bytes());
        }
        if let Some(place) = self.place {
            put_varint(&mut out, u64::from(place.file));
            put_varint(&mut out, place.offset_bytes);
            put_varint(&mut out, place.length_bytes);
        }
        if let Some(gone) = self.gone_since {
            put_varint(&mut out, gone.0);
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Record> {
        let mut reader = Reader::new(bytes);
        let r = &mut reader;
        let state = State::from_class(r.byte()?)?;
        let flags = r.byte()?;
        let source = r.byte()?;
        let depth = u16::try_from(r.varint()?).ok()?;
        let discovered = TimeMs(r.varint()?);
        let importance = f32::from_bits(u32::from(u16::from_le_bytes(r.array()?)) << 16);
        let mut record = Record::new(&Sighting {
            source: Source::from_code(source & !INDEXED)?,
            depth,
            from: None,
            importance,
            at: discovered,
            modified: TimeMs(0),
        });
        (record.state, record.indexed) = (state, source & INDEXED != 0);
        if flags & HAS_FROM != 0 {
            record.from = Some(u64::from_le_bytes(r.array()?));
        }
        if flags & HAS_DUE != 0 {
            record.due = TimeMs(r.varint()?);
        }
        if flags & HAS_VISITED != 0 {
            record.first = TimeMs(r.varint()?);
            record.last = record.first.plus_ms(r.varint()?);
            record.visits = u32::try_from(r.varint()?).ok()?;
            record.unchanged = u32::try_from(r.varint()?).ok()?;
            record.failures = u32::try_from(r.varint()?).ok()?;
            record.status = u16::try_from(r.varint()?).ok()?;
            record.took_ms = u32::try_from(r.varint()?).ok()?;
        }
        if flags & HAS_TEXT != 0 {
            record.text_hash = Some(u128::from_le_bytes(r.array()?));
        }
        if flags & HAS_ETAG != 0 {
            record.validators.etag = Some(String::from_utf8(r.bytes()?.to_vec()).ok()?);
        }
        if flags & HAS_MODIFIED != 0 {
            record.validators.last_modified = Some(String::from_utf8(r.bytes()?.to_vec()).ok()?);
        }
        if flags & HAS_PLACE != 0 {
            record.place = Some(WarcPlace {
                file: u32::try_from(r.varint()?).ok()?,
                offset_bytes: r.varint()?,
                length_bytes: r.varint()?,
            });
        }
        if flags & HAS_GONE != 0 {
            record.gone_since = Some(TimeMs(r.varint()?));
        }
        reader.is_empty().then_some(record)
    }
}

/// Returns the importance as it is stored: finite, not negative, 8 bits of precision.
fn rounded(importance: f32) -> f32 {
    let sound = if importance.is_finite() {
        importance.max(0.0)
    } else {
        0.0
    };
    f32::from_bits(sound.to_bits() & 0xffff_0000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sighting() -> Sighting {
        Sighting {
            source: Source::Link,
            depth: 3,
            from: Some(0x1234_5678_9abc_def0),
            importance: 0.3,
            at: TimeMs(1_790_000_000_000),
            modified: TimeMs(0),
        }
    }

    #[test]
    fn a_page_never_visited_is_small() {
        let record = Record::new(&sighting());
        assert_eq!(record.encode().len(), 20);
        assert_eq!(Record::decode(&record.encode()), Some(record));
    }

    #[test]
    fn a_visited_page_comes_back() {
        let mut record = Record::new(&sighting());
        record.state = State::Fetched;
        record.indexed = true;
        (record.first, record.last, record.due) = (TimeMs(5), TimeMs(9), TimeMs::NEVER);
        (
            record.visits,
            record.unchanged,
            record.status,
            record.took_ms,
        ) = (7, 4, 200, 31);
        record.text_hash = Some(u128::MAX / 3);
        record.validators.etag = Some("\"abc\"".into());
        record.validators.last_modified = Some("Mon, 23 Nov 2026 10:00:00 GMT".into());
        record.place = Some(WarcPlace {
            file: 3,
            offset_bytes: 1 << 33,
            length_bytes: 70_000,
        });
        record.gone_since = Some(TimeMs(8));
        assert_eq!(Record::decode(&record.encode()), Some(record));
    }

    proptest! {
        #[test]
        fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(record) = Record::decode(&bytes) {
                prop_assert_eq!(Record::decode(&record.encode()).is_some(), true);
            }
            let _ = Sighting::decode(&mut Reader::new(&bytes));
        }
    }
}
