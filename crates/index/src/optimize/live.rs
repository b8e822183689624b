//! Live documents of a partition, numbered over the segments that hold them.

use crate::segment::DOCUMENTS_MAX;
use crate::{DocId, IndexError, Layout, Segment};
use std::ops::RangeInclusive;

/// Number of a document that is deleted or belongs to another partition.
pub(crate) const GONE: u32 = u32::MAX;

/// Live documents of a partition, numbered in the order of segments and documents: their *arrival*.
pub(crate) struct Live {
    by_segment: Vec<Vec<u32>>,
    count: u32,
}

impl Live {
    /// Numbers the live documents of `segments` in the chunks `chunks`.
    pub(crate) fn of(
        segments: &[Segment],
        layout: Layout,
        chunks: RangeInclusive<u32>,
    ) -> Result<Live, IndexError> {
        let mut count = 0u64;
        let mut by_segment = Vec::with_capacity(segments.len());
        for segment in segments {
            let has_others = segment.chunks().any(|chunk| !chunks.contains(&chunk));
            let is_here = |doc: DocId| {
                !segment.is_deleted(doc)
                    && (!has_others || chunks.contains(&layout.chunk_of(segment.url_hash(doc))))
            };
            let mut number = |doc: u32| {
                if !is_here(DocId(doc)) {
                    return GONE;
                }
                count += 1;
                // An overflow is reported below.
                (count - 1) as u32
            };
            let documents = 0..segment.documents_count();
            by_segment.push(documents.map(&mut number).collect());
            if count > u64::from(DOCUMENTS_MAX) {
                return Err(IndexError::TooManyDocuments {
                    chunks,
                    max: DOCUMENTS_MAX,
                });
            }
        }
        let count = count as u32;
        Ok(Live { by_segment, count })
    }

    /// Returns the number of live documents.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the arrival of a document, or `GONE`.
    #[inline]
    pub(crate) fn arrival(&self, segment: usize, doc: u32) -> u32 {
        // Cursors return no document outside of their segment.
        self.by_segment[segment][doc as usize]
    }
}
