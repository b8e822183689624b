//! Envelope of every file of an index: its identity, and checksums that locate damage.
//!
//! ```text
//! file   := header payload footer
//! header := magic[8] kind[4] version:u32le index_id[16] number:u64le zero[20] crc:u32le    64 bytes
//! footer := crc:u32le{blocks} payload_bytes:u64le blocks:u32le crc:u32le magic[8]
//! ```
//!
//! `blocks` are pieces of 4 KiB of header and payload, each with a CRC-32, so damage is located to the block. The
//! footer's own checksum covers the footer before it. The manifest repeats that checksum for every file, so that a file
//! of another generation is not mistaken for this one.
//!
//! See [`crate::section`] for reading, and for the time at which each checksum is verified.

mod verify;
mod write;

pub use verify::EachPiece;
pub(crate) use verify::{
    Damage, Unverified, read_identity, verify_block, verify_blocks, verify_footer, verify_magic,
    verify_or_refetch,
};
pub(crate) use write::SealedWriter;

const MAGIC: [u8; 8] = *b"shorttai";
const END_MAGIC: [u8; 8] = *b"lshorttl";
/// Bytes of the header; the payload follows it.
pub(crate) const HEADER_BYTES: usize = 64;
/// Bytes of the footer after its checksums.
pub(crate) const TAIL_BYTES: usize = 24;
/// Bytes of header and payload covered by one checksum.
pub(crate) const BLOCK_BYTES: usize = 4 << 10;
/// Version of all file formats of this crate.
pub(crate) const FORMAT_VERSION: u32 = 4;

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Manifest,
    Segment,
    Documents,
    Deletions,
    Statistics,
    Pairs,
    Columns,
}

impl Kind {
    /// All kinds, for tests that must not miss one.
    #[cfg(test)]
    pub(crate) const ALL: [Kind; 7] = [
        Kind::Manifest,
        Kind::Segment,
        Kind::Documents,
        Kind::Deletions,
        Kind::Statistics,
        Kind::Pairs,
        Kind::Columns,
    ];

    fn bytes(self) -> [u8; 4] {
        *match self {
            Kind::Manifest => b"MANI",
            Kind::Segment => b"SEGM",
            Kind::Documents => b"DOCS",
            Kind::Deletions => b"DELS",
            Kind::Statistics => b"STAT",
            Kind::Pairs => b"PAIR",
            Kind::Columns => b"COLS",
        }
    }
}

/// Identity of a file, from its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) kind: Kind,
    pub(crate) index_id: u128,
    /// Number of the file among those of its kind: a segment, a generation, or both.
    pub(crate) number: u64,
}

impl Identity {
    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&self.kind.bytes());
        header[12..16].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        header[16..32].copy_from_slice(&self.index_id.to_le_bytes());
        header[32..40].copy_from_slice(&self.number.to_le_bytes());
        let crc = crc32fast::hash(&header[..60]);
        header[60..].copy_from_slice(&crc.to_le_bytes());
        header
    }
}

/// Length and footer checksum of a finished file, as recorded in the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Seal {
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
}

/// Reads the little-endian integer at `at`; 0 outside the slice.
#[inline]
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(four) => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
        None => 0,
    }
}

/// Reads the little-endian integer at `at`; 0 outside the slice.
#[inline]
pub(crate) fn read_u64(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..).and_then(|rest| rest.first_chunk());
    eight.map_or(0, |eight| u64::from_le_bytes(*eight))
}
