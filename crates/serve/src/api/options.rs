//! Options of a search, and the limits of the page's form.

use engine::BadRequest;
pub use engine::SearchOptions;
use std::time::Duration;

/// Upper limit on the size of a page, in hits.
pub const K_MAX: usize = 1_000;
/// Upper limit on the rank that paging reaches.
pub const DEPTH_MAX: usize = 10_000;
/// Default limit of an answer, as JSON or as a page, in bytes.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Longest timeout that the page offers; the front-end's own limit may be lower.
pub(crate) const TIMEOUT_SHOWN_MAX: Duration = Duration::from_secs(60);

/// Refuses pages that are too large or too deep for a server.
pub(crate) fn validate(options: &SearchOptions) -> Result<(), BadRequest> {
    if options.k > K_MAX {
        return Err(BadRequest {
            parameter: "k",
            reason: format!(
                "{} hits are too many for one page; ask for {K_MAX} at most and page with start",
                options.k
            ),
        });
    }
    if options.start.saturating_add(options.k) > DEPTH_MAX {
        return Err(BadRequest {
            parameter: "start",
            reason: format!(
                "start + k is over {DEPTH_MAX}, as deep as paging goes; \
                 narrow the query, by more words or by site:NAME, instead"
            ),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_limited() {
        let deep = |start, k| {
            validate(&SearchOptions {
                start,
                k,
                ..Default::default()
            })
        };
        assert!(deep(9_000, 1_000).is_ok());
        assert!(deep(9_001, 1_000).is_err());
        assert!(deep(usize::MAX, 1).is_err());
        assert!(deep(0, 1_001).is_err());
    }
}
