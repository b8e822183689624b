//! Integers to bytes and back: each vectorised path beside its scalar twin.
//!
//! Pure functions over slices. The only crate besides `vfs` that may use `unsafe`.
//!
//! - [`vint`]: one variable-length byte integer after another, as Lucene 3 stored postings.
//! - [`docs`]: blocks of 256 documents, as packed gaps or as bits.
//! - [`bits`], [`lanes`], [`sorted`]: what is done with decoded blocks.
//! - [`tail`]: postings one after another, where they are too few for a block.
//! - [`memory`]: asking for memory before it is read.
//! - [`packed`]: blocks of 256 bit-packed integers, the default form of postings and positions.

// Kernels need intrinsics; each block carries its proof.
#![allow(unsafe_code)]

pub mod bits;
pub mod docs;
pub mod error;
pub mod lanes;
pub mod memory;
pub mod packed;
pub mod sorted;
pub mod tail;
pub mod vint;

pub use error::CodecError;
