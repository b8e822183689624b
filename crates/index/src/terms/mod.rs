//! The dictionary of a segment: from a term to where its lists are, by its hash or in order.
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
//! Keys are a field's byte and a term, sorted. An entry's key is the first `shared` bytes of the one before
//! it in its block and then its own (Witten, Moffat & Bell, "Managing gigabytes", front coding). Lists lie
//! in the order of keys, so a record keeps lengths, and starts are sums over at most seven.
//!
//! The low half `h` of a key's XXH3-64 chooses a bucket, `h · buckets >> 32`, or where that is full the next
//! one with room, and `1 + h mod 255` is its check; 0 is an empty place. So a term that is not there mostly
//! costs one line of memory, and one that is there three.
//!
//! Invariants: keys increase; what bytes are damaged gives an error or no term, never a panic.

mod dictionary;
mod entries;
mod hash;
mod stream;
pub(crate) mod write;

pub use dictionary::LookUpStep;
pub(crate) use dictionary::Terms;
pub(crate) use entries::BadTerms;
pub use entries::TermRecord;
pub use hash::TermHash;
pub(crate) use hash::with_key;
pub(crate) use stream::TermStream;

#[cfg(test)]
mod tests;
