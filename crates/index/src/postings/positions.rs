//! The positions of a posting, found by the occurrences before it.

use super::blocks::NO_BLOCK;
use super::{BLOCK, Blocks, Place, PostingsCodec};
use crate::sealed::read_u32;
use codec::{CodecError, memory, packed, vint};

/// Positions so few are read from a packed block without decoding all of it.
const SOME_MAX: usize = 96;

/// Which occurrences of a list are those in one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Occurrences of the list before.
    from: u32,
    /// How many.
    pub count: u32,
}

impl Blocks<'_> {
    /// The spans of postings found before, by increasing document.
    pub fn spans(&mut self, places: &[Place], spans: &mut [Span]) {
        let mut before = (u32::MAX, 0, 0);
        for (&place, span) in places.iter().zip(spans) {
            let index = self.frequencies_of(place);
            let (block, summed, mut from) = before;
            from = if block == place.block() && summed <= index {
                // Only what lies between two postings of one block is summed.
                let between = &self.room.frequencies[summed..index];
                between
                    .iter()
                    .fold(from, |sum: u32, &count| sum.wrapping_add(count))
            } else {
                self.occurrences_before(index) as u32
            };
            let count = self.room.frequencies[index];
            *span = Span { from, count };
            before = (place.block(), index, from);
        }
    }

    /// Asks for the positions of a span, which will be wanted soon.
    pub fn prefetch_positions(&self, span: Span) {
        let (block, start) = (span.from as usize / BLOCK, span.from as usize % BLOCK);
        let full = self.position_blocks_full();
        let end_of = |block: usize| read_u32(self.bytes.positions, block * 4) as usize;
        let before = block.checked_sub(1).map_or(0, end_of);
        let at = full * 4 + before;
        memory::prefetch(self.bytes.positions, at);
        if block < full {
            // About there in the block: rows of all values are as long.
            let bytes = end_of(block).saturating_sub(before);
            let about = at + bytes * start / BLOCK;
            memory::prefetch(self.bytes.positions, about);
            memory::prefetch(self.bytes.positions, about + 64);
            memory::prefetch(self.bytes.positions, at + bytes.saturating_sub(32));
        }
    }

    /// The positions of a span, increasing, into `positions` (cleared first).
    pub fn positions_of(&mut self, span: Span, positions: &mut Vec<u32>) {
        positions.clear();
        if !self.bytes.positions.is_empty() {
            self.gaps_at(span.from as usize, span.count as usize, positions);
            sum_up(positions);
        }
    }

    /// The positions of the posting at `index` of the loaded block, each as the gap from the one before
    /// (the first from 0), into `gaps` (cleared first).
    pub fn position_gaps(&mut self, index: usize, gaps: &mut Vec<u32>) {
        gaps.clear();
        self.frequencies();
        // Damage found just now leaves nothing.
        if index < self.fill() {
            self.gaps_of(index, gaps);
        }
    }

    /// As [`Blocks::position_gaps`], of a posting found before.
    pub fn position_gaps_at(&mut self, place: Place, gaps: &mut Vec<u32>) {
        gaps.clear();
        let index = self.frequencies_of(place);
        self.gaps_of(index, gaps);
    }

    /// The gaps of the posting at `index` of the block whose frequencies are decoded.
    fn gaps_of(&mut self, index: usize, gaps: &mut Vec<u32>) {
        if self.bytes.positions.is_empty() {
            return;
        }
        let frequency = self.room.frequencies[index];
        let before = self.occurrences_before(index);
        self.gaps_at(before as usize, frequency as usize, gaps);
    }

    /// The word positions of the posting at `index` of the loaded block, increasing.
    pub fn positions(&mut self, index: usize, positions: &mut Vec<u32>) {
        self.position_gaps(index, positions);
        sum_up(positions);
    }

    /// As [`Blocks::positions`], of a posting found before.
    pub fn positions_at(&mut self, place: Place, positions: &mut Vec<u32>) {
        self.position_gaps_at(place, positions);
        sum_up(positions);
    }

    fn gaps_at(&mut self, mut from: usize, mut left: usize, gaps: &mut Vec<u32>) {
        while left > 0 {
            let (block, start) = (from / BLOCK, from % BLOCK);
            let taken = left.min(BLOCK - start);
            if self.position_block != block && taken <= SOME_MAX {
                match self.some_gaps(block, start, taken, gaps) {
                    Ok(true) => {
                        from += taken;
                        left -= taken;
                        continue;
                    }
                    Ok(false) => {}
                    Err(error) => return self.fail_positions(error),
                }
            }
            if let Err(error) = self.load_positions(block) {
                return self.fail_positions(error);
            }
            let taken = left.min(self.position_fill.saturating_sub(start));
            if taken == 0 {
                return self.fail_positions(truncated(0));
            }
            gaps.extend_from_slice(&self.room.position_gaps[start..start + taken]);
            from += taken;
            left -= taken;
        }
    }

    /// Reads a few gaps of a packed block; `false` where the block is of another form.
    fn some_gaps(
        &self,
        block: usize,
        start: usize,
        count: usize,
        gaps: &mut Vec<u32>,
    ) -> Result<bool, CodecError> {
        if block >= self.position_blocks_full() || self.bytes.codec != PostingsCodec::Packed {
            return Ok(false);
        }
        let at = gaps.len();
        gaps.resize(at + count, 0);
        packed::decode_some(self.position_bytes(block)?, start, &mut gaps[at..])?;
        Ok(true)
    }

    fn position_blocks_full(&self) -> usize {
        (self.bytes.occurrences_count / BLOCK as u64) as usize
    }

    /// The bytes from a block of positions on.
    fn position_bytes(&self, block: usize) -> Result<&[u8], CodecError> {
        let end_of = |block: usize| read_u32(self.bytes.positions, block * 4) as usize;
        let before = block.checked_sub(1).map_or(0, end_of);
        let start = self.position_blocks_full() * 4 + before;
        self.bytes.positions.get(start..).ok_or(truncated(start))
    }

    fn load_positions(&mut self, block: usize) -> Result<(), CodecError> {
        if self.position_block == block {
            return Ok(());
        }
        self.position_block = NO_BLOCK;
        self.position_fill = self.decode_positions(block)?;
        self.position_block = block;
        Ok(())
    }

    fn decode_positions(&mut self, block: usize) -> Result<usize, CodecError> {
        let full = self.position_blocks_full();
        if block > full {
            return Err(truncated(block));
        }
        let mut decoded = [0; BLOCK];
        let bytes = self.position_bytes(block)?;
        let count = if block < full {
            BLOCK
        } else {
            (self.bytes.occurrences_count % BLOCK as u64) as usize
        };
        if block < full && self.bytes.codec == PostingsCodec::Packed {
            packed::decode(bytes, &mut decoded)?;
        } else {
            let mut at = 0;
            for gap in &mut decoded[..count] {
                *gap = vint::read_u32(bytes, &mut at)?;
            }
        }
        self.room.position_gaps = decoded;
        Ok(count)
    }

    #[cold]
    fn fail_positions(&mut self, error: CodecError) {
        self.fail(self.origin.positions_offset, error);
    }
}

fn sum_up(gaps: &mut [u32]) {
    let mut position = 0u32;
    for gap in gaps {
        position = position.wrapping_add(*gap);
        *gap = position;
    }
}

#[cold]
fn truncated(at: usize) -> CodecError {
    CodecError::Truncated {
        at,
        what: "positions",
    }
}
