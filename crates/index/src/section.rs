//! Bytes of sealed files, handed out once their checksums match.
//!
//! Opening verifies the footer and the block with the header. Every other block is verified at its first touch: a
//! [`Section`] gives bytes of blocks whose checksums match, and no others. A flipped bit that no checksum was compared with
//! would be a wrong answer, and nobody would know; verifying whole files instead would make opening cost as much as
//! reading the index.
//!
//! The file keeps damage that is found ([`LiveFile`]), by any reader: readers that return a `Result` fail with it, and
//! those that cannot give zeros, which the examination of the answer refuses because the file is damaged by then.
//!
//! Cost: one load where the whole file is verified, two or three for a range that is, 0.3 µs a block the first time.

use crate::IndexError;
use crate::live::LiveFile;
use crate::sealed::{
    Damage, FORMAT_VERSION, HEADER_BYTES, Identity, Kind, Seal, TAIL_BYTES, read_identity,
    read_u32, read_u64, verify_block, verify_footer, verify_magic,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use vfs::{Region, SharedStorage};

/// The payload of an open file, or a part of it.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    file: Arc<LiveFile>,
    /// That of the file, one step nearer.
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

    /// A part of this section; `None` where it lies outside.
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

    /// Bytes of the section.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Bytes of the section, verified; `None` where they lie outside, or are damaged.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        let bytes = self.unverified().get(range.clone())?;
        (self.file.is_verified() || self.touch(range)).then_some(bytes)
    }

    /// Whether the `bytes` bytes at `at` lie inside, and are as their checksums say.
    #[inline(never)]
    fn touch_inside(&self, at: usize, bytes: usize) -> bool {
        let range = at..at.saturating_add(bytes);
        range.end <= self.len() && self.touch(range)
    }

    /// Whether bytes that lie inside are as their checksums say.
    #[inline(never)]
    fn touch(&self, range: Range<usize>) -> bool {
        self.file
            .ensure(self.start + range.start..self.start + range.end)
    }

    /// The whole section, verified; `None` where it is damaged.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.get(0..self.len())
    }

    /// The little-endian integer at `at`; 0 outside the section, and where it is damaged.
    #[inline]
    pub(crate) fn read_u32(&self, at: usize) -> u32 {
        let is_verified = self.file.is_verified() || self.touch_inside(at, 4);
        match is_verified {
            true => read_u32(self.unverified(), at),
            false => 0,
        }
    }

    /// The little-endian integer at `at`; 0 outside the section, and where it is damaged.
    #[inline]
    pub(crate) fn read_u64(&self, at: usize) -> u64 {
        let is_verified = self.file.is_verified() || self.touch_inside(at, 8);
        match is_verified {
            true => read_u64(self.unverified(), at),
            false => 0,
        }
    }

    /// The section as it is in the file: for what no answer depends on, as which memory to ask for ahead.
    #[inline]
    pub(crate) fn unverified(&self) -> &[u8] {
        &self.region[self.start..self.end]
    }

    /// Bytes of the section that are verified when they are read.
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

    /// Where the section starts in its file.
    pub(crate) fn file_offset(&self) -> u64 {
        self.start as u64
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        &self.file
    }

    /// That bytes at `offset` of the section make no sense; the file's damage where one was found.
    pub(crate) fn damaged(&self, offset: u64, what: &str) -> IndexError {
        self.file
            .damaged_at(self.file_offset().saturating_add(offset), what)
    }

    /// Tells the system that the first `bytes` of the section are done with.
    pub(crate) fn release(&self, bytes: usize) {
        self.region
            .release(self.start..(self.start + bytes).min(self.end));
    }
}

/// Bytes of a section of which only few may be wanted: they are verified when they are read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LazyBytes<'a> {
    bytes: &'a [u8],
    /// Their section, and where in it they start; `None` where they are verified.
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

    /// Some of the bytes, verified; `None` where they lie outside, or are damaged.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(range.clone())?;
        self.ensure(range).then_some(bytes)
    }

    /// The little-endian integer at `at`; 0 outside, and where it is damaged.
    #[inline]
    pub(crate) fn read_u32(&self, at: usize) -> u32 {
        match self.ensure(at..at + 4) {
            true => read_u32(self.bytes, at),
            false => 0,
        }
    }

    /// Whether some of the bytes may not be verified yet.
    #[inline]
    pub(crate) fn is_lazy(&self) -> bool {
        self.unverified.is_some()
    }

    /// Whether bytes are as their checksums say; those that lie outside of the section are not.
    #[inline]
    pub(crate) fn ensure(&self, range: Range<usize>) -> bool {
        self.unverified.is_none() || self.touch(range)
    }

    // Out of the way of those who read lists that were touched before.
    #[cold]
    #[inline(never)]
    fn touch(&self, range: Range<usize>) -> bool {
        self.unverified.is_none_or(|(section, start)| {
            let range = start.saturating_add(range.start)..start.saturating_add(range.end);
            section.get(range).is_some()
        })
    }

    /// All bytes, of which some may not be verified yet: to be read where `get` gave them before, and asked for ahead.
    #[inline]
    pub(crate) fn unverified(&self) -> &'a [u8] {
        self.bytes
    }

    /// The damage of their file, where some was found.
    pub(crate) fn damage(&self) -> Option<IndexError> {
        let (section, _) = self.unverified?;
        section.file.ensure_trusted().err()
    }
}

impl<'a> From<&'a [u8]> for LazyBytes<'a> {
    /// Bytes that are verified, or need not be.
    fn from(bytes: &'a [u8]) -> LazyBytes<'a> {
        LazyBytes {
            bytes,
            unverified: None,
        }
    }
}

/// Opens a file, verifies every checksum, and returns its payload.
/// `seal` is the manifest's; the manifest itself has none.
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

/// Opens a file of which an index reads as much as it needs: footer and header are verified now, every other block at its
/// first touch.
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
    let region = storage.open(name)?;
    let path = storage.location().join(name);
    // Of a large file, a header and a footer are a few pages; what stands around them is not needed now.
    match region.len() > READ_AHEAD_BYTES {
        true => region
            .clone()
            .without_read_ahead(|| open_region(region, path, kind, expected)),
        false => open_region(region, path, kind, expected),
    }
}

/// Files up to this size may be read ahead whole when they are opened.
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
    prefetch_footer(&region);
    let (payload_end, checksum) = verify_footer(bytes).map_err(damaged)?;
    if let Some((_, seal)) = expected
        && seal.checksum != checksum
    {
        let what = "the footer's checksum is not the manifest's: a file of another generation?";
        return Err(damaged((payload_end, what.into())));
    }
    verify_block(bytes, payload_end, 0).map_err(damaged)?;
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
    let file = LiveFile::new(path, region, seal, payload_end);
    Ok((Section::of_payload(file), identity))
}

/// Asks for the checksums of a file's blocks, in one piece. How many they are is believed for that alone.
fn prefetch_footer(region: &Region) {
    let tail_at = region.len() - TAIL_BYTES;
    let blocks = read_u32(region, tail_at + 8) as usize;
    region.prefetch(tail_at.saturating_sub(blocks * 4)..region.len());
}
