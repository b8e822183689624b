//! Sizes and types of the arrays on which kernels over decoded blocks work.
//!
//! Each is re-exported by the module of its kernels.

use crate::packed::BLOCK;

/// Number of limits. Frequencies from `LIMITS - 1` on share the last one.
pub const LIMITS: usize = 64;

/// Length bytes of a block, padded for a vector that extends past their end.
pub type LengthBytes = [u8; BLOCK + 64];

/// Number of documents of a row.
pub const ROW: usize = 64;

/// Pairs of indexes: in `wanted` and in `block`, of equal values.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// Indexes in `wanted`.
    pub wanted: [u8; BLOCK],
    /// Indexes in the block.
    pub block: [u8; BLOCK],
}

impl Default for Pairs {
    fn default() -> Pairs {
        Pairs {
            wanted: [0; BLOCK],
            block: [0; BLOCK],
        }
    }
}
