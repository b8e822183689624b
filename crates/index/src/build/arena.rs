//! Many byte streams that grow side by side in one arena.
//!
//! A chunk under construction has hundreds of thousands of streams, most of a few bytes, a few of
//! megabytes. Each stream is a chain of slices whose sizes double from 16 bytes to 4 KiB; the last
//! four bytes of a full slice hold the address of the next. Memory is taken in pages of 1 MiB, so
//! nothing is ever copied to grow. (The layout of Lucene's `ByteBlockPool`, with larger steps.)

const PAGE_BITS: u32 = 20;
const PAGE_BYTES: usize = 1 << PAGE_BITS;
const LINK_BYTES: u32 = 4;
const LEVEL_MAX: u8 = 8;

fn slice_bytes(level: u8) -> u32 {
    16 << level
}

/// One stream: where it starts, where it is written next, where the current slice's data ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    head: u32,
    at: u32,
    end: u32,
    level: u8,
}

/// The memory of all streams of one chunk under construction.
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

    /// Whether another page might not be addressable any more: time to flush.
    pub(crate) fn is_full(&self) -> bool {
        self.pages.len() >= (1 << (32 - PAGE_BITS)) - 8
    }

    fn allocate(&mut self, bytes: u32) -> u32 {
        if self.pages.is_empty() || self.free + bytes as usize > PAGE_BYTES {
            self.pages.push(vec![0; PAGE_BYTES].into_boxed_slice());
            self.free = 0;
        }
        let address = ((self.pages.len() - 1) << PAGE_BITS) + self.free;
        self.free += bytes as usize;
        address as u32
    }

    pub(crate) fn start(&mut self) -> Stream {
        let head = self.allocate(slice_bytes(0));
        Stream {
            head,
            at: head,
            end: head + slice_bytes(0) - LINK_BYTES,
            level: 0,
        }
    }

    #[inline]
    fn put(&mut self, address: u32, byte: u8) {
        self.pages[(address >> PAGE_BITS) as usize][address as usize & (PAGE_BYTES - 1)] = byte;
    }

    #[inline]
    pub(crate) fn push(&mut self, stream: &mut Stream, byte: u8) {
        if stream.at == stream.end {
            self.grow(stream);
        }
        self.put(stream.at, byte);
        stream.at += 1;
    }

    /// Appends a variable-length integer (see `codec::vint`).
    #[inline]
    pub(crate) fn push_vint(&mut self, stream: &mut Stream, mut value: u32) {
        while value >= 0x80 {
            self.push(stream, value as u8 | 0x80);
            value >>= 7;
        }
        self.push(stream, value as u8);
    }

    #[cold]
    fn grow(&mut self, stream: &mut Stream) {
        let level = (stream.level + 1).min(LEVEL_MAX);
        let next = self.allocate(slice_bytes(level));
        for (i, byte) in next.to_le_bytes().into_iter().enumerate() {
            self.put(stream.end + i as u32, byte);
        }
        *stream = Stream {
            head: stream.head,
            at: next,
            end: next + slice_bytes(level) - LINK_BYTES,
            level,
        };
    }

    /// Copies the stream's bytes to `out` (cleared first).
    pub(crate) fn read(&self, stream: &Stream, out: &mut Vec<u8>) {
        out.clear();
        let (mut level, mut at) = (0, stream.head);
        loop {
            let page = &self.pages[(at >> PAGE_BITS) as usize];
            let from = at as usize & (PAGE_BYTES - 1);
            let end = at + slice_bytes(level) - LINK_BYTES;
            if end == stream.end {
                out.extend_from_slice(&page[from..from + (stream.at - at) as usize]);
                return;
            }
            let link = from + (end - at) as usize;
            out.extend_from_slice(&page[from..link]);
            at = crate::sealed::read_u32(page, link);
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
        for i in 0..200_000u32 {
            // Uneven on purpose: stream 0 grows past a page, the last ones hardly start.
            let which = (i.trailing_zeros() as usize * 7 + (i % 3) as usize) % 50;
            arena.push_vint(&mut streams[which], i * 977);
            codec::vint::write_u32(&mut expected[which], i * 977);
        }
        let mut out = Vec::new();
        for (stream, expected) in streams.iter().zip(&expected) {
            arena.read(stream, &mut out);
            assert_eq!(&out, expected);
        }
    }
}
