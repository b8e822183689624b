//! The envelope of every file of an index: who it is, and checksums that say where it is damaged.
//!
//! ```text
//! file   := header payload footer
//! header := magic[8] kind[4] version:u32le index_id[16] number:u64le zero[20] crc:u32le    64 bytes
//! footer := crc:u32le{blocks} payload_bytes:u64le blocks:u32le crc:u32le magic[8]
//! ```
//!
//! `blocks` cut header and payload into pieces of 4 KiB, each with its CRC-32, so a damage is named
//! to the block. The footer's own checksum covers everything before it in the footer; the manifest
//! repeats it for every file, so that a file from another generation is not mistaken for this one.
//!
//! Why checksums are verified whole at open: a flipped bit that no checksum was asked about is a
//! wrong answer, and nobody would know.

use crate::IndexError;
use crate::live::{EachPiece, LiveFile};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use vfs::{Region, SharedStorage, StorageError, WriteFile};

const MAGIC: [u8; 8] = *b"shorttai";
const END_MAGIC: [u8; 8] = *b"lshorttl";
/// Bytes of the header; the payload starts here.
pub(crate) const HEADER_BYTES: usize = 64;
pub(crate) const TAIL_BYTES: usize = 24;
const BLOCK_BYTES: usize = 4 << 10;
/// Verified pages are given back in pieces of this size.
const RELEASE_BYTES: usize = 16 << 20;
/// The same beside searches, which would have to map many pages again at once.
const PIECE_BYTES: usize = 256 << 10;
/// The version of all formats of this crate.
pub(crate) const FORMAT_VERSION: u32 = 4;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Manifest,
    Segment,
    Documents,
    Deletions,
    Statistics,
    Pairs,
}

impl Kind {
    fn bytes(self) -> [u8; 4] {
        *match self {
            Kind::Manifest => b"MANI",
            Kind::Segment => b"SEGM",
            Kind::Documents => b"DOCS",
            Kind::Deletions => b"DELS",
            Kind::Statistics => b"STAT",
            Kind::Pairs => b"PAIR",
        }
    }
}

/// Which file a file claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) kind: Kind,
    pub(crate) index_id: u128,
    /// Segment id or generation, whatever numbers files of this kind.
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

/// Length and footer checksum of a finished file, as the manifest records them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Seal {
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
}

/// Writes a payload between header and footer.
pub(crate) struct SealedWriter {
    file: Box<dyn WriteFile>,
    path: std::path::PathBuf,
    payload_bytes: u64,
    block: crc32fast::Hasher,
    block_fill: usize,
    block_checksums: Vec<u8>,
}

impl SealedWriter {
    pub(crate) fn create(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
    ) -> Result<SealedWriter, IndexError> {
        let mut writer = SealedWriter {
            file: storage.create(name)?,
            path: storage.location().join(name),
            payload_bytes: 0,
            block: crc32fast::Hasher::new(),
            block_fill: 0,
            block_checksums: Vec::new(),
        };
        writer.write(&identity.header())?;
        writer.payload_bytes = 0;
        Ok(writer)
    }

    /// Payload bytes written so far: the offset, in the payload, of what is written next.
    pub(crate) fn position(&self) -> u64 {
        self.payload_bytes
    }

    /// That what is being written makes no sense, because what it is made from does not.
    pub(crate) fn damaged(&self, what: &str) -> IndexError {
        IndexError::Damaged {
            path: self.path.clone(),
            offset: HEADER_BYTES as u64 + self.payload_bytes,
            what: what.to_owned(),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), IndexError> {
        self.file
            .write_all(bytes)
            .map_err(|source| StorageError::from_io("write", &self.path, source))?;
        self.payload_bytes += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = rest.len().min(BLOCK_BYTES - self.block_fill);
            self.block.update(&rest[..taken]);
            self.block_fill += taken;
            rest = &rest[taken..];
            if self.block_fill == BLOCK_BYTES {
                self.end_block();
            }
        }
        Ok(())
    }

    fn end_block(&mut self) {
        let hasher = std::mem::take(&mut self.block);
        self.block_checksums
            .extend_from_slice(&hasher.finalize().to_le_bytes());
        self.block_fill = 0;
    }

    /// Writes the footer and syncs the file.
    pub(crate) fn finish(mut self) -> Result<Seal, IndexError> {
        if self.block_fill > 0 {
            self.end_block();
        }
        let mut footer = std::mem::take(&mut self.block_checksums);
        let blocks = (footer.len() / 4) as u32;
        footer.extend_from_slice(&self.payload_bytes.to_le_bytes());
        footer.extend_from_slice(&blocks.to_le_bytes());
        let checksum = crc32fast::hash(&footer);
        footer.extend_from_slice(&checksum.to_le_bytes());
        footer.extend_from_slice(&END_MAGIC);
        let bytes = HEADER_BYTES as u64 + self.payload_bytes + footer.len() as u64;
        let written = self
            .file
            .write_all(&footer)
            .and_then(|()| self.file.flush());
        written.map_err(|source| StorageError::from_io("write", &self.path, source))?;
        self.file.finish()?;
        Ok(Seal { bytes, checksum })
    }
}

/// A verified file, or a part of its payload.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    region: Region,
    start: usize,
    end: usize,
}

impl Section {
    /// A part of this section; `None` when it lies outside.
    pub(crate) fn part(&self, start: usize, bytes: usize) -> Option<Section> {
        let end = start.checked_add(bytes)?;
        if end > self.end - self.start {
            return None;
        }
        Some(Section {
            region: self.region.clone(),
            start: self.start + start,
            end: self.start + end,
        })
    }

    /// Where the section starts in its file.
    pub(crate) fn file_offset(&self) -> u64 {
        self.start as u64
    }

    /// Tells the system that the first `bytes` of the section are done with.
    pub(crate) fn release(&self, bytes: usize) {
        self.region
            .release(self.start..(self.start + bytes).min(self.end));
    }
}

impl std::ops::Deref for Section {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        &self.region[self.start..self.end]
    }
}

impl AsRef<[u8]> for Section {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Opens a file, verifies every checksum, and returns its payload.
/// `seal` is what the manifest says of it; the manifest itself has none.
pub(crate) fn open_sealed(
    storage: &SharedStorage,
    name: &str,
    kind: Kind,
    expected: Option<(Identity, Seal)>,
) -> Result<(Section, Identity), IndexError> {
    let region = storage.open(name)?;
    let damaged = |offset: usize, what: String| IndexError::Damaged {
        path: storage.location().join(name),
        offset: offset as u64,
        what,
    };
    let bytes: &[u8] = &region;
    if let Some((_, seal)) = expected
        && seal.bytes != bytes.len() as u64
    {
        let at = bytes.len().min(seal.bytes as usize);
        return Err(damaged(
            at,
            format!(
                "the file has {} bytes, the manifest says {}",
                bytes.len(),
                seal.bytes
            ),
        ));
    }
    if bytes.len() < HEADER_BYTES + TAIL_BYTES {
        return Err(damaged(
            bytes.len(),
            "the file ends before its header and footer".into(),
        ));
    }
    let (payload_end, checksum) = verify_footer(bytes).map_err(|(at, what)| damaged(at, what))?;
    if let Some((_, seal)) = expected
        && seal.checksum != checksum
    {
        return Err(damaged(
            payload_end,
            "the footer's checksum is not the manifest's: a file of another generation?".into(),
        ));
    }
    let to_the_end = &mut |_| ControlFlow::Continue(());
    let verified = verify_blocks(&region, payload_end, RELEASE_BYTES, to_the_end);
    let _ = verified.map_err(|(at, what)| damaged(at, what))?;
    region.release(0..payload_end);
    verify_magic(bytes).map_err(|(at, what)| damaged(at, what))?;
    let version = read_u32(bytes, 12);
    if version != FORMAT_VERSION {
        return Err(IndexError::OtherVersion {
            path: storage.location().join(name),
            found: version,
            read: FORMAT_VERSION,
        });
    }
    let identity = read_identity(bytes, kind).map_err(|(at, what)| damaged(at, what))?;
    if let Some((wanted, _)) = expected
        && wanted != identity
    {
        return Err(damaged(
            16,
            format!("this file is {identity:?}, expected {wanted:?}"),
        ));
    }
    Ok((
        Section {
            region,
            start: HEADER_BYTES,
            end: payload_end,
        },
        identity,
    ))
}

/// The same of a file that an open index goes on reading, so that its changes are found.
pub(crate) fn open_live(
    storage: &SharedStorage,
    name: &str,
    identity: Identity,
    seal: Seal,
) -> Result<(Section, Arc<LiveFile>), IndexError> {
    let (payload, _) = open_sealed(storage, name, identity.kind, Some((identity, seal)))?;
    let path = storage.location().join(name);
    let file = LiveFile::new(path, payload.region.clone(), seal);
    Ok((payload, file))
}

/// Verifies a file that was open already: whether its bytes are still those of its seal. `each_piece` hears of every
/// piece read and may end it.
pub(crate) fn verify_bytes(
    region: &Region,
    seal: Seal,
    each_piece: &mut EachPiece,
) -> Result<ControlFlow<()>, Damage> {
    let (payload_end, checksum) = verify_footer(region)?;
    if seal.checksum != checksum {
        let what = "the footer's checksum is not the manifest's";
        return Err((payload_end, what.into()));
    }
    verify_blocks(region, payload_end, PIECE_BYTES, each_piece)
}

/// Where, and what.
pub(crate) type Damage = (usize, String);

fn verify_footer(bytes: &[u8]) -> Result<(usize, u32), Damage> {
    let tail_at = bytes.len() - TAIL_BYTES;
    let tail = &bytes[tail_at..];
    if tail[16..] != END_MAGIC {
        return Err((
            tail_at + 16,
            "no end mark: the file is cut short or overwritten".into(),
        ));
    }
    let payload_bytes = read_u64(tail, 0);
    let blocks = u64::from(read_u32(tail, 8));
    let checksum = read_u32(tail, 12);
    let checked = HEADER_BYTES as u64 + payload_bytes.min(1 << 60);
    let expected = checked + blocks * 4 + TAIL_BYTES as u64;
    if expected != bytes.len() as u64 || blocks != checked.div_ceil(BLOCK_BYTES as u64) {
        return Err((
            tail_at,
            "the lengths in the footer do not fit the file".into(),
        ));
    }
    let payload_end = checked as usize;
    if crc32fast::hash(&bytes[payload_end..tail_at + 12]) != checksum {
        return Err((payload_end, "checksum of the footer does not match".into()));
    }
    Ok((payload_end, checksum))
}

fn verify_blocks(
    bytes: &Region,
    payload_end: usize,
    piece_bytes: usize,
    each_piece: &mut EachPiece,
) -> Result<ControlFlow<()>, Damage> {
    let checksums = bytes[payload_end..].chunks_exact(4);
    for (block, (data, crc)) in bytes[..payload_end]
        .chunks(BLOCK_BYTES)
        .zip(checksums)
        .enumerate()
    {
        let at = block * BLOCK_BYTES;
        if at > 0 && at.is_multiple_of(piece_bytes) {
            // Read once here and perhaps never again: not to be counted against this process.
            bytes.release(at - piece_bytes..at);
            if each_piece(piece_bytes).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if crc32fast::hash(data).to_le_bytes() != crc {
            return Err((
                at,
                format!(
                    "checksum of block {block} ({} bytes from here) does not match",
                    data.len()
                ),
            ));
        }
    }
    Ok(each_piece(payload_end % piece_bytes))
}

fn verify_magic(bytes: &[u8]) -> Result<(), Damage> {
    if bytes[..8] != MAGIC {
        return Err((0, "not a file of a Shorttail index".into()));
    }
    if crc32fast::hash(&bytes[..60]) != read_u32(bytes, 60) {
        return Err((60, "checksum of the header does not match".into()));
    }
    Ok(())
}

fn read_identity(bytes: &[u8], kind: Kind) -> Result<Identity, Damage> {
    if bytes[8..12] != kind.bytes() {
        return Err((8, format!("this is not a {kind:?} file")));
    }
    let mut id = [0; 16];
    id.copy_from_slice(&bytes[16..32]);
    Ok(Identity {
        kind,
        index_id: u128::from_le_bytes(id),
        number: read_u64(bytes, 32),
    })
}

/// The little-endian integer at `at`; 0 outside the slice.
#[inline]
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(four) => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
        None => 0,
    }
}

/// The little-endian integer at `at`; 0 outside the slice.
#[inline]
pub(crate) fn read_u64(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..).and_then(|rest| rest.first_chunk());
    eight.map_or(0, |eight| u64::from_le_bytes(*eight))
}
