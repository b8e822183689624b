//! Sections of sealed files, whose blocks are verified before their first read.
//!
//! Opening verifies the footer and the block with the header. Every other block is verified at its first touch: a
//! [`Section`] returns only bytes of blocks whose checksums match. Without the comparison, a flipped bit could cause a
//! wrong answer unnoticed; verifying whole files at opening would cost as much as reading the index.
//!
//! The file records the first damage that any reader finds ([`LiveFile`]). Readers that return a `Result` then fail.
//! Readers that cannot fail return zeros; the examination of the answer then refuses it, because the file is damaged.
//!
//! The first read of a section registers its file with every index that has it open: examinations of answers then
//! cover the file, whichever reader it was ([`LiveFile::is_read`]).
//!
//! A file of a storage that cannot map ([`vfs::Storage::open_lazy`]) has its bytes fetched by the same gate: the blocks of a
//! range that are missing, before they are verified. A failed fetch fails the reads of this answer, and the next one
//! fetches again.
//!
//! Cost: one load where the whole file is verified, two or three where the range is, 0.3 µs per block for the first
//! touch.

use crate::IndexError;
use crate::live::LiveFile;
use crate::sealed::{
    BLOCK_BYTES, Damage, FORMAT_VERSION, HEADER_BYTES, Identity, Kind, Seal, TAIL_BYTES,
    Unverified, read_identity, read_u32, read_u64, verify_footer, verify_magic, verify_or_refetch,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use vfs::{Region, SharedStorage};

/// Payload of an open file, or a part of it.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    file: Arc<LiveFile>,
    /// Region of the file, copied here to save an indirection.
    region: Region,
    start: usize,
    end: usize,
}

impl Section {
    fn of_payload(file: Arc<LiveFile>) -> Section {
        Section {
            region: file.region().clone(),
            start: HEADER_BYTES,
            end: file.payload_end(),
            file,
        }
    }

    /// Returns a part of this section; `None` where it exceeds the section.
    pub(crate) fn part(&self, start: usize, bytes: usize) -> Option<Section> {
        let end = start.checked_add(bytes)?;
        if end > self.len() {
            return None;
        }
        Some(Section {
            start: self.start + start,
            end: self.start + end,
            ..self.clone()
        })
    }

    /// Returns the length in bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns bytes of the section, verified; `None` where they exceed it or are damaged.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        let bytes = self.unverified().get(range.clone())?;
        (self.file.is_verified() || self.touch(range)).then_some(bytes)
    }

    /// Returns whether the `bytes` bytes at `at` lie inside and match their checksums.
    #[inline(never)]
    fn touch_inside(&self, at: usize, bytes: usize) -> bool {
        let range = at..at.saturating_add(bytes);
        range.end <= self.len() && self.touch(range)
    }

    /// Returns whether bytes of the section match their checksums.
    #[inline(never)]
    fn touch(&self, range: Range<usize>) -> bool {
        self.file
            .ensure(self.start + range.start..self.start + range.end)
    }

    /// Returns the whole section, verified; `None` where it is damaged.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.get(0..self.len())
    }

    /// Reads the little-endian integer at `at`; 0 outside the section, and where it is damaged.
    #[inline]
    pub(crate) fn read_u32(&self, at: usize) -> u32 {
        let is_verified = self.file.is_verified() || self.touch_inside(at, 4);
        match is_verified {
            true => read_u32(self.unverified(), at),
            false => 0,
        }
    }

    /// Reads the little-endian integer at `at`; 0 outside the section, and where it is damaged.
    #[inline]
    pub(crate) fn read_u64(&self, at: usize) -> u64 {
        let is_verified = self.file.is_verified() || self.touch_inside(at, 8);
        match is_verified {
            true => read_u64(self.unverified(), at),
            false => 0,
        }
    }

    /// Returns the section without verification, for uses on which no answer depends, such as prefetches.
    #[inline]
    pub(crate) fn unverified(&self) -> &[u8] {
        &self.region[self.start..self.end]
    }

    /// Returns bytes of the section that are verified when they are read.
    #[inline]
    pub(crate) fn lazy(&self, range: Range<usize>) -> Option<LazyBytes<'_>> {
        let bytes = self.unverified().get(range.clone())?;
        let start = range.start;
        let is_touched = self
            .file
            .is_touched(self.start + start..self.start + range.end);
        Some(LazyBytes {
            bytes,
            unverified: (!is_touched).then_some((self, start)),
        })
    }

    /// Returns the offset of the section in its file, in bytes.
    pub(crate) fn file_offset(&self) -> u64 {
        self.start as u64
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        &self.file
    }

    /// Returns the error for inconsistent bytes at `offset` of the section, or the known damage of the file.
    pub(crate) fn damaged(&self, offset: u64, what: &str) -> IndexError {
        self.file
            .damaged_at(self.file_offset().saturating_add(offset), what)
    }

    /// Tells the system that the first `bytes` of the section are no longer needed.
    pub(crate) fn release(&self, bytes: usize) {
        self.region
            .release(self.start..(self.start + bytes).min(self.end));
    }
}

/// Bytes of a section that are verified when they are read, for ranges of which few bytes may be read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LazyBytes<'a> {
    bytes: &'a [u8],
    /// Section and offset of the bytes in it; `None` where they are verified already.
    unverified: Option<(&'a Section, usize)>,
}

impl<'a> LazyBytes<'a> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns some of the bytes, verified; `None` where they lie outside or are damaged.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(range.clone())?;
        self.ensure(range).then_some(bytes)
    }

    /// Reads the little-endian integer at `at`; 0 outside, and where it is damaged.
    #[inline]
    pub(crate) fn read_u32(&self, at: usize) -> u32 {
        match self.ensure(at..at + 4) {
            true => read_u32(self.bytes, at),
            false => 0,
        }
    }

    /// Returns whether some of the bytes may not be verified yet.
    #[inline]
    pub(crate) fn is_lazy(&self) -> bool {
        self.unverified.is_some()
    }

    /// Returns whether bytes match their checksums; false for bytes outside the section.
    #[inline]
    pub(crate) fn ensure(&self, range: Range<usize>) -> bool {
        self.unverified.is_none() || self.touch(range)
    }

    // Not inlined into readers of lists that are verified already.
    #[cold]
    #[inline(never)]
    fn touch(&self, range: Range<usize>) -> bool {
        self.unverified.is_none_or(|(section, start)| {
            let range = start.saturating_add(range.start)..start.saturating_add(range.end);
            section.get(range).is_some()
        })
    }

    /// Returns all bytes without verification: for prefetches, and for reads of bytes that `get` returned before.
    #[inline]
    pub(crate) fn unverified(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the damage of their file, if any is known, or the failure of a read of it.
    pub(crate) fn damage(&self) -> Option<IndexError> {
        let (section, _) = self.unverified?;
        section.file.failure()
    }
}

impl<'a> From<&'a [u8]> for LazyBytes<'a> {
    /// Wraps bytes that are verified, or need no verification.
    fn from(bytes: &'a [u8]) -> LazyBytes<'a> {
        LazyBytes {
            bytes,
            unverified: None,
        }
    }
}

/// Opens a file, verifies every checksum, and returns its payload and identity. `expected` comes from the manifest; the
/// manifest itself has none.
pub(crate) fn open_sealed(
    storage: &SharedStorage,
    name: &str,
    kind: Kind,
    expected: Option<(Identity, Seal)>,
) -> Result<(Section, Identity), IndexError> {
    let (payload, identity) = open_header(storage, name, kind, expected)?;
    payload.file().verify_whole()?;
    Ok((payload, identity))
}

/// Opens a file for reading in parts. Verifies footer and header now, and every other block at its first touch.
pub(crate) fn open_live(
    storage: &SharedStorage,
    name: &str,
    identity: Identity,
    seal: Seal,
) -> Result<Section, IndexError> {
    let (payload, _) = open_header(storage, name, identity.kind, Some((identity, seal)))?;
    Ok(payload)
}

fn open_header(
    storage: &SharedStorage,
    name: &str,
    kind: Kind,
    expected: Option<(Identity, Seal)>,
) -> Result<(Section, Identity), IndexError> {
    let region = storage.open_lazy(name)?;
    let path = storage.location().join(name);
    // Footer and header of a large file are a few pages; read-ahead around them would be wasted.
    match region.len() > READ_AHEAD_BYTES {
        true => region
            .clone()
            .without_read_ahead(|| open_region(region, path, kind, expected)),
        false => open_region(region, path, kind, expected),
    }
}

/// Size up to which a file may be read ahead as a whole when it is opened, in bytes.
const READ_AHEAD_BYTES: usize = 1 << 20;

fn open_region(
    region: Region,
    path: PathBuf,
    kind: Kind,
    expected: Option<(Identity, Seal)>,
) -> Result<(Section, Identity), IndexError> {
    let damaged = |(offset, what): Damage| IndexError::Damaged {
        path: path.clone(),
        offset: offset as u64,
        what,
    };
    let bytes: &[u8] = &region;
    if let Some((_, seal)) = expected
        && seal.bytes != bytes.len() as u64
    {
        let at = bytes.len().min(seal.bytes as usize);
        let found = bytes.len();
        let what = format!(
            "the file has {found} bytes, the manifest says {}",
            seal.bytes
        );
        return Err(damaged((at, what)));
    }
    if bytes.len() < HEADER_BYTES + TAIL_BYTES {
        let what = "the file ends before its header and footer";
        return Err(damaged((bytes.len(), what.into())));
    }
    fetch_ends(&region)?;
    prefetch_footer(&region);
    let footer = verify_footer(bytes).or_else(|damage| {
        // Of a copy that was damaged on its way, a second one is fetched.
        match region.refetch(footer_start(bytes.len())..bytes.len()) {
            Ok(true) => verify_footer(bytes).map_err(damaged),
            Ok(false) => Err(damaged(damage)),
            Err(error) => Err(error.into()),
        }
    });
    let (payload_end, checksum) = footer?;
    if let Some((_, seal)) = expected
        && seal.checksum != checksum
    {
        let what = "the footer's checksum is not the manifest's: a file of another generation?";
        return Err(damaged((payload_end, what.into())));
    }
    verify_or_refetch(&region, payload_end, 0).map_err(|unverified| match unverified {
        Unverified::Damage(damage) => damaged(damage),
        Unverified::Unread(error) => error.into(),
    })?;
    verify_magic(bytes).map_err(damaged)?;
    let version = read_u32(bytes, 12);
    if version != FORMAT_VERSION {
        return Err(IndexError::OtherVersion {
            path,
            found: version,
            read: FORMAT_VERSION,
        });
    }
    let identity = read_identity(bytes, kind).map_err(damaged)?;
    if let Some((wanted, _)) = expected
        && wanted != identity
    {
        let what = format!("this file is {identity:?}, expected {wanted:?}");
        return Err(damaged((16, what)));
    }
    let seal = Seal {
        bytes: bytes.len() as u64,
        checksum,
    };
    let file = LiveFile::new(path, kind, region, seal, payload_end);
    Ok((Section::of_payload(file), identity))
}

/// Returns where the footer of a whole file of `bytes` bytes starts: each block but the last has its checksum in it.
fn footer_start(bytes: usize) -> usize {
    let checked_and_checksums = bytes - TAIL_BYTES;
    let blocks = checked_and_checksums.div_ceil(BLOCK_BYTES + 4);
    checked_and_checksums.saturating_sub(blocks * 4)
}

/// Fetches the footer and the block of the header, in one read where the file is short.
fn fetch_ends(region: &Region) -> Result<(), IndexError> {
    match region.len() <= FETCHED_WHOLE_BYTES {
        true => region.fetch(0..region.len())?,
        false => {
            region.fetch(footer_start(region.len())..region.len())?;
            region.fetch(0..HEADER_BYTES)?;
        }
    }
    Ok(())
}

/// Size up to which a file is fetched as a whole when it is opened, in bytes: one read costs as much as two.
const FETCHED_WHOLE_BYTES: usize = 64 << 10;

/// Prefetches the checksums of a file's blocks in one piece. Their number is not verified yet, and used for this alone.
fn prefetch_footer(region: &Region) {
    let tail_at = region.len() - TAIL_BYTES;
    let blocks = read_u32(region, tail_at + 8) as usize;
    region.prefetch(tail_at.saturating_sub(blocks * 4)..region.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_starts_after_the_payload_whatever_its_length() {
        for payload_end in
            (HEADER_BYTES..3 * BLOCK_BYTES).chain(300 * BLOCK_BYTES - 9..301 * BLOCK_BYTES)
        {
            let footer_bytes = payload_end.div_ceil(BLOCK_BYTES) * 4 + TAIL_BYTES;
            assert_eq!(footer_start(payload_end + footer_bytes), payload_end);
        }
    }
}
