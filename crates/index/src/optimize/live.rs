//! Which documents of a chunk are alive, and how are they numbered over its segments?

use crate::segment::DOCUMENTS_MAX;
use crate::{DocId, IndexError, Segment};

/// In place of the number of a deleted document.
pub(crate) const GONE: u32 = u32::MAX;

/// The live documents of some segments, numbered in the order of segments and documents: their *arrival*.
pub(crate) struct Live {
    by_segment: Vec<Vec<u32>>,
    count: u32,
}

impl Live {
    pub(crate) fn of(segments: &[Segment], chunk: u32) -> Result<Live, IndexError> {
        let all: u64 = segments
            .iter()
            .map(|segment| u64::from(segment.live_documents_count()))
            .sum();
        if all > u64::from(DOCUMENTS_MAX) {
            return Err(IndexError::TooManyDocuments {
                chunk,
                max: DOCUMENTS_MAX,
            });
        }
        let mut count = 0;
        let mut number = |segment: &Segment, doc: u32| {
            if segment.is_deleted(DocId(doc)) {
                return GONE;
            }
            count += 1;
            count - 1
        };
        let by_segment = segments
            .iter()
            .map(|segment| {
                (0..segment.documents_count())
                    .map(|doc| number(segment, doc))
                    .collect()
            })
            .collect();
        Ok(Live { by_segment, count })
    }

    /// Live documents.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The arrival of a document, or `GONE`.
    #[inline]
    pub(crate) fn arrival(&self, segment: usize, doc: u32) -> u32 {
        // Cursors give no document outside of their segment.
        self.by_segment[segment][doc as usize]
    }
}
