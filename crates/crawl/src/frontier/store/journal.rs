//! Journal: changes since the last checkpoint, in frames that show what had been synced.
//!
//! journal := magic frame*
//! frame   := mark:u32le synced:u64le length:u32le checksum:u64le payload
//!
//! `synced` is the length of the file that was durable when the frame was written. A frame that cannot be read is
//! a torn end, and is cut, unless a later frame says that its place was durable: then it is damage.
//! Example, a payload `x` as first frame: 4a 52 4e 4c · 08 00 00 00 00 00 00 00 · 01 00 00 00 · checksum · 78.
use super::run_builder::write;
use crate::frontier::error::Damage;
use vfs::{SharedStorage, StorageError, WriteFile};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const MAGIC: &[u8; 8] = b"STjourn1";
const MARK: &[u8; 4] = b"JRNL";
const HEAD_BYTES: usize = 24;
/// A frame is written when its payload has reached this size.
const FRAME_BYTES: usize = 32 << 10;

/// Appends changes.
pub(super) struct JournalWriter {
    file: Box<dyn WriteFile>,
    name: String,
    payload: Vec<u8>,
    written_bytes: u64,
    synced_bytes: u64,
}

impl JournalWriter {
    /// Creates the file, durable but for its name.
    pub(super) fn create(
        storage: &SharedStorage,
        name: String,
    ) -> Result<JournalWriter, StorageError> {
        let mut file = storage.create(&name)?;
        write(&mut *file, storage, &name, MAGIC)?;
        file.sync()?;
        Ok(JournalWriter {
            file,
            name,
            payload: Vec::new(),
            written_bytes: MAGIC.len() as u64,
            synced_bytes: MAGIC.len() as u64,
        })
    }

    /// Returns the buffer to which the next change is appended. Call `appended` afterwards.
    pub(super) fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.payload
    }

    pub(super) fn appended(&mut self, storage: &SharedStorage) -> Result<(), StorageError> {
        if self.payload.len() >= FRAME_BYTES {
            return self.write_frame(storage);
        }
        Ok(())
    }

    fn write_frame(&mut self, storage: &SharedStorage) -> Result<(), StorageError> {
        if self.payload.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(HEAD_BYTES + self.payload.len());
        frame.extend_from_slice(MARK);
        frame.extend_from_slice(&self.synced_bytes.to_le_bytes());
        frame.extend_from_slice(&(self.payload.len() as u32).to_le_bytes());
        let checksum = checksum(&frame[4..16], &self.payload);
        frame.extend_from_slice(&checksum.to_le_bytes());
        frame.append(&mut self.payload);
        write(&mut *self.file, storage, &self.name, &frame)?;
        self.written_bytes += frame.len() as u64;
        Ok(())
    }

    /// Makes all changes durable.
    pub(super) fn sync(&mut self, storage: &SharedStorage) -> Result<(), StorageError> {
        self.write_frame(storage)?;
        if self.synced_bytes < self.written_bytes {
            self.file.sync()?;
            self.synced_bytes = self.written_bytes;
        }
        Ok(())
    }
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut seed = [0; 8];
    seed.copy_from_slice(&head[..8]);
    let length = u64::from(u32::from_le_bytes([head[8], head[9], head[10], head[11]]));
    xxh3_64_with_seed(payload, u64::from_le_bytes(seed) ^ length.rotate_left(32))
}

/// Contents of a journal.
#[derive(Debug, Default)]
pub(super) struct Tail<'a> {
    pub(super) payloads: Vec<&'a [u8]>,
    /// Bytes of the torn end.
    pub(super) cut_bytes: u64,
    pub(super) damage: Vec<Damage>,
}

struct Frame<'a> {
    synced: u64,
    payload: &'a [u8],
    end: usize,
}

fn frame_at(bytes: &[u8], at: usize) -> Option<Frame<'_>> {
    let head = bytes.get(at..at.checked_add(HEAD_BYTES)?)?;
    let (mark, rest) = head.split_at(4);
    if mark != MARK {
        return None;
    }
    let synced = u64::from_le_bytes(rest[..8].try_into().ok()?);
    let length = u32::from_le_bytes(rest[8..12].try_into().ok()?) as usize;
    let start = at + HEAD_BYTES;
    let payload = bytes.get(start..start.checked_add(length)?)?;
    let stored = u64::from_le_bytes(rest[12..20].try_into().ok()?);
    (checksum(&rest[..12], payload) == stored).then_some(Frame {
        synced,
        payload,
        end: start + length,
    })
}

/// Reads the frames of the journal `name`.
pub(super) fn read<'a>(bytes: &'a [u8], name: &str) -> Tail<'a> {
    let mut tail = Tail::default();
    let damage = |offset: usize, what| Damage {
        file: name.to_owned(),
        offset_bytes: offset as u64,
        what,
    };
    if !bytes.starts_with(MAGIC) {
        tail.damage
            .push(damage(0, "the journal does not begin as one"));
    }
    let mut at = MAGIC.len().min(bytes.len());
    while at < bytes.len() {
        if let Some(frame) = frame_at(bytes, at) {
            tail.payloads.push(frame.payload);
            at = frame.end;
            continue;
        }
        let durable = (at + 1..bytes.len())
            .filter(|&next| bytes[next] == MARK[0])
            .find_map(|next| frame_at(bytes, next).map(|frame| (next, frame)));
        match durable {
            Some((next, frame)) if frame.synced > at as u64 => {
                tail.damage
                    .push(damage(at, "a synced frame of the journal cannot be read"));
                at = next;
            }
            // A later frame may still prove it: look on from there.
            Some((_, frame)) => match later_proof(bytes, frame.end, at) {
                Some(next) => {
                    tail.damage
                        .push(damage(at, "a synced frame of the journal cannot be read"));
                    at = next;
                }
                None => break,
            },
            None => break,
        }
    }
    tail.cut_bytes = (bytes.len() - at.min(bytes.len())) as u64;
    tail
}

/// Returns the first readable frame after `at`, if a frame after `from` proves that `at` was durable.
fn later_proof(bytes: &[u8], from: usize, at: usize) -> Option<usize> {
    let mut next = from;
    let mut proved = false;
    while next < bytes.len() && !proved {
        match frame_at(bytes, next) {
            Some(frame) => {
                proved = frame.synced > at as u64;
                next = frame.end;
            }
            None => next += 1,
        }
    }
    proved
        .then(|| (at + 1..bytes.len()).find(|&place| frame_at(bytes, place).is_some()))
        .flatten()
}
