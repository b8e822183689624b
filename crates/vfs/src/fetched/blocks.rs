//! Blocks of a fetched file: those that are there, those under way, and the next read.
//!
//! Pure: no file, no thread.

use std::ops::Range;

/// Blocks of one read.
const READ_BLOCKS_MAX: usize = 2048;
/// First and last length of what is read ahead, in blocks: 16 KiB and 1 MiB. A read from a remote store waits as long as
/// a megabyte takes to come.
const AHEAD_BLOCKS: Range<usize> = 4..256;
/// Readers that are followed at a time.
const STREAMS_MAX: usize = 8;

/// State of the blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    present: Vec<u64>,
    count: usize,
    under_way: Vec<Range<usize>>,
    /// Reads that may go on, the one that was read last at the end.
    streams: Vec<Stream>,
}

/// A reader of adjoining ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stream {
    /// Block after the last one read.
    next: usize,
    /// Blocks read ahead last.
    ahead: usize,
}

/// What is to be done for some blocks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// All are there.
    Done,
    /// The first missing one is under way.
    Wait,
    /// These are to be read; they are marked as under way.
    Read(Range<usize>),
}

impl Blocks {
    /// Creates the state of `count` blocks, none of which is there.
    pub(super) fn new(count: usize) -> Blocks {
        Blocks {
            present: vec![0; count.div_ceil(64)],
            count,
            under_way: Vec::new(),
            streams: Vec::new(),
        }
    }

    pub(super) fn is_present(&self, block: usize) -> bool {
        self.present[block / 64] >> (block % 64) & 1 == 1
    }

    /// Returns what is to be done next, so that the blocks of `wanted` are there.
    pub(super) fn next(&mut self, wanted: Range<usize>) -> Next {
        let Some(first) = wanted.clone().find(|&block| !self.is_present(block)) else {
            return Next::Done;
        };
        if self.is_under_way(first) {
            return Next::Wait;
        }
        let ahead = self.ahead(first);
        let limit = (wanted.end + ahead)
            .min(self.count)
            .min(first + READ_BLOCKS_MAX);
        let is_free = |block: &usize| !self.is_present(*block) && !self.is_under_way(*block);
        let run = first..first + (first..limit).take_while(is_free).count();
        self.streams.push(Stream {
            next: run.end,
            ahead,
        });
        self.under_way.push(run.clone());
        Next::Read(run)
    }

    /// Ends a read. Where it failed, nothing is read ahead any more.
    pub(super) fn end(&mut self, run: &Range<usize>, is_read: bool) {
        self.under_way.retain(|other| other != run);
        if is_read {
            run.clone()
                .for_each(|block| self.present[block / 64] |= 1 << (block % 64));
        } else {
            self.streams.clear();
        }
    }

    fn is_under_way(&self, block: usize) -> bool {
        self.under_way.iter().any(|run| run.contains(&block))
    }

    /// Returns the blocks to read ahead of a read that begins at `first`: none but where it goes on with an earlier one.
    fn ahead(&mut self, first: usize) -> usize {
        match self.streams.iter().position(|stream| stream.next == first) {
            Some(at) => {
                let before = self.streams.remove(at).ahead;
                (before * 2).clamp(AHEAD_BLOCKS.start, AHEAD_BLOCKS.end)
            }
            None => {
                let over = (self.streams.len() + 1).saturating_sub(STREAMS_MAX);
                self.streams.drain(..over);
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads what `wanted` lacks; returns the first block of each run, and that after it.
    fn read(blocks: &mut Blocks, wanted: Range<usize>) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        loop {
            match blocks.next(wanted.clone()) {
                Next::Done => return runs,
                Next::Wait => panic!("nobody else reads"),
                Next::Read(run) => {
                    blocks.end(&run, true);
                    runs.push((run.start, run.end));
                }
            }
        }
    }

    #[test]
    fn scattered_reads_take_what_is_asked_and_adjoining_ones_more_and_more() {
        let mut blocks = Blocks::new(10_000);
        assert_eq!(read(&mut blocks, 50..51), [(50, 51)]);
        assert_eq!(read(&mut blocks, 700..703), [(700, 703)]);
        assert_eq!(read(&mut blocks, 51..52), [(51, 56)], "goes on from 51");
        assert_eq!(read(&mut blocks, 52..56), []);
        assert_eq!(read(&mut blocks, 56..57), [(56, 65)]);
        assert_eq!(read(&mut blocks, 703..704), [(703, 708)]);
        let mut at = 1000;
        let mut runs = 0;
        while at < 9000 {
            runs += read(&mut blocks, at..at + 1).len();
            at += 1;
        }
        assert!(runs < 50, "{runs}");
        assert_eq!(
            read(&mut blocks, 9990..10_000).last(),
            Some(&(9990, 10_000))
        );
    }

    #[test]
    fn a_gap_is_read_around_what_is_there_or_under_way() {
        let mut blocks = Blocks::new(100);
        assert_eq!(read(&mut blocks, 5..6), [(5, 6)]);
        let other = blocks.next(8..9);
        assert_eq!(other, Next::Read(8..9));
        assert_eq!(blocks.next(3..12), Next::Read(3..5));
        blocks.end(&(3..5), true);
        let Next::Read(run) = blocks.next(3..12) else {
            panic!("6 and 7 are free");
        };
        assert_eq!(run, 6..8);
        blocks.end(&run, true);
        assert_eq!(blocks.next(3..12), Next::Wait);
        blocks.end(&(8..9), false);
        assert_eq!(read(&mut blocks, 3..12), [(8, 12)]);
    }

    proptest! {
        /// Every block is read once, whatever is wanted, and all that was wanted is there.
        #[test]
        fn each_block_is_read_once(wanted in prop::collection::vec((0usize..400, 1usize..60), 1..40)) {
            let mut blocks = Blocks::new(300);
            let mut times = [0; 300];
            for (start, count) in wanted {
                let wanted = start.min(300)..(start + count).min(300);
                for (first, end) in read(&mut blocks, wanted.clone()) {
                    (first..end).for_each(|block| times[block] += 1);
                }
                prop_assert!(wanted.into_iter().all(|block| times[block] == 1));
            }
            prop_assert!(times.iter().all(|&times| times <= 1));
        }
    }
}
