//! Release of pages of segments that are read once, in the order of terms.

use crate::{Segment, TermRecord};

/// Bytes of lists after which the pages read are released.
const RELEASE_BYTES: u64 = 8 << 20;

/// Release of pages while the lists of some segments are read once, in the order of terms. Pages that were read should
/// not count against the memory limit.
pub(crate) struct Pages<'a> {
    segments: &'a [Segment],
    newest: Vec<Option<TermRecord>>,
    read_bytes: u64,
}

impl<'a> Pages<'a> {
    pub(crate) fn of(segments: &'a [Segment]) -> Pages<'a> {
        Pages {
            segments,
            newest: vec![None; segments.len()],
            read_bytes: 0,
        }
    }

    /// Records that the lists of a term were read, each given by segment and record.
    pub(crate) fn read(&mut self, found: &[(usize, TermRecord)]) {
        for &(segment, record) in found {
            self.newest[segment] = Some(record);
            self.read_bytes += record.postings_bytes + record.positions_bytes;
        }
        if self.read_bytes > RELEASE_BYTES {
            self.read_bytes = 0;
            for (segment, record) in self.segments.iter().zip(&self.newest) {
                record
                    .iter()
                    .for_each(|record| segment.release_before(record));
            }
        }
    }
}
