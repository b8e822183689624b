//! Positions of postings, located by the occurrences before them.

use super::blocks::NO_BLOCK;
use super::{BLOCK, Blocks, Place, PostingsCodec, TAIL_MIN};
use crate::sealed::read_u32;
use codec::rice::follow::{self, Stretch, Word};
use codec::{CodecError, memory, packed, rice, vint};

/// Occurrences of a list that belong to one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Occurrences of the list before the document.
    from: u32,
    /// Occurrences in the document.
    pub count: u32,
}

impl Blocks<'_> {
    /// Writes the spans of postings found before, by increasing document.
    pub fn spans(&mut self, places: &[Place], spans: &mut [Span]) {
        let mut at = 0;
        while let Some(first) = places.get(at) {
            let rest = &places[at..];
            let count = rest
                .iter()
                .take_while(|place| place.block() == first.block());
            let end = at + count.count();
            self.spans_in(&places[at..end], &mut spans[at..end]);
            at = end;
        }
    }

    /// Returns the span of a posting found before.
    fn span(&mut self, place: Place) -> Span {
        let index = self.frequencies_of(place);
        Span {
            from: self.occurrences_before(index) as u32,
            count: self.room.frequencies[index],
        }
    }

    /// Writes the spans of postings of one block.
    fn spans_in(&mut self, places: &[Place], spans: &mut [Span]) {
        /// Lowest number of postings for which all sums of a block are computed at once.
        const TOGETHER_MIN: usize = 6;
        let mut ends = None;
        for (&place, span) in places.iter().zip(spans) {
            if places.len() < TOGETHER_MIN {
                *span = self.span(place);
                continue;
            }
            let index = self.frequencies_of(place);
            let count = self.room.frequencies[index];
            let ends = ends.get_or_insert_with(|| {
                let mut ends = self.room.frequencies;
                packed::prefix_sum(&mut ends, self.occurrences_before(0) as u32);
                ends
            });
            let from = ends[index].wrapping_sub(count);
            *span = Span { from, count };
        }
    }

    /// Returns the place of the positions of a span, in the form that vector code reads.
    #[inline]
    fn stretch(&self, span: Span) -> Stretch {
        let (block, from) = (span.from as usize / BLOCK, span.from as usize % BLOCK);
        let count = self.positions_in(block);
        // Most spans lie in one block.
        if self.bytes.codec != PostingsCodec::Packed
            || count < TAIL_MIN
            || from + span.count as usize > count
        {
            return Stretch::default();
        }
        if self.bytes.positions.is_lazy() && !self.touch_positions(block) {
            // Damage: reading the positions one by one reports it.
            return Stretch::default();
        }
        let bytes = self.bytes.positions.unverified();
        let (start, end) = self.position_block_in(block, |at| read_u32(bytes, at));
        Stretch {
            start: start as u32,
            // A range that does not fit becomes empty.
            end: u32::try_from(end).unwrap_or(0),
            count: count as u32,
            from: from as u32,
            wanted: span.count,
        }
    }

    /// Prefetches the positions of a span.
    #[inline]
    pub fn prefetch_positions(&self, span: Span) {
        let (block, start) = (span.from as usize / BLOCK, span.from as usize % BLOCK);
        let bytes = self.bytes.positions.unverified();
        let (at, end) = self.position_block_in(block, |at| read_u32(bytes, at));
        // High parts are counted from the first on; together they take one cache line or two.
        memory::prefetch(bytes, at);
        memory::prefetch(bytes, at + 64);
        let lows = rice::lows_at_about(end.saturating_sub(at), BLOCK, start);
        memory::prefetch(bytes, at + lows);
    }

    /// Writes the positions of a span, increasing, into `positions` (cleared first).
    pub fn positions_of(&mut self, span: Span, positions: &mut Vec<u32>) {
        let (from, count) = (span.from as usize, span.count as usize);
        let (block, start) = (from / BLOCK, from % BLOCK);
        // Most spans lie in one block.
        if start + count <= BLOCK
            && let Ok(Some((bytes, block_count))) = self.packed_positions(block)
            && start + count <= block_count
        {
            positions.resize(count, 0);
            if let Err(error) = rice::decode_sums(bytes, block_count, start, 0, positions) {
                self.fail_positions(error);
            }
            return;
        }
        positions.clear();
        if self.bytes.positions.is_empty() {
            return;
        }
        if let Err(error) = self.sums_at(from, count, positions) {
            self.fail_positions(error);
        }
    }

    /// Writes the position gaps of the posting at `index` of the loaded block, the first from 0, into `gaps` (cleared
    /// first).
    pub fn position_gaps(&mut self, index: usize, gaps: &mut Vec<u32>) {
        gaps.clear();
        self.frequencies();
        // Empty after damage that was just found.
        if index < self.fill() {
            self.gaps_of(index, gaps);
        }
    }

    /// Writes the position gaps of a posting found before, as [`Blocks::position_gaps`] does.
    pub fn position_gaps_at(&mut self, place: Place, gaps: &mut Vec<u32>) {
        gaps.clear();
        let index = self.frequencies_of(place);
        self.gaps_of(index, gaps);
    }

    /// Writes the gaps of the posting at `index` of the block whose frequencies are decoded.
    fn gaps_of(&mut self, index: usize, gaps: &mut Vec<u32>) {
        if self.bytes.positions.is_empty() {
            return;
        }
        let frequency = self.room.frequencies[index];
        let before = self.occurrences_before(index);
        self.gaps_at(before as usize, frequency as usize, gaps);
    }

    /// Writes the word positions of the posting at `index` of the loaded block, increasing.
    pub fn positions(&mut self, index: usize, positions: &mut Vec<u32>) {
        self.position_gaps(index, positions);
        sum_up(positions, 0);
    }

    /// Writes the word positions of a posting found before, as [`Blocks::positions`] does.
    pub fn positions_at(&mut self, place: Place, positions: &mut Vec<u32>) {
        let span = self.span(place);
        self.positions_of(span, positions);
    }

    fn gaps_at(&mut self, from: usize, count: usize, gaps: &mut Vec<u32>) {
        if let Err(error) = self.read_gaps(from, count, gaps) {
            self.fail_positions(error);
        }
    }

    /// Writes the positions of a document from its first on, as sums of its gaps.
    fn sums_at(
        &mut self,
        mut from: usize,
        count: usize,
        sums: &mut Vec<u32>,
    ) -> Result<(), CodecError> {
        let mut base = 0;
        let mut left = count;
        while left > 0 {
            let (block, start) = (from / BLOCK, from % BLOCK);
            let Some((bytes, block_count)) = self.packed_positions(block)? else {
                let summed = sums.len();
                self.read_gaps(from, left, sums)?;
                sum_up(&mut sums[summed..], base);
                return Ok(());
            };
            let taken = left.min(block_count.saturating_sub(start));
            if taken == 0 {
                return Err(truncated(block));
            }
            let summed = sums.len();
            sums.resize(summed + taken, 0);
            rice::decode_sums(bytes, block_count, start, base, &mut sums[summed..])?;
            base = sums[summed + taken - 1];
            from += taken;
            left -= taken;
        }
        Ok(())
    }

    fn read_gaps(
        &mut self,
        mut from: usize,
        mut left: usize,
        gaps: &mut Vec<u32>,
    ) -> Result<(), CodecError> {
        while left > 0 {
            let (block, start) = (from / BLOCK, from % BLOCK);
            let taken = match self.packed_positions(block)? {
                Some((bytes, block_count)) => {
                    let taken = left.min(block_count.saturating_sub(start));
                    let at = gaps.len();
                    gaps.resize(at + taken, 0);
                    rice::decode(bytes, block_count, start, &mut gaps[at..])?;
                    taken
                }
                None => {
                    self.load_positions(block)?;
                    let taken = left.min(self.position_fill.saturating_sub(start));
                    gaps.extend_from_slice(&self.room.position_gaps[start..start + taken]);
                    taken
                }
            };
            if taken == 0 {
                return Err(truncated(block));
            }
            from += taken;
            left -= taken;
        }
        Ok(())
    }

    /// Decodes the position gaps of a whole block, for readers of all of them in order; returns their number, 0 after
    /// the last block and for a damaged one.
    pub(super) fn gap_block(&mut self, block: usize, gaps: &mut [u32; BLOCK]) -> usize {
        let read = match self.packed_positions(block) {
            Ok(Some((bytes, count))) => {
                rice::decode(bytes, count, 0, &mut gaps[..count]).map(|()| count)
            }
            Ok(None) => self.load_positions(block).map(|()| {
                *gaps = self.room.position_gaps;
                self.position_fill
            }),
            Err(error) => Err(error),
        };
        read.unwrap_or_else(|error| {
            self.fail_positions(error);
            0
        })
    }

    fn position_blocks_full(&self) -> usize {
        (self.bytes.occurrences_count / BLOCK as u64) as usize
    }

    /// Returns the number of positions of a block; 0 past the tail.
    fn positions_in(&self, block: usize) -> usize {
        match block.cmp(&self.position_blocks_full()) {
            std::cmp::Ordering::Less => BLOCK,
            std::cmp::Ordering::Equal => (self.bytes.occurrences_count % BLOCK as u64) as usize,
            std::cmp::Ordering::Greater => 0,
        }
    }

    /// Returns the start and end of the bytes of a block of positions; those of the tail end with the list.
    #[inline]
    fn position_block_at(&self, block: usize) -> (usize, usize) {
        self.position_block_in(block, |at| self.bytes.positions.read_u32(at))
    }

    /// Returns the same range, from the integers that `read` returns for an offset.
    #[inline]
    fn position_block_in(&self, block: usize, read: impl Fn(usize) -> u32) -> (usize, usize) {
        let full = self.position_blocks_full();
        let end_of = |block: usize| full * 4 + read(block * 4) as usize;
        let start = block.checked_sub(1).map_or(full * 4, end_of);
        let end = if block < full {
            end_of(block)
        } else {
            self.bytes.positions.len()
        };
        (start, end)
    }

    /// Returns whether a block of positions and the entries that locate it match their checksums.
    #[cold]
    fn touch_positions(&self, block: usize) -> bool {
        let positions = &self.bytes.positions;
        let full = self.position_blocks_full();
        let ends = block.saturating_sub(1) * 4..full.min(block + 1) * 4;
        if ends.start < ends.end && !positions.ensure(ends) {
            return false;
        }
        let (start, end) = self.position_block_at(block);
        start <= end && positions.ensure(start..end)
    }

    fn position_bytes(&self, block: usize) -> Result<&[u8], CodecError> {
        let (start, end) = self.position_block_at(block);
        self.bytes.positions.get(start..end).ok_or(truncated(start))
    }

    /// Returns a block of positions in high and low parts and their number; `None` for another form.
    #[inline]
    fn packed_positions(&self, block: usize) -> Result<Option<(&[u8], usize)>, CodecError> {
        let count = self.positions_in(block);
        if count < TAIL_MIN || self.bytes.codec != PostingsCodec::Packed {
            return Ok(None);
        }
        Ok(Some((self.position_bytes(block)?, count)))
    }

    /// Decodes a block of positions stored one after another.
    fn load_positions(&mut self, block: usize) -> Result<(), CodecError> {
        if self.position_block == block {
            return Ok(());
        }
        self.position_block = NO_BLOCK;
        let count = self.positions_in(block);
        let mut decoded = [0; BLOCK];
        let (bytes, mut at) = (self.position_bytes(block)?, 0);
        for gap in &mut decoded[..count] {
            *gap = vint::read_u32(bytes, &mut at)?;
        }
        self.room.position_gaps = decoded;
        self.position_fill = count;
        self.position_block = block;
        Ok(())
    }

    #[cold]
    fn fail_positions(&mut self, error: CodecError) {
        self.fail(self.origin.positions_offset, error);
    }
}

/// Counts positions of two words, for each of the matches at the indexes `matches`, given the spans of both words:
/// those of the first that have one of the second `distance` later. The count is `codec::rice::follow::UNKNOWN` where a
/// slower method is needed.
pub fn count_followed<'a>(
    first: (&Blocks<'a>, &[Span; BLOCK]),
    second: (&Blocks<'a>, &[Span; BLOCK]),
    distance: i32,
    matches: &[u8],
    counts: &mut [u32; BLOCK],
) {
    let matches = matches.chunks(follow::TOGETHER);
    for (matches, counts) in matches.zip(counts.chunks_mut(follow::TOGETHER)) {
        // Two arrays: one of twice the size is cleared by a string instruction, which starts slowly.
        let mut of_first = [Stretch::default(); follow::TOGETHER];
        let mut of_second = [Stretch::default(); follow::TOGETHER];
        for ((blocks, spans), stretches) in [(first, &mut of_first), (second, &mut of_second)] {
            for (stretch, &at) in stretches.iter_mut().zip(matches) {
                *stretch = blocks.stretch(spans[usize::from(at)]);
            }
        }
        let word = |(blocks, _): (&Blocks<'a>, _), stretches| Word {
            bytes: blocks.bytes.positions.unverified(),
            stretches,
        };
        follow::count_followed(
            word(first, &of_first[..matches.len()]),
            word(second, &of_second[..matches.len()]),
            distance,
            &mut counts[..matches.len()],
        );
    }
}

/// Replaces gaps by their running sums, starting from `base`.
fn sum_up(gaps: &mut [u32], base: u32) {
    let mut position = base;
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
