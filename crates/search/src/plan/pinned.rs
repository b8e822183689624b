//! Documents of a plan that stand before all its hits.

use index::DocId;

/// Document that stands before all hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PinnedDocument {
    /// Place among those that do, from 0.
    pub(crate) place: u32,
    /// Id of the segment.
    pub(crate) segment: u32,
    pub(crate) doc: DocId,
}
