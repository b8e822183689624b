//! Document frequency of a term and the segments that hold it.

use crate::TermRecord;
use smallvec::SmallVec;

/// Statistics of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermStatistics {
    /// Live documents of the whole index that hold the term.
    pub document_frequency: u64,
    /// List of the term in each segment that has it, by segment number.
    pub places: TermPlaces,
}

/// Lists of a term by segment; without allocation for a single segment.
pub type TermPlaces = SmallVec<[TermPlace; 1]>;

/// List of a term in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermPlace {
    /// Number of the segment in its index ([`Segment::number`](crate::Segment::number)).
    pub segment: u32,
    /// Record of the term in the segment.
    pub record: TermRecord,
}
