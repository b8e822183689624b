//! What can be asked of a search.

use crate::SearchError;
use search::{Operator, Ranking};
use std::time::Duration;

/// The most hits of one page.
pub const K_MAX: usize = 1_000;
/// The deepest hit that paging reaches.
pub const DEPTH_MAX: usize = 10_000;
/// The longest time that the page proposes; the front-end's own limit may be lower.
pub(crate) const TIMEOUT_SHOWN_MAX: Duration = Duration::from_secs(60);

/// Bytes that an answer may have, as JSON or as a page, by default.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchOptions {
    /// Hits of the page.
    pub k: usize,
    /// Hits before the page.
    pub start: usize,
    /// Hits of one site at most, over all pages; 0 is no limit.
    pub per_site: u32,
    /// How words stand to each other when the query does not say.
    pub operator: Operator,
    /// How documents are scored.
    pub ranking: Ranking,
    /// Whether hits say how their score came about.
    pub explain: bool,
    /// Whether all matches are counted.
    pub counted: bool,
    /// From arrival at the front-end to the answer; the front-end's own where `None`.
    pub timeout: Option<Duration>,
    /// Whether an answer may lack parts of the index, if it says so.
    pub partial: bool,
    /// Whether the answer says step by step where the time went.
    pub trace: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            k: 10,
            start: 0,
            per_site: 2,
            operator: Operator::default(),
            ranking: Ranking::default(),
            explain: false,
            counted: true,
            timeout: None,
            partial: true,
            trace: false,
        }
    }
}

impl SearchOptions {
    /// Refuses what no page can be made of.
    pub fn validate(&self) -> Result<(), SearchError> {
        if self.k > K_MAX {
            return Err(SearchError::BadRequest {
                parameter: "k",
                reason: format!(
                    "{} hits are too many for one page; ask for {K_MAX} at most and page with start",
                    self.k
                ),
            });
        }
        if self.start.saturating_add(self.k) > DEPTH_MAX {
            return Err(SearchError::BadRequest {
                parameter: "start",
                reason: format!(
                    "start + k is over {DEPTH_MAX}, as deep as paging goes; \
                     narrow the query, by more words or by site:NAME, instead"
                ),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_limited() {
        let deep = |start, k| {
            SearchOptions {
                start,
                k,
                ..Default::default()
            }
            .validate()
        };
        assert!(deep(9_000, 1_000).is_ok());
        assert!(deep(9_001, 1_000).is_err());
        assert!(deep(usize::MAX, 1).is_err());
        assert!(deep(0, 1_001).is_err());
    }
}
