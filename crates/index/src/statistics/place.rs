//! Document frequency of a term and the segments that hold it.

use crate::TermRecord;
use smallvec::SmallVec;

/// What the statistics know of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermStatistics {
    /// Live documents of the whole index that hold it.
    pub document_frequency: u64,
    /// Every segment that has it, by number.
    pub places: TermPlaces,
}

/// The lists of a term, by segment; of an index of one segment without allocation.
pub type TermPlaces = SmallVec<[TermPlace; 1]>;

/// A term's list in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermPlace {
    /// The number of the segment among those of the index: [`Segment::number`].
    pub segment: u32,
    /// Its record there.
    pub record: TermRecord,
}
