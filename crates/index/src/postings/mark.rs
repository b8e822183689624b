//! A list as a set of bits: its blocks of bits as they are, the others document by document.

use super::{Blocks, HEADER_BYTES, PostingsCodec, bounds};
use crate::sealed::read_u32;
use codec::docs::Bits;
use codec::{bits, memory};

impl Blocks<'_> {
    /// Adds to `words`, whose first bit stands for `base` (a multiple of 64), the documents of the list from
    /// `base` on that fall into them, those of the blocks from `block` on.
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
            // Frequencies lie between the blocks' documents, so the processor does not guess where to read.
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
                let docs = self.docs();
                let from = match docs.first() {
                    Some(&first) if first < base => docs.partition_point(|&doc| doc < base),
                    _ => 0,
                };
                bits::set(words, base, &docs[from..]);
            }
            (before, start) = next;
        }
        self.room.chain.join_into(words, base);
    }

    /// Joins a full block of bits with those before it, and these with `words` where they are many; `false` where it
    /// has another form.
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
