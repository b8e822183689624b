//! Verification of a sealed file: footer, header, and blocks by their checksums.

use super::{
    BLOCK_BYTES, END_MAGIC, HEADER_BYTES, Identity, Kind, MAGIC, TAIL_BYTES, read_u32, read_u64,
};
use std::ops::ControlFlow;
use vfs::{Region, StorageError};

/// Bytes of verified pages released at a time. With larger pieces, concurrent searches would have to map many pages
/// again at once.
const PIECE_BYTES: usize = 256 << 10;

/// Callback for each verified piece, with its length in bytes; `Break` ends the verification.
pub type EachPiece<'a> = dyn FnMut(usize) -> ControlFlow<()> + 'a;

/// Offset of damage in the file, and its description.
pub(crate) type Damage = (usize, String);

/// Outcome of reading blocks whose checksums do not match, or which could not be read.
#[derive(Debug)]
pub(crate) enum Unverified {
    /// The bytes are not those that were written.
    Damage(Damage),
    /// The bytes could not be fetched.
    Unread(StorageError),
}

impl From<Damage> for Unverified {
    fn from(damage: Damage) -> Unverified {
        Unverified::Damage(damage)
    }
}

impl From<StorageError> for Unverified {
    fn from(error: StorageError) -> Unverified {
        Unverified::Unread(error)
    }
}

/// Verifies the footer; returns the end of the payload and the footer's checksum.
pub(crate) fn verify_footer(bytes: &[u8]) -> Result<(usize, u32), Damage> {
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

/// Compares a block of header or payload with its checksum.
pub(crate) fn verify_block(bytes: &[u8], payload_end: usize, block: usize) -> Result<(), Damage> {
    let at = block * BLOCK_BYTES;
    let data = &bytes[at..payload_end.min(at + BLOCK_BYTES)];
    if crc32fast::hash(data) == read_u32(bytes, payload_end + block * 4) {
        return Ok(());
    }
    let what = format!(
        "checksum of block {block} ({} bytes from here) does not match",
        data.len()
    );
    Err((at, what))
}

/// Compares a fetched block with its checksum. A copy that was damaged on its way is fetched a second time, so nobody else
/// may read the block meanwhile.
pub(crate) fn verify_or_refetch(
    region: &Region,
    payload_end: usize,
    block: usize,
) -> Result<(), Unverified> {
    let first = verify_block(region, payload_end, block);
    let at = block * BLOCK_BYTES;
    if first.is_err() && region.refetch(at..payload_end.min(at + BLOCK_BYTES))? {
        return Ok(verify_block(region, payload_end, block)?);
    }
    Ok(first?)
}

/// Calls `verify` for the blocks for which `is_wanted` returns true, in order. Calls `each_piece` after every piece of the
/// file with the bytes read of it; it may end the verification.
pub(crate) fn verify_blocks(
    bytes: &Region,
    payload_end: usize,
    is_wanted: impl Fn(usize) -> bool,
    verify: impl Fn(usize) -> Result<(), Unverified>,
    each_piece: &mut EachPiece,
) -> Result<ControlFlow<()>, Unverified> {
    let mut read_bytes = 0;
    for block in 0..payload_end.div_ceil(BLOCK_BYTES) {
        let at = block * BLOCK_BYTES;
        if at > 0 && at.is_multiple_of(PIECE_BYTES) && read_bytes > 0 {
            // The pages may never be read again, so they must not count against this process.
            bytes.release(at - PIECE_BYTES..at);
            if each_piece(std::mem::take(&mut read_bytes)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if is_wanted(block) {
            read_bytes += BLOCK_BYTES.min(payload_end - at);
            verify(block)?;
        }
    }
    match read_bytes {
        0 => Ok(ControlFlow::Continue(())),
        _ => Ok(each_piece(read_bytes)),
    }
}

/// Verifies the magic bytes and the checksum of the header.
pub(crate) fn verify_magic(bytes: &[u8]) -> Result<(), Damage> {
    if bytes[..8] != MAGIC {
        return Err((0, "not a file of a Shorttail index".into()));
    }
    if crc32fast::hash(&bytes[..60]) != read_u32(bytes, 60) {
        return Err((60, "checksum of the header does not match".into()));
    }
    Ok(())
}

/// Returns the identity in the header; fails where the file is not of `kind`.
pub(crate) fn read_identity(bytes: &[u8], kind: Kind) -> Result<Identity, Damage> {
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
