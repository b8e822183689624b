//! Encoding of posting lists.

use super::threshold_estimates::{FLOORS_BYTES, FloorsCounter};
use super::{BLOCK, PostingsCodec, TAIL_MIN, impacts};
use codec::{docs, elias_fano, packed, rice, vint};

/// Encoder of one list after another; it keeps its buffers between lists.
pub(crate) struct PostingsEncoder {
    codec: PostingsCodec,
    list: List,
    positions: Positions,
}

/// Finished list: two pieces of postings (headers; blocks and tail) and two of positions.
pub(crate) struct EncodedList<'a> {
    pub(crate) documents_count: u32,
    pub(crate) occurrences_count: u64,
    pub(crate) postings: [&'a [u8]; 2],
    pub(crate) positions: [&'a [u8]; 2],
}

struct List {
    documents_count: u32,
    occurrences_count: u64,
    occurrences_before_block: u64,
    previous_doc_plus_one: u32,
    /// Document before the block; `u32::MAX` before the first.
    base: u32,
    fill: usize,
    gaps: [u32; BLOCK],
    frequencies: [u32; BLOCK],
    lengths: [u8; BLOCK],
    headers: Vec<u8>,
    blocks: Vec<u8>,
    floors: FloorsCounter,
    /// Highest frequency for each length, from the pairs of the blocks.
    highest: [u32; 256],
}

struct Positions {
    fill: usize,
    gaps: [u32; BLOCK],
    ends: Vec<u8>,
    blocks: Vec<u8>,
}

impl PostingsEncoder {
    pub(crate) fn new(codec: PostingsCodec) -> PostingsEncoder {
        PostingsEncoder {
            codec,
            list: List {
                documents_count: 0,
                occurrences_count: 0,
                occurrences_before_block: 0,
                previous_doc_plus_one: 0,
                base: u32::MAX,
                fill: 0,
                gaps: [0; BLOCK],
                frequencies: [0; BLOCK],
                lengths: [0; BLOCK],
                headers: Vec::new(),
                blocks: Vec::new(),
                floors: FloorsCounter::new(),
                highest: [0; 256],
            },
            positions: Positions {
                fill: 0,
                gaps: [0; BLOCK],
                ends: Vec::new(),
                blocks: Vec::new(),
            },
        }
    }

    /// Adds the next document. Documents increase; `frequency` is at least 1; `length` is the document's quantised
    /// length in the term's field.
    #[inline]
    pub(crate) fn push_document(&mut self, doc: u32, frequency: u32, length: u8) {
        let list = &mut self.list;
        debug_assert!(doc >= list.previous_doc_plus_one && frequency > 0);
        list.gaps[list.fill] = doc + 1 - list.previous_doc_plus_one;
        list.frequencies[list.fill] = frequency - 1;
        list.lengths[list.fill] = length;
        list.fill += 1;
        list.previous_doc_plus_one = doc + 1;
        list.documents_count += 1;
        list.occurrences_count += u64::from(frequency);
        if list.fill == BLOCK {
            list.end_block(self.codec);
        }
    }

    /// Adds the next position gap of the document pushed last.
    #[inline]
    pub(crate) fn push_position_gap(&mut self, gap: u32) {
        let positions = &mut self.positions;
        positions.gaps[positions.fill] = gap;
        positions.fill += 1;
        if positions.fill == BLOCK {
            positions.end_block(self.codec);
        }
    }

    /// Ends the list, passes it to `with`, and clears the encoder.
    pub(crate) fn finish<R>(&mut self, with: impl FnOnce(EncodedList<'_>) -> R) -> R {
        let (list, positions) = (&mut self.list, &mut self.positions);
        if !list.headers.is_empty() {
            let tail_pairs = list.impacts();
            list.headers.extend_from_slice(&tail_pairs);
            impacts::add_to(&mut list.highest, &tail_pairs);
            let list_pairs = impacts::encode_highest(&list.highest);
            list.headers.extend_from_slice(&list_pairs);
            list.highest.fill(0);
            let floors = list.finish_floors();
            list.headers.extend_from_slice(&floors);
        }
        list.write_tail(self.codec);
        positions.write_tail(self.codec);
        let result = with(EncodedList {
            documents_count: list.documents_count,
            occurrences_count: list.occurrences_count,
            postings: [&list.headers, &list.blocks],
            positions: [&positions.ends, &positions.blocks],
        });
        list.documents_count = 0;
        list.occurrences_count = 0;
        list.occurrences_before_block = 0;
        list.previous_doc_plus_one = 0;
        list.base = u32::MAX;
        list.fill = 0;
        list.headers.clear();
        list.blocks.clear();
        positions.fill = 0;
        positions.ends.clear();
        positions.blocks.clear();
        result
    }
}

impl List {
    fn end_block(&mut self, codec: PostingsCodec) {
        match codec {
            PostingsCodec::Packed => {
                docs::encode(self.base, &self.gaps, &mut self.blocks);
                packed::encode(&self.frequencies, &mut self.blocks);
            }
            PostingsCodec::Vint => {
                for i in 0..BLOCK {
                    write_posting(&mut self.blocks, self.gaps[i], self.frequencies[i]);
                }
            }
        }
        self.base = self.previous_doc_plus_one - 1;
        let before = self.occurrences_before_block as u32;
        for field in [
            self.previous_doc_plus_one - 1,
            self.blocks.len() as u32,
            before,
        ] {
            self.headers.extend_from_slice(&field.to_le_bytes());
        }
        let pairs = self.impacts();
        self.headers.extend_from_slice(&pairs);
        impacts::add_to(&mut self.highest, &pairs);
        self.count_for_floors();
        self.occurrences_before_block = self.occurrences_count;
        self.fill = 0;
    }

    fn write_tail(&mut self, codec: PostingsCodec) {
        let fill = self.fill;
        if codec == PostingsCodec::Vint || fill < TAIL_MIN {
            for i in 0..fill {
                write_posting(&mut self.blocks, self.gaps[i], self.frequencies[i]);
            }
            return;
        }
        let mut docs = self.gaps;
        packed::prefix_sum(&mut docs, self.base);
        let first = self.base.wrapping_add(1);
        elias_fano::encode(first, &docs[..fill], &mut self.blocks);
        rice::encode(&self.frequencies[..fill], &mut self.blocks);
    }

    /// Returns the competitive pairs of the current block.
    fn impacts(&self) -> [u8; impacts::PAIRS_BYTES] {
        let frequencies = self.frequencies.map(|minus_one| minus_one + 1);
        impacts::encode(&frequencies[..self.fill], &self.lengths[..self.fill])
    }
}

impl List {
    fn count_for_floors(&mut self) {
        let frequencies = self.frequencies[..self.fill]
            .iter()
            .map(|minus_one| minus_one + 1);
        self.floors
            .add(frequencies.zip(self.lengths[..self.fill].iter().copied()));
    }

    fn finish_floors(&mut self) -> [u8; FLOORS_BYTES] {
        self.count_for_floors();
        self.floors.finish()
    }
}

impl Positions {
    fn end_block(&mut self, codec: PostingsCodec) {
        match codec {
            PostingsCodec::Packed => rice::encode(&self.gaps, &mut self.blocks),
            PostingsCodec::Vint => self.write_one_by_one(),
        }
        self.ends
            .extend_from_slice(&(self.blocks.len() as u32).to_le_bytes());
        self.fill = 0;
    }

    fn write_tail(&mut self, codec: PostingsCodec) {
        if codec == PostingsCodec::Vint || self.fill < TAIL_MIN {
            self.write_one_by_one();
        } else {
            rice::encode(&self.gaps[..self.fill], &mut self.blocks);
        }
    }

    fn write_one_by_one(&mut self) {
        for &gap in &self.gaps[..self.fill] {
            vint::write_u32(&mut self.blocks, gap);
        }
    }
}

fn write_posting(out: &mut Vec<u8>, gap: u32, frequency_minus_one: u32) {
    if frequency_minus_one == 0 {
        vint::write_u32(out, gap << 1 | 1);
    } else {
        vint::write_u32(out, gap << 1);
        vint::write_u32(out, frequency_minus_one + 1);
    }
}
