//! Options of front-ends.

use crate::addresses::AddressOptions;
use crate::api::options::{ANSWER_BYTES_MAX, SearchOptions};
use std::time::Duration;

/// Options of a front-end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontEndOptions {
    /// Default timeout of a query, and its upper limit.
    pub timeout: Duration,
    /// Upper limit on concurrent queries; more are refused.
    pub concurrency: usize,
    /// Size of the result cache, in bytes; 0 switches it off.
    pub cache_bytes: usize,
    /// Upper limit on one answer, in bytes.
    pub answer_bytes_max: usize,
    /// Whether scores are explained on request.
    pub explain: bool,
    /// Whether the steps of a query are traced on request.
    pub trace: bool,
    /// How addresses of documents are shown, and which files are sent.
    pub addresses: AddressOptions,
}

impl Default for FrontEndOptions {
    fn default() -> Self {
        FrontEndOptions {
            timeout: Duration::from_secs(10),
            concurrency: 1024,
            cache_bytes: 0,
            answer_bytes_max: ANSWER_BYTES_MAX,
            explain: true,
            trace: true,
            addresses: AddressOptions::default(),
        }
    }
}

impl FrontEndOptions {
    /// Returns the timeout of a query: its own, up to the limit of the front-end.
    pub(super) fn timeout_of(&self, options: &SearchOptions) -> Duration {
        let named = options.timeout.unwrap_or(self.timeout);
        named.min(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_query_gets_more_time_than_the_server_allows() {
        let server = FrontEndOptions {
            timeout: Duration::from_secs(2),
            ..FrontEndOptions::default()
        };
        let timeout_of = |timeout| {
            server.timeout_of(&SearchOptions {
                timeout,
                ..SearchOptions::default()
            })
        };
        assert_eq!(timeout_of(None), Duration::from_secs(2));
        assert_eq!(
            timeout_of(Some(Duration::from_secs(1))),
            Duration::from_secs(1)
        );
        assert_eq!(
            timeout_of(Some(Duration::from_secs(3_600))),
            Duration::from_secs(2)
        );
    }
}
