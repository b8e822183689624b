//! Errors of decoding.

/// Bytes that no encoder of this crate wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes end inside an integer or a block.
    #[error("byte {at}: the bytes end inside a {what}")]
    Truncated {
        /// Offset in the slice, in bytes.
        at: usize,
        /// The structure being read.
        what: &'static str,
    },
    /// A value out of range: a bit width over 32, an integer that does not fit.
    #[error("byte {at}: {what}: {found} is over {max}")]
    TooLarge {
        /// Offset in the slice, in bytes.
        at: usize,
        /// The structure being read.
        what: &'static str,
        /// The value found.
        found: u64,
        /// The largest value allowed.
        max: u64,
    },
    /// An integer with more bytes than its value needs.
    #[error("byte {at}: a {what} is longer than its value needs")]
    Overlong {
        /// Offset in the slice, in bytes.
        at: usize,
        /// The structure being read.
        what: &'static str,
    },
}
