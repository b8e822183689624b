//! Counts of a segment, and the limits of its file.

use super::details::DetailsForm;
use crate::chunks::Chunks;
use crate::postings::PostingsCodec;
use crate::written::WrittenPlace;

/// Sections of the file.
pub(crate) const SECTIONS: usize = 12;
/// Number of the section that holds the counts.
pub(crate) const META: usize = 11;

/// Highest number of documents of a segment: a gap and a flag share 32 bits.
pub(crate) const DOCUMENTS_MAX: u32 = (1 << 31) - 2;

/// Counts of a segment, stored in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct SegmentMeta {
    #[serde(rename = "chunk")]
    pub(crate) chunks: Chunks,
    pub(crate) codec: PostingsCodec,
    pub(crate) documents_count: u32,
    pub(crate) terms_count: u64,
    pub(crate) postings_count: u64,
    /// Words in all documents, by field in the order of `Field::WITH_LENGTHS`.
    pub(crate) words_counts: [u64; 2],
    /// Place of the dictionary of words as written; none where every word is its term, and in segments of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) written: Option<WrittenPlace>,
    /// Start and bytes of the hashes of texts; none in segments of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text_hashes: Option<[u64; 2]>,
    /// How details are stored; left out where they are in blocks, as in segments of before.
    #[serde(default, skip_serializing_if = "DetailsForm::is_blocks")]
    pub(crate) details: DetailsForm,
}
