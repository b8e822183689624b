//! Decoding of postings block by block, for searches that read in bulk and for cursors.
//!
//! Loading a block decodes only its documents. Frequencies are decoded on request, for a whole block or single
//! postings. A block of bits is not decoded until its documents are requested as numbers.

use super::buffers::Room;
use super::decode_stats::Watch;
use super::list::{ListBytes, Origin};
use super::{BLOCK, Bounds, HEADER_BYTES, PostingsCodec, TAIL_MIN, bounds};
use crate::sealed::read_u32;
use crate::{DocId, IndexError};
use codec::docs::Bits;
use codec::limits::{self, LengthBytes};
use codec::sorted::{self, Pairs};
use codec::{CodecError, elias_fano, lanes, memory, packed, tail};

/// Postings of a term as blocks of 256 and a tail, which is the last block.
///
/// Damage found while decoding makes a block empty; readers must check [`Blocks::take_error`].
#[derive(Debug)]
pub struct Blocks<'a> {
    pub(super) bytes: ListBytes<'a>,
    pub(super) origin: Origin<'a>,
    pub(super) blocks_full: usize,
    /// Number of the loaded block; `NO_BLOCK` before the first load.
    pub(super) block: usize,
    /// Documents in the loaded block.
    pub(super) fill: usize,
    /// Loaded block, where it is a block of bits.
    bits: Option<Bits<'a>>,
    docs_ready: bool,
    /// Start of the loaded block's packed frequencies; `None` where they were decoded with the documents.
    pub(super) frequencies_start: Option<usize>,
    /// Number of the block whose frequencies are in the buffers.
    pub(super) frequencies_block: usize,
    pub(super) room: Room,
    /// Number of the block whose positions are in the buffers, and its positions.
    pub(super) position_block: usize,
    pub(super) position_fill: usize,
    error: Option<IndexError>,
    pub(super) watch: Watch,
}

pub(super) const NO_BLOCK: usize = usize::MAX;

impl<'a> Blocks<'a> {
    #[inline]
    pub(crate) fn new(bytes: ListBytes<'a>, origin: Origin<'a>) -> Blocks<'a> {
        Blocks {
            bytes,
            origin,
            blocks_full: bytes.documents_count as usize / BLOCK,
            block: NO_BLOCK,
            fill: 0,
            bits: None,
            docs_ready: true,
            frequencies_start: None,
            frequencies_block: NO_BLOCK,
            room: Room::take(),
            position_block: NO_BLOCK,
            position_fill: 0,
            error: None,
            watch: Watch::new(&bytes),
        }
    }

    /// Returns the number of documents in the list.
    pub fn documents_count(&self) -> u32 {
        self.bytes.documents_count
    }

    /// Returns the number of blocks, at least 1. It includes the tail, which may be empty.
    pub fn blocks_count(&self) -> usize {
        self.blocks_full + 1
    }

    /// Returns the last document of a block; `DocId::END` for the tail, whose last document is unknown before decoding.
    #[inline]
    pub fn last_doc(&self, block: usize) -> DocId {
        if block < self.blocks_full {
            DocId(self.header(block, 0))
        } else {
            DocId::END
        }
    }

    /// Returns the document before those of a block; `u32::MAX` before the first.
    #[inline]
    pub(super) fn base(&self, block: usize) -> u32 {
        match block {
            0 => u32::MAX,
            _ => self.header(block - 1, 0),
        }
    }

    /// Returns the start of the bytes of a block or the tail.
    #[inline]
    pub(super) fn start(&self, block: usize) -> usize {
        let before = match block {
            0 => 0,
            _ => self.header(block - 1, 1) as usize,
        };
        bounds::headers_bytes(self.blocks_full) + before
    }

    /// Returns the first block from `from` on that may hold `target`; at most the tail.
    #[inline]
    pub fn find(&self, from: usize, target: DocId) -> usize {
        let target = target.0;
        // Galloping, then binary search: most steps are short, few are long.
        let (mut low, mut step) = (from, 1);
        if low >= self.blocks_full || self.header(low, 0) >= target {
            return low.min(self.blocks_full);
        }
        low += 1;
        while low + step < self.blocks_full && self.header(low + step, 0) < target {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(self.blocks_full);
        while low < high {
            let middle = (low + high) / 2;
            if self.header(middle, 0) < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the number of the loaded block.
    #[inline]
    pub fn block(&self) -> usize {
        self.block
    }

    /// Returns the number of documents in the loaded block.
    #[inline]
    pub fn fill(&self) -> usize {
        self.fill
    }

    /// Returns the bounds of the list's scores, block by block.
    pub fn bounds(&self) -> Bounds<'a> {
        Bounds::new(self.bytes.postings, self.bytes.documents_count as usize)
    }

    /// Loads `block`; returns the number of its documents: 0 past the tail, and where it is damaged.
    #[inline]
    pub fn load(&mut self, block: usize) -> usize {
        if block != self.block || self.frequencies_gone() {
            self.load_other(block);
        }
        self.fill
    }

    /// Returns whether frequencies that were decoded with the loaded block's documents were overwritten since.
    #[inline]
    fn frequencies_gone(&self) -> bool {
        self.frequencies_start.is_none() && self.frequencies_block != self.block
    }

    #[inline(never)]
    pub(super) fn load_other(&mut self, block: usize) {
        self.block = block;
        self.bits = None;
        let loaded = match block.cmp(&self.blocks_full) {
            std::cmp::Ordering::Less => self.load_full_block(block),
            std::cmp::Ordering::Equal => self.load_tail(),
            std::cmp::Ordering::Greater => {
                self.frequencies_block = block;
                self.frequencies_start = None;
                Ok(0)
            }
        };
        let with_frequencies = self.frequencies_start.is_none();
        self.watch
            .loaded(block, self.bits.is_some(), with_frequencies);
        match loaded {
            Ok(fill) => self.fill = fill,
            Err(error) => self.fail(self.origin.postings_offset, error),
        }
        if self.fill < BLOCK {
            self.room.docs[self.fill..].fill(u32::MAX);
            self.docs_ready = true;
        }
    }

    fn load_full_block(&mut self, block: usize) -> Result<usize, CodecError> {
        let base = self.base(block);
        let (start, end) = (self.start(block), self.start(block + 1));
        let postings = self.bytes.postings;
        let bytes = postings.get(start..end).ok_or(truncated(block))?;
        self.docs_ready = true;
        match self.bytes.codec {
            PostingsCodec::Packed => {
                let taken = match Bits::read(bytes, base)? {
                    Some(bits) => {
                        self.bits = Some(bits);
                        self.docs_ready = false;
                        bits.bytes_taken()
                    }
                    None => {
                        let docs = self.room.docs.first_chunk_mut().ok_or(truncated(block))?;
                        packed::decode_gaps(bytes, base, docs)?
                    }
                };
                self.frequencies_start = Some(start + taken);
            }
            PostingsCodec::Vint => {
                let mut at = 0;
                self.read_postings(bytes, &mut at, base, BLOCK)?;
                self.frequencies_start = None;
                self.frequencies_block = block;
            }
        }
        let last = self.header(block, 0);
        match self.bits {
            None => self.check_docs(BLOCK, Some(last))?,
            // Bits after the last document would be documents unknown to every other part of the list.
            Some(bits) => {
                let past = bits.first() as usize + bits.words_count() * 64;
                if last >= self.bytes.docs_limit || past != last as usize / 64 * 64 + 64 {
                    return Err(outside(last, self.bytes.docs_limit));
                }
            }
        }
        Ok(BLOCK)
    }

    fn load_tail(&mut self) -> Result<usize, CodecError> {
        let full = self.blocks_full;
        let count = self.bytes.documents_count as usize % BLOCK;
        let mut at = self.start(full);
        let base = self.base(full);
        let postings = self.bytes.postings;
        if self.bytes.codec == PostingsCodec::Packed && count >= TAIL_MIN {
            let bytes = postings.get(at..).ok_or(truncated(full))?;
            let docs = &mut self.room.docs[..count];
            at += elias_fano::decode(bytes, base.wrapping_add(1), docs)?;
            self.frequencies_start = Some(at);
        } else {
            self.read_postings(postings, &mut at, base, count)?;
            self.frequencies_start = None;
            self.frequencies_block = full;
        }
        self.docs_ready = true;
        self.check_docs(count, None)?;
        Ok(count)
    }

    fn read_postings(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        base: u32,
        count: usize,
    ) -> Result<(), CodecError> {
        let room = &mut *self.room;
        let (docs, frequencies) = (&mut room.docs[..count], &mut room.frequencies[..count]);
        tail::decode(bytes, at, base, docs, frequencies)
    }

    /// Checks that every document lies in the segment, because lengths are looked up by document, and that the last one
    /// is `last`.
    fn check_docs(&self, count: usize, last: Option<u32>) -> Result<(), CodecError> {
        let limit = self.bytes.docs_limit;
        let docs = &self.room.docs[..count];
        let max = lanes::max(docs);
        if (count > 0 && max >= limit) || last.is_some_and(|last| docs.last() != Some(&last)) {
            return Err(outside(max, limit));
        }
        Ok(())
    }

    /// Prefetches the first cache lines of a full block's documents.
    #[inline]
    pub fn prefetch(&self, block: usize) {
        if block == 0 || block >= self.blocks_full {
            return;
        }
        let start = self.start(block);
        for line in 0..3 {
            memory::prefetch(self.bytes.postings, start + line * 64);
        }
    }

    /// Returns the loaded block where it is a block of bits, without decoding it.
    #[inline]
    pub fn bits(&self) -> Option<Bits<'a>> {
        self.bits
    }

    /// Returns the documents of the loaded block.
    #[inline]
    pub fn docs(&mut self) -> &[u32] {
        self.spread();
        &self.room.docs[..self.fill]
    }

    /// Returns the documents of the loaded block, padded with `u32::MAX`.
    #[inline]
    pub fn docs_padded(&mut self) -> &[u32; BLOCK] {
        self.spread();
        self.room.docs.first_chunk().expect("a block fits")
    }

    /// Copies the bytes of the loaded block's documents from `bytes`, which has one byte for each document of the
    /// segment.
    #[inline]
    pub fn pick(&mut self, bytes: &[u8], picked: &mut LengthBytes) {
        match self.bits {
            Some(bits) if !self.docs_ready && bits.pick(bytes, picked) => {}
            _ => limits::pick(bytes, self.docs(), picked),
        }
    }

    /// Writes the documents at `indexes` of the loaded block, which increase, into `docs`.
    #[inline]
    pub fn docs_at(&mut self, indexes: &[u8], docs: &mut [u32]) {
        /// Single documents up to which selecting them costs less than decoding the block.
        const SINGLE_MAX: usize = 16;
        match self.bits {
            Some(bits) if !self.docs_ready && indexes.len() <= SINGLE_MAX => {
                bits.docs_at(indexes, docs)
            }
            _ => {
                let all = self.docs_padded();
                for (doc, &index) in docs.iter_mut().zip(indexes) {
                    *doc = all[usize::from(index)];
                }
            }
        }
    }

    #[inline]
    fn spread(&mut self) {
        if !self.docs_ready {
            self.spread_bits();
        }
    }

    #[inline(never)]
    fn spread_bits(&mut self) {
        self.docs_ready = true;
        self.watch.spread(self.block);
        let (Some(bits), Some(docs)) = (self.bits, self.room.docs.first_chunk_mut()) else {
            return;
        };
        if let Err(error) = bits.spread(docs).and_then(|()| {
            let last = self.header(self.block, 0);
            self.check_docs(BLOCK, Some(last))
        }) {
            self.fail(self.origin.postings_offset, error);
        }
    }

    /// Intersects `wanted` (at most 256, increasing) with the loaded block. Writes the pairs of their indexes in
    /// `wanted` and in the block, and returns their number.
    #[inline]
    pub fn intersect(&mut self, wanted: &[u32], pairs: &mut Pairs) -> usize {
        match self.bits {
            Some(bits) => bits.intersect(wanted, pairs),
            None => sorted::intersect(wanted, self.docs_padded(), pairs),
        }
    }

    /// Returns the documents and frequencies of the loaded block.
    #[inline]
    pub fn postings(&mut self) -> (&[u32], &[u32]) {
        self.spread();
        self.frequencies();
        let fill = self.fill;
        (&self.room.docs[..fill], &self.room.frequencies[..fill])
    }

    /// Returns and clears the first damage found while decoding. A damaged block is empty, so every reader must call
    /// this.
    pub fn take_error(&mut self) -> Option<IndexError> {
        self.error.take()
    }

    #[inline]
    pub(super) fn header(&self, block: usize, field: usize) -> u32 {
        read_u32(self.bytes.postings, block * HEADER_BYTES + field * 4)
    }

    /// Records the first damage, and empties the loaded block.
    #[cold]
    pub(super) fn fail(&mut self, offset: u64, error: CodecError) {
        self.fill = 0;
        self.room.frequencies.fill(1);
        self.bits = None;
        self.docs_ready = true;
        self.room.docs.fill(u32::MAX);
        let positions = &self.bytes.positions;
        self.error.get_or_insert_with(|| {
            positions.damage().unwrap_or_else(|| IndexError::Damaged {
                path: self.origin.path.to_owned(),
                offset,
                what: format!("postings from here: {error}"),
            })
        });
    }
}

#[cold]
fn truncated(block: usize) -> CodecError {
    CodecError::Truncated {
        at: block * HEADER_BYTES,
        what: "postings block",
    }
}

#[cold]
fn outside(doc: u32, limit: u32) -> CodecError {
    CodecError::TooLarge {
        at: 0,
        what: "document",
        found: doc.into(),
        max: limit.into(),
    }
}
