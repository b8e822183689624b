//! Contiguous chunks of an index: those of a segment, and ranges given by callers.

use std::fmt;
use std::ops::{Bound, Range, RangeBounds, RangeInclusive};

/// Contiguous chunks of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub(crate) struct Chunks {
    first: u32,
    last: u32,
}

/// Form in files: the only chunk, or the first and the last. Programs that know only the first form refuse the second;
/// if they read the first chunk alone, they would miss the others.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum Written {
    One(u32),
    Several([u32; 2]),
}

impl Chunks {
    pub(crate) fn range(self) -> RangeInclusive<u32> {
        self.first..=self.last
    }

    pub(crate) fn first(self) -> u32 {
        self.first
    }

    /// Returns whether any of `chunks` is one of these.
    pub(crate) fn touch(self, chunks: &Range<u32>) -> bool {
        !chunks.is_empty() && self.first < chunks.end && chunks.start <= self.last
    }
}

impl From<RangeInclusive<u32>> for Chunks {
    fn from(chunks: RangeInclusive<u32>) -> Chunks {
        let (first, last) = chunks.into_inner();
        Chunks { first, last }
    }
}

impl From<Chunks> for Written {
    fn from(chunks: Chunks) -> Written {
        match chunks.first == chunks.last {
            true => Written::One(chunks.first),
            false => Written::Several([chunks.first, chunks.last]),
        }
    }
}

impl TryFrom<Written> for Chunks {
    type Error = String;

    fn try_from(written: Written) -> Result<Chunks, String> {
        match written {
            Written::One(chunk) => Ok((chunk..=chunk).into()),
            Written::Several([first, last]) if first < last => Ok((first..=last).into()),
            Written::Several([first, last]) => Err(format!("chunks {first} to {last} are none")),
        }
    }
}

impl fmt::Display for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "chunk {}", self.first),
            false => write!(f, "chunks {} to {}", self.first, self.last),
        }
    }
}

/// Converts a range of chunks with any kind of bounds to a half-open range.
pub(crate) fn half_open(chunks: impl RangeBounds<u32>) -> Range<u32> {
    let start = match chunks.start_bound() {
        Bound::Included(&first) => first,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match chunks.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => u32::MAX,
    };
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_touch_where_they_share_one() {
        let chunks = Chunks::from(2..=4);
        for (other, expected) in [
            (0..2, false),
            (0..3, true),
            (4..9, true),
            (5..9, false),
            (3..3, false),
        ] {
            assert_eq!(chunks.touch(&other), expected, "{other:?}");
        }
    }

    #[test]
    fn chunks_are_written_as_one_or_two_numbers() {
        for (chunks, text) in [(3..=3, "3"), (0..=7, "[0,7]")] {
            let chunks = Chunks::from(chunks);
            assert_eq!(serde_json::to_string(&chunks).unwrap(), text);
            assert_eq!(serde_json::from_str::<Chunks>(text).unwrap(), chunks);
        }
        for bad in ["[7,0]", "[3,3]", "-1", "\"3\"", "[1]", "null", "4294967296"] {
            assert!(serde_json::from_str::<Chunks>(bad).is_err(), "{bad}");
        }
    }
}
