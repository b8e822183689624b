//! Arena of many byte streams that grow side by side.
//!
//! A run under construction has hundreds of thousands of streams, most of a few bytes, a few of megabytes. Each stream
//! is a chain of slices whose sizes double from 16 bytes to 4 KiB; the last four bytes of a full slice hold the address
//! of the next. Memory is allocated in pages of 1 MiB, so growth copies nothing. (The layout is that of Lucene's
//! `ByteBlockPool`, with larger steps.)

use crate::sealed::read_u32;

const PAGE_BITS: u32 = 20;
const PAGE_BYTES: usize = 1 << PAGE_BITS;
const LINK_BYTES: usize = 4;
const LEVEL_MAX: u8 = 8;

fn slice_bytes(level: u8) -> usize {
    16 << level
}

/// Stream: its start, its next byte, and the rest of its current slice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    head: u32,
    at: u32,
    left: u16,
    level: u8,
}

/// Memory of all streams of one run under construction.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pages: Vec<Box<[u8]>>,
    /// First free byte of the last page.
    free: usize,
}

impl Arena {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pages.len() * PAGE_BYTES
    }

    /// Returns whether another document might exceed the address space, so that the run must be flushed.
    pub(crate) fn is_full(&self) -> bool {
        self.pages.len() >= 1 << (31 - PAGE_BITS)
    }

    fn allocate(&mut self, bytes: usize) -> u32 {
        if self.pages.is_empty() || self.free + bytes > PAGE_BYTES {
            self.pages.push(vec![0; PAGE_BYTES].into_boxed_slice());
            self.free = 0;
        }
        let address = ((self.pages.len() - 1) << PAGE_BITS) + self.free;
        self.free += bytes;
        address as u32
    }

    pub(crate) fn start(&mut self) -> Stream {
        let head = self.allocate(slice_bytes(0));
        Stream {
            head,
            at: head,
            left: (slice_bytes(0) - LINK_BYTES) as u16,
            level: 0,
        }
    }

    /// Appends the low `bytes` bytes of `word`, 1 to 4.
    #[inline]
    pub(crate) fn push(&mut self, stream: &mut Stream, word: u32, bytes: u32) {
        if bytes > u32::from(stream.left) {
            return self.push_over(stream, word, bytes);
        }
        // All four bytes are written, and the next push overwrites the surplus. They lie within the slice, because its
        // link after the data is not written yet.
        self.put(stream.at, word.to_le_bytes());
        stream.at += bytes;
        stream.left -= bytes as u16;
    }

    /// Does the same as `push` where the slice ends before the word.
    #[cold]
    #[inline(never)]
    fn push_over(&mut self, stream: &mut Stream, word: u32, bytes: u32) {
        for byte in &word.to_le_bytes()[..bytes as usize] {
            if stream.left == 0 {
                let level = (stream.level + 1).min(LEVEL_MAX);
                let next = self.allocate(slice_bytes(level));
                self.put(stream.at, next.to_le_bytes());
                stream.at = next;
                stream.left = (slice_bytes(level) - LINK_BYTES) as u16;
                stream.level = level;
            }
            let page = &mut self.pages[(stream.at >> PAGE_BITS) as usize];
            page[stream.at as usize & (PAGE_BYTES - 1)] = *byte;
            stream.at += 1;
            stream.left -= 1;
        }
    }

    #[inline]
    fn put(&mut self, address: u32, four: [u8; 4]) {
        let page = &mut self.pages[(address >> PAGE_BITS) as usize];
        let from = address as usize & (PAGE_BYTES - 1);
        page[from..from + 4].copy_from_slice(&four);
    }

    /// Appends the stream's bytes to `out`.
    pub(crate) fn read(&self, stream: &Stream, out: &mut Vec<u8>) {
        self.each_slice(stream, |slice| out.extend_from_slice(slice));
    }

    /// Returns the length of a stream in bytes.
    pub(crate) fn bytes(&self, stream: &Stream) -> usize {
        let mut bytes = 0;
        self.each_slice(stream, |slice| bytes += slice.len());
        bytes
    }

    fn each_slice(&self, stream: &Stream, mut each: impl FnMut(&[u8])) {
        let end_of_last = stream.at as usize + usize::from(stream.left);
        let (mut level, mut at) = (0, stream.head as usize);
        loop {
            let page = &self.pages[at >> PAGE_BITS];
            let from = at & (PAGE_BYTES - 1);
            let data_bytes = slice_bytes(level) - LINK_BYTES;
            if at + data_bytes == end_of_last {
                return each(&page[from..from + stream.at as usize - at]);
            }
            each(&page[from..from + data_bytes]);
            at = read_u32(page, from + data_bytes) as usize;
            level = (level + 1).min(LEVEL_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_streams_read_back_whole() {
        let mut arena = Arena::default();
        let mut streams: Vec<_> = (0..50).map(|_| arena.start()).collect();
        let mut expected = vec![Vec::new(); 50];
        for i in 0..600_000u32 {
            // Uneven on purpose: stream 0 grows past a page, the last ones hardly start.
            let which = (i.trailing_zeros() as usize * 7 + (i % 3) as usize) % 50;
            let (word, bytes) = (i.wrapping_mul(0x9e37_79b9), 1 + i / 7 % 4);
            arena.push(&mut streams[which], word, bytes);
            expected[which].extend_from_slice(&word.to_le_bytes()[..bytes as usize]);
        }
        for (stream, expected) in streams.iter().zip(&expected) {
            let mut out = Vec::new();
            arena.read(stream, &mut out);
            assert_eq!((&out, out.len()), (expected, arena.bytes(stream)));
        }
    }
}
