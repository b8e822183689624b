//! Location of a document in the blocks of a store.

/// Uncompressed bytes after which a block ends.
pub(super) const BLOCK_BYTES: usize = 16 << 10;

/// Bytes of an entry of the directory.
pub(super) const ENTRY_BYTES: usize = 16;

/// Block of a document, and its offset in the decompressed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Location {
    pub(crate) block: u32,
    pub(crate) offset: u32,
}
