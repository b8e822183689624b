//! Reading of one log: its records, what is lost of them, and its torn tail.

use super::group::{ALIGNMENT, GroupKind, HEAD_BYTES, Head, Seed};
use super::loss::LogLoss;
use super::record::{self, LogRecord};
use crate::row_text::decompress;
use std::path::PathBuf;
use vfs::Region;

/// Bytes without a head after which the file is asked for its next hole.
const HOLES_EVERY: usize = 64 << 10;

/// Contents of one log.
#[derive(Debug, Default)]
pub(super) struct LogContents {
    pub(super) records: Vec<LogRecord>,
    pub(super) losses: Vec<LogLoss>,
    /// Number of the record after the last one that is known.
    pub(super) next_record: u64,
    /// Offset after the last valid group.
    pub(super) end: usize,
    /// Whether any group is valid.
    pub(super) is_begun: bool,
    /// Whether the log was ended, so that no group can be missing after the last one.
    pub(super) is_ended: bool,
}

/// Reads a log. `path` is for messages.
pub(super) fn read(bytes: &Region, seed: Seed, path: PathBuf) -> LogContents {
    let mut contents = LogContents::default();
    let mut at = 0;
    while at < bytes.len() {
        let Some((found, head)) = find_head(bytes, at, seed) else {
            break;
        };
        contents.is_begun = true;
        if head.first_record > contents.next_record {
            contents.losses.push(LogLoss {
                path: path.clone(),
                offset: contents.end as u64,
                first_record: contents.next_record,
                records: Some(head.first_record - contents.next_record),
            });
            contents.next_record = head.first_record;
        }
        let payload = bytes.get(found + HEAD_BYTES..);
        let payload = payload.and_then(|rest| rest.get(..head.payload_bytes as usize));
        match payload.and_then(|payload| read_records(payload, &head, seed)) {
            Some(records) => {
                contents.records.extend(records);
                contents.next_record = head.first_record + u64::from(head.records);
                contents.is_ended = head.kind == GroupKind::End;
                at = found + head.group_bytes();
                contents.end = at.min(bytes.len());
            }
            // A later head, if there is one, tells that this group had been acknowledged.
            None => at = found + ALIGNMENT,
        }
    }
    contents
}

/// Returns the first valid head at or after `at`, and its offset. Passes over holes: a log that was made longer without
/// being written may be larger than the disk.
pub(super) fn find_head(bytes: &Region, at: usize, seed: Seed) -> Option<(usize, Head)> {
    let mut offset = at.next_multiple_of(ALIGNMENT);
    while offset < bytes.len() {
        if let Some(head) = Head::read(&bytes[offset..], seed) {
            return Some((offset, head));
        }
        offset += ALIGNMENT;
        if offset.is_multiple_of(HOLES_EVERY) {
            let data = bytes.next_data(offset);
            offset = offset.max(data / ALIGNMENT * ALIGNMENT);
        }
    }
    None
}

/// Returns the records of a group; `None` where its payload is damaged.
pub(super) fn read_records(payload: &[u8], head: &Head, seed: Seed) -> Option<Vec<LogRecord>> {
    if seed.hash(payload) != head.payload_hash {
        return None;
    }
    let mut raw = Vec::new();
    if !payload.is_empty() {
        decompress(payload, &mut raw)?;
    }
    let (mut records, mut at) = (Vec::new(), 0);
    while at < raw.len() {
        records.push(record::read(&raw, &mut at)?);
    }
    (records.len() == head.records as usize).then_some(records)
}
