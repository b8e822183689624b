//! Query log: one line for each request without a whole answer, with the number of the query.
//!
//! A server in trouble fails many requests, so only a few lines of each kind are warnings in a second;
//! the others have level `debug`. The text of a query is never logged, because it is private.

use engine::SearchError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::SearchAnswer;

/// Upper limit on the warnings of one kind within a second.
const WARNINGS_PER_S: u32 = 5;

/// Query log with a rate limit for each kind of failure.
#[derive(Debug, Default)]
pub(crate) struct QueryLog {
    refused: Limit,
    late: Limit,
    partial: Limit,
    failed: Limit,
}

/// Rate limit for the warnings of one kind.
#[derive(Debug, Default)]
struct Limit(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    warnings: u32,
    /// Lines below the level of a warning since the last warning.
    quiet: u64,
}

/// Logs a line at the level that the rate limit allows.
macro_rules! line {
    ($limit:expr, $($said:tt)*) => {
        match $limit.warns(Instant::now()) {
            Some(0) => tracing::warn!($($said)*),
            Some(more) => tracing::warn!(more, $($said)*),
            None => tracing::debug!($($said)*),
        }
    };
}

impl QueryLog {
    /// Logs the outcome of a query; `index` is the name of its index, where there are several.
    pub(crate) fn note(
        &self,
        query: u64,
        index: Option<&str>,
        ended: &Result<SearchAnswer, SearchError>,
    ) {
        let error = match ended {
            Ok(answer) if answer.degraded.is_empty() => return,
            Ok(answer) => {
                let coverage = answer.coverage;
                let first = &answer.degraded[0];
                let (lacks, chunks, reason) = (&first.lacks, &first.chunks, &first.message);
                let losses = answer.degraded.len();
                let times = &answer.phases_us;
                let (search_us, search_cpu_us, run_queue_us) =
                    (times.index_search, times.search_cpu, times.run_queue);
                line!(self.partial, query, index, coverage, losses, search_us, search_cpu_us, run_queue_us, %lacks, %chunks, %reason, "a partial answer");
                return;
            }
            Err(error) => error,
        };
        self.failed(query, index, error);
    }

    /// Logs the reason for which a query has no answer.
    pub(crate) fn failed(&self, query: u64, index: Option<&str>, error: &SearchError) {
        match error {
            // The reader of the request has reported it already.
            SearchError::BadRequest { .. } => {}
            SearchError::Overloaded { .. } => {
                line!(self.refused, query, index, %error, "refused: too much to do");
            }
            SearchError::TimedOut { .. } => {
                line!(self.late, query, index, %error, "no answer in time")
            }
            SearchError::Partial { .. } => {
                line!(self.partial, query, index, %error, "no answer: it would be partial");
            }
            SearchError::Index(_)
            | SearchError::Damaged { .. }
            | SearchError::GenerationGone { .. }
            | SearchError::Unavailable { .. } => {
                line!(self.failed, query, index, %error, "no answer")
            }
        }
    }
}

impl Limit {
    /// Returns the number of lines suppressed since the last warning if this line is a warning; `None`
    /// otherwise.
    fn warns(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |began| now.saturating_duration_since(began) >= Duration::from_secs(1);
        if window.began.is_none_or(is_over) {
            window.began = Some(now);
            window.warnings = 0;
        }
        if window.warnings == WARNINGS_PER_S {
            window.quiet += 1;
            return None;
        }
        window.warnings += 1;
        Some(std::mem::take(&mut window.quiet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_few_warnings_and_a_count() {
        let limit = Limit::default();
        let begun = Instant::now();
        let first: Vec<_> = (0..100).map(|_| limit.warns(begun)).collect();
        let warned = first.iter().flatten().count();
        assert_eq!(warned, WARNINGS_PER_S as usize);
        assert_eq!(first[0], Some(0));
        let later = begun + Duration::from_secs(1);
        assert_eq!(limit.warns(later), Some(100 - u64::from(WARNINGS_PER_S)));
        assert_eq!(limit.warns(later), Some(0));
    }
}
