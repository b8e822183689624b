//! Dictionary of a segment: from a term to the place of its lists, by hash or in order.
//!
//! ```text
//! blocks := block{terms / 8, rounded up}
//! block  := postings_start:vint positions_start:vint entry{8}          the last one may have fewer
//! entry  := min(shared, 15) << 4 | min(own, 15) : u8  [shared - 15 : vint]  [own - 15 : vint]
//!           byte{own} record
//! record := documents<<1 | (occurrences == documents) : vint  [occurrences-documents : vint]
//!           postings_bytes:vint positions_bytes:vint
//! starts := start:u32le{blocks}                                        in `blocks`
//! table  := bucket{terms / 14 + 1}
//! bucket := check:u8{16} block:uint{16}      1 to 4 bytes a block, as few as hold the number of blocks
//! ```
//!
//! A key is a field's byte and a term; keys are sorted. An entry's key is the first `shared` bytes of the entry before
//! it in its block, followed by its own bytes (front coding: Witten, Moffat & Bell, "Managing gigabytes"). Lists lie in
//! the order of keys, so records store lengths only, and a start is a sum of at most seven lengths.
//!
//! The low half `h` of a key's XXH3-64 selects the bucket `h · buckets >> 32`, or the next one with room where that is
//! full. Its check is `1 + h mod 255`; 0 marks an empty place. So an absent term mostly costs one cache line, a present
//! one three.
//!
//! Invariants: keys increase; damaged bytes give an error or no term, never a panic.

mod dictionary;
mod entries;
mod hash;
mod stream;
pub(crate) mod write;

pub use dictionary::LookUpStep;
pub(crate) use dictionary::Terms;
pub use entries::TermRecord;
pub(crate) use entries::{BadTerms, common_bytes};
pub use hash::TermHash;
pub(crate) use hash::{TermKey, with_key};
pub(crate) use stream::TermStream;

#[cfg(test)]
mod tests;
