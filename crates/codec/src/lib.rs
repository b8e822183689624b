//! Integer codecs and kernels: each vectorised form beside its scalar twin.
//!
//! Pure functions over slices. The only crate besides `vfs` that may use `unsafe`.
//!
//! - [`vint`]: variable-length byte integers, as Lucene 3 stored postings.
//! - [`packed`]: blocks of 256 bit-packed integers, the default form of postings and positions.
//! - [`docs`]: blocks of 256 documents, as packed gaps or as bits.
//! - [`rice`]: integers in high and low parts, with random access; the form of positions.
//! - [`elias_fano`]: documents in high and low parts, where they are too few for a block.
//! - [`tail`]: postings one after another, where they are very few.
//! - Kernels over decoded blocks. [`bits`] has bit sets, [`lanes`] arithmetic on postings, [`limits`] the selection of
//!   postings that can reach a score, and [`sorted`] the intersection of sorted documents.
//! - [`sums`]: scores by document, as rows that are added to and drained.
//! - [`memory`]: hints that prefetch memory.
//! - [`processor`], [`calibration`]: supported instructions, and the fastest form of each kernel.

// Kernels need intrinsics; each block carries its proof.
#![allow(unsafe_code)]

mod arrays;
pub mod bits;
pub mod calibration;
pub mod docs;
pub mod elias_fano;
pub mod error;
mod kernels;
pub mod lanes;
pub mod limits;
pub mod memory;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod packed;
pub mod processor;
pub mod rice;
pub mod sorted;
pub mod sums;
pub mod tail;
pub mod vint;

pub use calibration::calibrate;
pub use error::CodecError;
