//! Synthetic inputs on which kernels are timed: blocks, bits, tails and positions as lists hold them.

use crate::limits::{LIMITS, LengthBytes};
use crate::packed::{self, BLOCK};
use crate::rice::{self, follow};
use crate::{elias_fano, vint};

/// Words of a window of 4,096 documents.
const WORDS: usize = 64;
/// Postings of a tail.
pub(super) const TAIL: usize = 40;

/// A value aligned to a cache line, like the buffers of a search, so that vectors cross lines alike in every run.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Line<T>(pub(super) T);

impl<T> Line<T> {
    /// Returns the whole value. A method, because a closure that names the field captures the field alone, without its
    /// alignment.
    pub(super) fn all(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Offset of the payload: lists start at any byte of a file.
const ODD: usize = 19;

/// The inputs, the same in every process.
pub(super) struct Inputs {
    /// The payload, which begins at [`ODD`].
    payload: Vec<u8>,
    pub(super) gaps: [u32; BLOCK],
    pub(super) docs: Line<[u32; BLOCK]>,
    /// Every third document of the block, and some documents that are not in it.
    pub(super) wanted: Vec<u32>,
    pub(super) frequencies: Line<[u32; BLOCK]>,
    pub(super) factors: Line<[f32; BLOCK]>,
    pub(super) scores: Line<[f32; BLOCK]>,
    pub(super) lengths: LengthBytes,
    pub(super) limits: [u8; LIMITS],
    pub(super) words: Line<[u64; WORDS]>,
    /// The documents as bits.
    pub(super) set: Vec<[u8; 8]>,
    /// A block of positions.
    pub(super) positions: Vec<u8>,
    pub(super) stretches: Vec<follow::Stretch>,
    pub(super) tail: Vec<u8>,
    /// The gaps and frequencies in the form of a tail.
    pub(super) postings: Vec<u8>,
}

impl Inputs {
    pub(super) fn new() -> Inputs {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut below = |limit: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u32 % limit
        };
        let gaps: [u32; BLOCK] = std::array::from_fn(|_| 1 + below(4) * below(3));
        let mut docs = gaps;
        packed::scalar::prefix_sum(&mut docs, 0);
        let mut wanted: Vec<u32> = docs.iter().step_by(3).map(|doc| doc + below(2)).collect();
        wanted.dedup();
        let frequencies: [u32; BLOCK] = std::array::from_fn(|_| 1 + below(3) * below(4));
        let factors = std::array::from_fn(|_| 0.3 + below(256) as f32 / 200.0);
        let scores: [f32; BLOCK] = std::array::from_fn(|_| below(1000) as f32 / 100.0);
        let mut set = vec![[0u8; 8]; docs[BLOCK - 1] as usize / 64 + 1];
        for doc in docs {
            set[doc as usize / 64][doc as usize / 8 % 8] |= 1 << (doc % 8);
        }
        let mut positions = Vec::new();
        let places: [u32; BLOCK] = std::array::from_fn(|_| below(90));
        rice::encode(&places, &mut positions);
        let stretch = |number: usize| follow::Stretch {
            start: 0,
            end: positions.len() as u32,
            count: BLOCK as u32,
            from: (number * 11) as u32,
            wanted: 1 + (number % 5) as u32,
        };
        let stretches = (0..20).map(stretch).collect();
        let mut tail = Vec::new();
        elias_fano::encode(0, &docs.map(|doc| doc * 50)[..TAIL], &mut tail);
        let mut postings = Vec::new();
        for (gap, &frequency) in gaps.iter().zip(&frequencies) {
            vint::write_u32(&mut postings, gap << 1 | u32::from(frequency == 1));
            if frequency != 1 {
                vint::write_u32(&mut postings, frequency);
            }
        }
        Inputs {
            payload: (0..ODD + 32 * packed::ROW_BYTES)
                .map(|_| below(256) as u8)
                .collect(),
            gaps,
            docs: Line(docs),
            wanted,
            frequencies: Line(frequencies),
            factors: Line(factors),
            scores: Line(scores),
            lengths: std::array::from_fn(|_| below(255) as u8),
            limits: std::array::from_fn(|at| 20 + 2 * at as u8),
            words: Line(std::array::from_fn(|_| {
                u64::from(below(u32::MAX)) << (below(32))
            })),
            set,
            positions,
            stretches,
            tail,
            postings,
        }
    }

    /// Returns a packed payload of `bits` bits a value.
    pub(super) fn payload_of(&self, bits: usize) -> &[u8] {
        &self.payload[ODD..][..packed::ROW_BYTES * bits]
    }
}
