//! Verifying everything: checksums, structure, cross references.
use crate::IndexError;
use vfs::SharedStorage;

/// What `check` looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Generation checked.
    pub generation: u64,
    /// Files read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Live documents.
    pub documents: u64,
    /// Terms, summed over segments and fields.
    pub terms: u64,
    /// Postings.
    pub postings: u64,
    /// Positions.
    pub positions: u64,
}

/// Checks the newest generation. Returns what was looked at and every damage found
/// (at most `damages_max`); `Err` only where checking itself could not go on.
pub fn check(
    _storage: SharedStorage,
    _damages_max: usize,
) -> Result<(CheckReport, Vec<IndexError>), IndexError> {
    unimplemented!()
}
