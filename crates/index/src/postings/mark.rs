//! Conversion of a list to a bit set: its blocks of bits as they are, the others document by document.

use super::{Blocks, HEADER_BYTES, PostingsCodec, bounds};
use crate::sealed::read_u32;
use codec::docs::Bits;
use codec::{bits, memory};

impl Blocks<'_> {
    /// Sets the bits of the list's documents in `words`, whose first bit is the document `base`, a multiple of 64.
    /// Starts with `block`.
    pub fn mark(&mut self, block: usize, base: u32, words: &mut [u64]) {
        let end = base.saturating_add(words.len() as u32 * 64);
        let (mut before, mut start) = (self.base(block), self.start(block));
        let bytes = self.bytes.postings;
        let headers = bytes.get(..self.blocks_full * HEADER_BYTES);
        let headers = headers.unwrap_or_default().as_chunks::<HEADER_BYTES>().0;
        let starts = bounds::headers_bytes(self.blocks_full);
        for block in block..self.blocks_count() {
            if before.wrapping_add(1) >= end {
                break;
            }
            // Frequencies lie between the documents of blocks, so the hardware prefetcher does not find the next
            // documents.
            if let Some(header) = headers.get(block + 1) {
                let ahead = starts + read_u32(header, 4) as usize;
                memory::prefetch(bytes, ahead);
                memory::prefetch(bytes, ahead + 64);
            }
            let next = match headers.get(block) {
                Some(header) => (read_u32(header, 0), starts + read_u32(header, 4) as usize),
                None => (u32::MAX, usize::MAX),
            };
            if self.mark_bits(block, start, before, words, base) {
                self.watch.bits(block);
            } else {
                self.load(block);
                bits::set_sorted(words, base, self.docs());
            }
            (before, start) = next;
        }
        self.room.chain.join_into(words, base);
    }

    /// Adds a full block of bits to the chain of those before it; a chain that is full is joined into `words` first.
    /// Returns `false` for a block of another form.
    #[inline]
    fn mark_bits(
        &mut self,
        block: usize,
        start: usize,
        before: u32,
        words: &mut [u64],
        base: u32,
    ) -> bool {
        if block >= self.blocks_full || self.bytes.codec != PostingsCodec::Packed {
            return false;
        }
        let bytes = self.bytes.postings.get(start..).unwrap_or_default();
        let chain = &mut self.room.chain;
        if chain.push(bytes, before) {
            return true;
        }
        let Ok(Some(bits)) = Bits::read(bytes, before) else {
            return false;
        };
        chain.join_into(words, base);
        if !chain.push(bytes, before) {
            bits.join_into(words, base);
        }
        true
    }
}
