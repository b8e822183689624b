//! Entries as a look-up finds them: the value of the runs or the batch, and a sighting beside it.
use super::cursor::Cursor;
use super::filter::filter_hash;
use crate::frontier::error::Damage;
use crate::frontier::record::Record;
use crate::frontier::sighting::Sighting;

/// Entry that a scan finds under a key.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) value: Option<&'a [u8]>,
    pub(super) seen: Option<&'a Sighting>,
}

impl Found<'_> {
    pub(in crate::frontier) fn record(&self) -> Option<Record> {
        resolve(self.value.and_then(Record::decode), self.seen).map(|(record, _)| record)
    }
}

/// Joins the record of a URL with a sighting. Returns also whether there was a record.
pub(super) fn resolve(stored: Option<Record>, seen: Option<&Sighting>) -> Option<(Record, bool)> {
    match (stored, seen) {
        (Some(mut record), seen) => {
            if let Some(sighting) = seen {
                record.note(sighting);
            }
            Some((record, true))
        }
        (None, Some(sighting)) => Some((Record::new(sighting), false)),
        (None, None) => None,
    }
}

/// Returns the newest value of `key` in the runs.
pub(super) fn find<'a>(
    reader: &'a mut [Cursor],
    key: &[u8],
    damage: &mut Vec<Damage>,
) -> Option<&'a [u8]> {
    let hash = filter_hash(key);
    for cursor in reader.iter_mut().rev() {
        if !cursor.run().may_contain(hash) {
            continue;
        }
        cursor.seek(key, damage);
        if cursor.key() == Some(key) {
            return Some(cursor.value());
        }
    }
    None
}
