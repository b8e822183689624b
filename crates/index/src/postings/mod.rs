//! Posting list of a term in one segment.
//!
//! ```text
//! list      := header{full} [tail_pairs list_pairs floors] block{full} tail    full = documents / 256;
//!                                                      what is in brackets only if full > 0
//! header    := last_doc:u32le block_end:u32le occurrences_before:u32le pairs   20 bytes
//! pairs, tail_pairs, list_pairs := competitive pairs (see `impacts`) of a block, the tail, all; 8 bytes
//! floors    := what the k-th best posting reaches at least (see `threshold_estimates`), 18 bytes
//! positions := position_block_end:u32le{full} position_block{full} position_tail
//!                                                      full = occurrences / 256
//!
//! A gap is the distance from the previous document of the list (the first counts from -1), so it is never 0. Position
//! gaps start anew from 0 in every document. `block_end` and `position_block_end` are offsets from the start of the
//! first block.
//!
//! A gap is from the previous document of the list (the first counts from -1), so it is never 0.
//! Position gaps start anew from 0 in every document. `block_end` and `position_block_end` count from
//! where the first block begins.
//!
//! Example: documents 3, 7, 8 with frequencies 1, 2, 1 are a tail alone, `09 08 02 03`;
//! positions 5 | 1, 4 | 0 are `05 01 03 00`.
//!
//! Invariants: documents increase; a header's `last_doc` is the last of its block.
//! Why headers first and apart: a seek over 100 blocks reads 2,000 contiguous bytes and no payload.

mod blocks;
mod bounds;
mod buffers;
mod cursor;
mod decode_replay;
mod decode_stats;
pub(crate) mod encode;
mod frequencies;
mod impacts;
mod list;
mod mark;
mod positions;
mod threshold_estimates;

pub use blocks::Blocks;
pub use bounds::Bounds;
pub use cursor::Postings;
pub use decode_replay::Replay;
pub use decode_stats::{BlocksWork, ListWork, watch_blocks, watch_lists};
pub(crate) use encode::PostingsEncoder;
pub use frequencies::Place;
pub use impacts::Impact;
pub(crate) use list::{ListBytes, Origin};
pub use positions::{Span, count_followed};

pub(crate) use codec::packed::BLOCK;

/// Lowest number of documents or positions of a tail that is stored in high and low parts.
pub(crate) const TAIL_MIN: usize = 8;

/// Bytes of a block header.
pub(crate) const HEADER_BYTES: usize = 12 + impacts::PAIRS_BYTES;

/// Encoding of postings, a property of the whole index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PostingsCodec {
    /// Blocks of 256 documents, bit-packed or as bits, and bit-packed frequencies; positions and tails in high and low
    /// parts.
    #[default]
    Packed,
    /// One variable-length byte integer after another, as Lucene 3 stored them.
    Vint,
}

impl PostingsCodec {
    /// Returns the name in manifests and options.
    pub fn name(self) -> &'static str {
        match self {
            PostingsCodec::Packed => "packed",
            PostingsCodec::Vint => "vint",
        }
    }
}

impl std::str::FromStr for PostingsCodec {
    type Err = String;
    fn from_str(name: &str) -> Result<PostingsCodec, String> {
        match name {
            "packed" => Ok(PostingsCodec::Packed),
            "vint" => Ok(PostingsCodec::Vint),
            _ => Err(format!("no codec `{name}`: use `packed` or `vint`")),
        }
    }
}

#[cfg(test)]
mod tests;
