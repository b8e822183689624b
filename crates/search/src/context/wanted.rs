//! Results of a search: hits, their count, or both.

/// The results that a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Hits,
    HitsAndCount,
    Count,
}

impl Wanted {
    pub(crate) fn is_counted(self) -> bool {
        self != Wanted::Hits
    }
    pub(crate) fn has_hits(self) -> bool {
        self != Wanted::Count
    }
}
