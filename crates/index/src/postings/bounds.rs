//! Score bounds of a list, read from its headers without decoding a posting.

use super::impacts::{self, Impact, PAIRS, PAIRS_BYTES};
use super::threshold_estimates::{self, FLOORS_BYTES};
use super::{BLOCK, HEADER_BYTES};
use crate::DocId;
use crate::sealed::read_u32;

/// Offset of the competitive pairs in a header.
const PAIRS_AT: usize = HEADER_BYTES - PAIRS_BYTES;

/// Returns the bytes of all headers of a list: those of the full blocks, the pairs of the tail, and the floors.
pub(crate) fn headers_bytes(blocks_full: usize) -> usize {
    match blocks_full {
        0 => 0,
        _ => blocks_full * HEADER_BYTES + 2 * PAIRS_BYTES + FLOORS_BYTES,
    }
}

/// Blocks of a list as their last documents and competitive pairs. The tail is the last block and may be empty. A list
/// without a full block has no headers, and so no blocks here.
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
            // A list cut short by damage has no bounds; its readers get an error.
            None => Bounds {
                headers: &[],
                blocks_full: 0,
            },
        }
    }

    /// Returns the number of blocks, the tail included; 0 for a list that is a tail alone.
    pub fn blocks_count(&self) -> usize {
        if self.blocks_full == 0 {
            0
        } else {
            self.blocks_full + 1
        }
    }

    /// Returns the last document of a block; `DocId::END` for the tail, whose last document is unknown before decoding.
    #[inline]
    pub fn last_doc(&self, block: usize) -> DocId {
        if block < self.blocks_full {
            DocId(read_u32(self.headers, block * HEADER_BYTES))
        } else {
            DocId::END
        }
    }

    /// Returns the competitive pairs of a block; unused ones have frequency 0.
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

    /// Returns the competitive pairs of the whole list, all unused where there are no headers.
    pub fn list_impacts(&self) -> [Impact; PAIRS] {
        let at = self.blocks_full * HEADER_BYTES + PAIRS_BYTES;
        impacts::decode(self.headers.get(at..at + PAIRS_BYTES).unwrap_or(&[]))
    }

    /// Returns the floors for `k`. At least `k` postings of the list score no less than each of them. Unused pairs have
    /// frequency 0.
    pub fn floors(&self, k: usize) -> [Impact; threshold_estimates::PAIRS] {
        let at = self.blocks_full * HEADER_BYTES + 2 * PAIRS_BYTES;
        threshold_estimates::decode(self.headers.get(at..).unwrap_or(&[]), k)
    }
}
