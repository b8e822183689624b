//! Heads of groups.

use crate::sealed::{read_u32, read_u64};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Alignment of groups in bytes: a sector, so that no write touches a sector with acknowledged bytes.
pub(super) const ALIGNMENT: usize = 512;
pub(super) const HEAD_BYTES: usize = 40;
const MAGIC: [u8; 4] = *b"STL1";

/// Kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupKind {
    Records = 1,
    /// Proof that the groups before it are durable.
    Mark = 2,
    /// Proof as a mark is, after which no group follows.
    End = 3,
}

/// Head of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: GroupKind,
    pub(super) payload_bytes: u32,
    pub(super) records: u32,
    /// Number of its first record in the log, from 0; of a group without records, that of the next one.
    pub(super) first_record: u64,
    pub(super) payload_hash: u64,
}

/// Identity of a log, which its hashes depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seed(u64);

impl Seed {
    pub(super) fn new(index_id: u128, number: u64) -> Seed {
        let mut identity = [0; 24];
        identity[..16].copy_from_slice(&index_id.to_le_bytes());
        identity[16..].copy_from_slice(&number.to_le_bytes());
        Seed(xxh3_64(&identity))
    }

    pub(super) fn hash(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.0)
    }
}

impl Head {
    pub(super) fn to_bytes(self, seed: Seed) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.records.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_record.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.payload_hash.to_le_bytes());
        let hash = seed.hash(&bytes[..32]);
        bytes[32..].copy_from_slice(&hash.to_le_bytes());
        bytes
    }

    /// Reads the head at the start of `bytes`; `None` where it is not a valid one of this log.
    pub(super) fn read(bytes: &[u8], seed: Seed) -> Option<Head> {
        let bytes = bytes.get(..HEAD_BYTES)?;
        if bytes[..4] != MAGIC || read_u64(bytes, 32) != seed.hash(&bytes[..32]) {
            return None;
        }
        Some(Head {
            kind: match read_u32(bytes, 4) {
                1 => GroupKind::Records,
                2 => GroupKind::Mark,
                3 => GroupKind::End,
                _ => return None,
            },
            payload_bytes: read_u32(bytes, 8),
            records: read_u32(bytes, 12),
            first_record: read_u64(bytes, 16),
            payload_hash: read_u64(bytes, 24),
        })
    }

    /// Returns the bytes of the whole group, padding included.
    pub(super) fn group_bytes(&self) -> usize {
        (HEAD_BYTES + self.payload_bytes as usize).next_multiple_of(ALIGNMENT)
    }
}
