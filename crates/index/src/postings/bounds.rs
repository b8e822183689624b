//! The headers of a list, read for their bounds alone: no posting is decoded.

use super::impacts::{self, Impact, PAIRS, PAIRS_BYTES};
use super::threshold_estimates::{self, FLOORS_BYTES};
use super::{BLOCK, HEADER_BYTES};
use crate::DocId;
use crate::sealed::read_u32;

/// Where the pairs stand in a header.
const PAIRS_AT: usize = HEADER_BYTES - PAIRS_BYTES;

/// Bytes of all headers of a list: those of the full blocks, the pairs of the tail, and the floors.
pub(crate) fn headers_bytes(blocks_full: usize) -> usize {
    match blocks_full {
        0 => 0,
        _ => blocks_full * HEADER_BYTES + 2 * PAIRS_BYTES + FLOORS_BYTES,
    }
}

/// The blocks of a list by their last documents and competitive pairs. The tail is the last block; it
/// may be empty. A list without a full block has no headers, and so no blocks here.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    headers: &'a [u8],
    blocks_full: usize,
}

impl<'a> Bounds<'a> {
    pub(crate) fn new(postings: &'a [u8], documents_count: usize) -> Bounds<'a> {
        let blocks_full = documents_count / BLOCK;
        match postings.get(..headers_bytes(blocks_full)) {
            Some(headers) => Bounds {
                headers,
                blocks_full,
            },
            // A list that damage cut short has no bounds; who reads it is told.
            None => Bounds {
                headers: &[],
                blocks_full: 0,
            },
        }
    }

    /// Blocks, the tail included; 0 for a list that is a tail alone.
    pub fn blocks_count(&self) -> usize {
        if self.blocks_full == 0 {
            0
        } else {
            self.blocks_full + 1
        }
    }

    /// The last document of a block; that of the tail is not known without decoding it.
    #[inline]
    pub fn last_doc(&self, block: usize) -> DocId {
        if block < self.blocks_full {
            DocId(read_u32(self.headers, block * HEADER_BYTES))
        } else {
            DocId::END
        }
    }

    /// The competitive pairs of a block; those with frequency 0 are unused.
    #[inline]
    pub fn impacts(&self, block: usize) -> [Impact; PAIRS] {
        let at = block * HEADER_BYTES
            + if block < self.blocks_full {
                PAIRS_AT
            } else {
                0
            };
        impacts::decode(self.headers.get(at..at + PAIRS_BYTES).unwrap_or(&[]))
    }

    /// The competitive pairs of the whole list; all unused where there are no headers.
    pub fn list_impacts(&self) -> [Impact; PAIRS] {
        let at = self.blocks_full * HEADER_BYTES + PAIRS_BYTES;
        impacts::decode(self.headers.get(at..at + PAIRS_BYTES).unwrap_or(&[]))
    }

    /// What at least `k` postings of the list reach, each of these pairs for itself: what their scores
    /// are not below. Unused pairs have frequency 0.
    pub fn floors(&self, k: usize) -> [Impact; threshold_estimates::PAIRS] {
        let at = self.blocks_full * HEADER_BYTES + 2 * PAIRS_BYTES;
        threshold_estimates::decode(self.headers.get(at..).unwrap_or(&[]), k)
    }
}
