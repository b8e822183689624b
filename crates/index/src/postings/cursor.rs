//! Bytes to postings: a cursor that decodes a block at a time and skips by headers.

use super::{BLOCK, Bounds, HEADER_BYTES, PostingsCodec};
use crate::sealed::read_u32;
use crate::{DocId, IndexError};
use codec::{CodecError, packed, vint};
use std::path::Path;

/// Where a list's bytes came from, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) path: &'a Path,
    pub(crate) postings_offset: u64,
    pub(crate) positions_offset: u64,
}

/// A list's bytes and counts, as the dictionary gives them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListBytes<'a> {
    pub(crate) codec: PostingsCodec,
    pub(crate) documents_count: u32,
    pub(crate) occurrences_count: u64,
    /// Documents of the segment: every id must be below.
    pub(crate) docs_limit: u32,
    pub(crate) postings: &'a [u8],
    pub(crate) positions: &'a [u8],
}

/// A cursor over a term's postings, by increasing document. Starts on the first one.
///
/// Damage met while decoding ends the list early; whoever walked it asks [`Postings::take_error`].
#[derive(Debug)]
pub struct Postings<'a> {
    bytes: ListBytes<'a>,
    origin: Origin<'a>,
    blocks_full: usize,
    /// Index of the decoded block; `blocks_full` is the tail.
    block: usize,
    at: usize,
    fill: usize,
    buffers: Box<Buffers>,
    frequencies: Frequencies,
    error: Option<IndexError>,
}

#[derive(Debug)]
struct Buffers {
    docs: [u32; BLOCK + 1],
    frequencies: [u32; BLOCK],
    position_gaps: [u32; BLOCK],
    /// Which block of positions `position_gaps` holds.
    position_block: usize,
    position_fill: usize,
}

/// Whether the current block's frequencies are decoded, or where they start.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Frequencies {
    Ready,
    PackedAt(usize),
}

const NO_BLOCK: usize = usize::MAX;

impl<'a> Postings<'a> {
    pub(crate) fn new(bytes: ListBytes<'a>, origin: Origin<'a>) -> Postings<'a> {
        let mut postings = Postings {
            bytes,
            origin,
            blocks_full: bytes.documents_count as usize / BLOCK,
            block: 0,
            at: 0,
            fill: 0,
            buffers: Box::new(Buffers {
                docs: [u32::MAX; BLOCK + 1],
                frequencies: [1; BLOCK],
                position_gaps: [0; BLOCK],
                position_block: NO_BLOCK,
                position_fill: 0,
            }),
            frequencies: Frequencies::Ready,
            error: None,
        };
        postings.load_block(0);
        postings
    }

    /// The current document; `DocId::END` when exhausted.
    #[inline]
    pub fn doc(&self) -> DocId {
        DocId(self.buffers.docs[self.at])
    }

    /// Moves to the next document and returns it.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> DocId {
        if self.at + 1 < self.fill {
            self.at += 1;
        } else if self.at < self.fill {
            self.load_block(self.block + 1);
        }
        self.doc()
    }

    /// Moves to the first document at or after `target` (never backwards) and returns it.
    pub fn seek(&mut self, target: DocId) -> DocId {
        if self.doc() >= target {
            return self.doc();
        }
        if self.block < self.blocks_full && self.header(self.block, 0) < target.0 {
            self.load_block(self.find_block(target.0));
        }
        // Gallop, then halve: most seeks are short, few are long.
        let docs = &self.buffers.docs[..self.fill];
        let (mut low, mut step) = (self.at, 1);
        while low + step < docs.len() && docs[low + step] < target.0 {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(docs.len());
        self.at = low + docs[low..high].partition_point(|&doc| doc < target.0);
        if self.at >= self.fill {
            self.end();
        }
        self.doc()
    }

    /// Hands out the documents before `end` with their frequencies, a piece of a block at a time, and
    /// moves past them: for whoever takes a list in bulk.
    pub fn take_until(&mut self, end: DocId, mut each: impl FnMut(&[u32], &[u32])) {
        while self.doc() < end {
            if self.frequencies != Frequencies::Ready {
                self.load_frequencies();
            }
            let to = self.block_until(end);
            let buffers = &self.buffers;
            each(
                &buffers.docs[self.at..to],
                &buffers.frequencies[self.at..to],
            );
            self.pass(to);
        }
    }

    /// As [`Postings::take_until`], documents alone: no frequency is decoded.
    pub fn take_docs_until(&mut self, end: DocId, mut each: impl FnMut(&[u32])) {
        while self.doc() < end {
            let to = self.block_until(end);
            each(&self.buffers.docs[self.at..to]);
            self.pass(to);
        }
    }

    /// The index in the block of the first document at or after `end`.
    fn block_until(&self, end: DocId) -> usize {
        let docs = &self.buffers.docs[self.at..self.fill];
        match docs.last() {
            Some(&last) if last >= end.0 => self.at + docs.partition_point(|&doc| doc < end.0),
            _ => self.fill,
        }
    }

    /// Moves to index `to` of the block, or to the next block.
    fn pass(&mut self, to: usize) {
        if to < self.fill {
            self.at = to;
        } else {
            self.load_block(self.block + 1);
        }
    }

    /// How often the term stands in the current document.
    #[inline]
    pub fn frequency(&mut self) -> u32 {
        if self.frequencies != Frequencies::Ready {
            self.load_frequencies();
        }
        self.buffers.frequencies[self.at.min(BLOCK - 1)]
    }

    /// The word positions in the current document, increasing, into `positions` (cleared first).
    pub fn positions(&mut self, positions: &mut Vec<u32>) {
        self.position_gaps(positions);
        let mut position = 0u32;
        for gap in positions {
            position = position.wrapping_add(*gap);
            *gap = position;
        }
    }

    /// As [`Postings::positions`], each as the gap from the one before (the first from 0).
    pub(crate) fn position_gaps(&mut self, gaps: &mut Vec<u32>) {
        gaps.clear();
        if self.at >= self.fill || self.bytes.positions.is_empty() {
            return;
        }
        let mut left = self.frequency() as usize;
        let mut from = self.occurrences_before();
        while left > 0 {
            if !self.load_positions(from / BLOCK) {
                return;
            }
            let buffers = &self.buffers;
            let start = from % BLOCK;
            let taken = left.min(buffers.position_fill.saturating_sub(start));
            if taken == 0 {
                return self.fail_positions(CodecError::Truncated {
                    at: 0,
                    what: "positions",
                });
            }
            gaps.extend_from_slice(&buffers.position_gaps[start..start + taken]);
            from += taken;
            left -= taken;
        }
    }

    /// Documents in the list: what walking it costs, about.
    pub fn cost(&self) -> u32 {
        self.bytes.documents_count
    }

    /// Damage met while decoding. A damaged list ends early, so whoever walked it must ask.
    pub fn take_error(&mut self) -> Option<IndexError> {
        self.error.take()
    }

    /// What bounds the list's scores, block by block.
    pub fn bounds(&self) -> Bounds<'a> {
        Bounds::new(self.bytes.postings, self.bytes.documents_count as usize)
    }

    /// The documents of the current block from the current one on, and their frequencies.
    pub fn rest_of_block(&mut self) -> (&[u32], &[u32]) {
        if self.frequencies != Frequencies::Ready {
            self.load_frequencies();
        }
        let (buffers, at) = (&self.buffers, self.at.min(self.fill));
        (
            &buffers.docs[at..self.fill],
            &buffers.frequencies[at..self.fill],
        )
    }

    /// Bytes before the first block.
    fn headers_bytes(&self) -> usize {
        super::bounds::headers_bytes(self.blocks_full)
    }

    fn header(&self, block: usize, field: usize) -> u32 {
        read_u32(self.bytes.postings, block * HEADER_BYTES + field * 4)
    }

    /// The first block at or after the current one that may hold `target`.
    fn find_block(&self, target: u32) -> usize {
        let (mut low, mut step) = (self.block + 1, 1);
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

    /// Occurrences of the list before the current document.
    fn occurrences_before(&mut self) -> usize {
        let block = self.block;
        let before = if block < self.blocks_full {
            self.header(block, 2) as usize
        } else {
            let tail: u64 = self.buffers.frequencies[..self.fill]
                .iter()
                .map(|&f| u64::from(f))
                .sum();
            self.bytes.occurrences_count.saturating_sub(tail) as usize
        };
        let inside: u64 = self.buffers.frequencies[..self.at]
            .iter()
            .map(|&f| u64::from(f))
            .sum();
        before + inside as usize
    }

    fn end(&mut self) {
        self.at = 0;
        self.fill = 0;
        self.block = self.blocks_full;
        self.buffers.docs[0] = u32::MAX;
    }

    fn load_block(&mut self, block: usize) {
        self.block = block;
        self.at = 0;
        let loaded = if block < self.blocks_full {
            self.load_full_block(block)
        } else if block == self.blocks_full {
            self.load_tail()
        } else {
            Ok(0)
        };
        match loaded {
            Ok(0) => self.end(),
            Ok(fill) => self.fill = fill,
            Err(error) => self.fail(self.origin.postings_offset, error),
        }
    }

    fn load_full_block(&mut self, block: usize) -> Result<usize, CodecError> {
        let base = if block == 0 {
            u32::MAX
        } else {
            self.header(block - 1, 0)
        };
        let start = if block == 0 {
            0
        } else {
            self.header(block - 1, 1) as usize
        };
        let end = self.header(block, 1) as usize;
        let headers = self.headers_bytes();
        let blocks = self.bytes.postings.get(headers..).unwrap_or(&[]);
        let truncated = CodecError::Truncated {
            at: block * HEADER_BYTES,
            what: "postings block",
        };
        let bytes = blocks.get(start..end).ok_or(truncated)?;
        let buffers = &mut *self.buffers;
        match self.bytes.codec {
            PostingsCodec::Packed => {
                let docs: &mut [u32; BLOCK] = (&mut buffers.docs[..BLOCK])
                    .try_into()
                    .map_err(|_| truncated)?;
                let taken = packed::decode_gaps(bytes, base, docs)?;
                self.frequencies = Frequencies::PackedAt(headers + start + taken);
            }
            PostingsCodec::Vint => {
                let mut at = 0;
                read_postings(bytes, &mut at, base, BLOCK, buffers)?;
                self.frequencies = Frequencies::Ready;
            }
        }
        let last = self.header(block, 0);
        self.check_docs(BLOCK, Some(last))?;
        Ok(BLOCK)
    }

    fn load_tail(&mut self) -> Result<usize, CodecError> {
        let full = self.blocks_full;
        let count = self.bytes.documents_count as usize % BLOCK;
        let base = if full == 0 {
            u32::MAX
        } else {
            self.header(full - 1, 0)
        };
        let start = if full == 0 {
            0
        } else {
            self.header(full - 1, 1) as usize
        };
        let mut at = self.headers_bytes() + start;
        read_postings(self.bytes.postings, &mut at, base, count, &mut self.buffers)?;
        self.frequencies = Frequencies::Ready;
        self.check_docs(count, None)?;
        Ok(count)
    }

    /// No id may lie outside the segment: lengths are looked up by it without asking again.
    fn check_docs(&self, count: usize, last: Option<u32>) -> Result<(), CodecError> {
        let limit = self.bytes.docs_limit;
        let docs = &self.buffers.docs[..count];
        let outside = docs
            .iter()
            .fold(false, |outside, &doc| outside | (doc >= limit));
        let wrong_end = last.is_some_and(|last| docs.last() != Some(&last));
        if outside || wrong_end {
            let found = u64::from(docs.iter().copied().max().unwrap_or(0));
            return Err(CodecError::TooLarge {
                at: 0,
                what: "document",
                found,
                max: limit.into(),
            });
        }
        Ok(())
    }

    #[cold]
    fn load_frequencies(&mut self) {
        let Frequencies::PackedAt(at) = self.frequencies else {
            return;
        };
        self.frequencies = Frequencies::Ready;
        let bytes = self.bytes.postings.get(at..).unwrap_or(&[]);
        match packed::decode(bytes, &mut self.buffers.frequencies) {
            Ok(_) => self
                .buffers
                .frequencies
                .iter_mut()
                .for_each(|f| *f = f.wrapping_add(1)),
            Err(error) => self.fail(self.origin.postings_offset + at as u64, error),
        }
    }

    fn load_positions(&mut self, block: usize) -> bool {
        if self.buffers.position_block == block {
            return true;
        }
        match self.decode_positions(block) {
            Ok(fill) => {
                self.buffers.position_block = block;
                self.buffers.position_fill = fill;
                true
            }
            Err(error) => {
                self.fail_positions(error);
                false
            }
        }
    }

    fn decode_positions(&mut self, block: usize) -> Result<usize, CodecError> {
        let full = (self.bytes.occurrences_count / BLOCK as u64) as usize;
        let end_of = |block: usize| read_u32(self.bytes.positions, block * 4) as usize;
        let start = full * 4 + if block == 0 { 0 } else { end_of(block - 1) };
        let truncated = CodecError::Truncated {
            at: start,
            what: "positions",
        };
        let bytes = self.bytes.positions.get(start..).ok_or(truncated)?;
        let gaps = &mut self.buffers.position_gaps;
        if block > full {
            return Err(truncated);
        }
        if block < full && self.bytes.codec == PostingsCodec::Packed {
            packed::decode(bytes, gaps)?;
            return Ok(BLOCK);
        }
        let count = if block < full {
            BLOCK
        } else {
            (self.bytes.occurrences_count % BLOCK as u64) as usize
        };
        let mut at = 0;
        for gap in &mut gaps[..count] {
            *gap = vint::read_u32(bytes, &mut at)?;
        }
        Ok(count)
    }

    #[cold]
    fn fail_positions(&mut self, error: CodecError) {
        self.fail(self.origin.positions_offset, error);
    }

    #[cold]
    fn fail(&mut self, offset: u64, error: CodecError) {
        self.end();
        self.error.get_or_insert_with(|| IndexError::Damaged {
            path: self.origin.path.to_owned(),
            offset,
            what: format!("postings from here: {error}"),
        });
    }
}

fn read_postings(
    bytes: &[u8],
    at: &mut usize,
    base: u32,
    count: usize,
    buffers: &mut Buffers,
) -> Result<(), CodecError> {
    let mut doc = base;
    for i in 0..count {
        let gap = vint::read_u32(bytes, at)?;
        doc = doc.wrapping_add(gap >> 1);
        buffers.docs[i] = doc;
        buffers.frequencies[i] = if gap & 1 == 1 {
            1
        } else {
            vint::read_u32(bytes, at)?
        };
    }
    Ok(())
}
