//! Log of requests that did not end with a whole answer: one line for each, with the number of the query.
//!
//! A server in trouble has trouble with every request: of each kind a few lines a second are warnings, the
//! others are there for who asks for `debug`. What was typed is never logged: it is its author's business.

use crate::api::error::SearchError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::SearchAnswer;

/// Warnings of one kind within a second.
const WARNINGS_PER_S: u32 = 5;

/// The log of requests that went wrong.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    refused: Limit,
    late: Limit,
    partial: Limit,
    failed: Limit,
}

/// How many warnings of a kind there were of late.
#[derive(Debug, Default)]
struct Limit(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    warnings: u32,
    /// Lines that were no warnings, since the last that was.
    quiet: u64,
}

/// A line of some level.
macro_rules! line {
    ($limit:expr, $($said:tt)*) => {
        match $limit.warns(Instant::now()) {
            Some(0) => tracing::warn!($($said)*),
            Some(more) => tracing::warn!(more, $($said)*),
            None => tracing::debug!($($said)*),
        }
    };
}

impl Journal {
    /// Notes how a query ended.
    pub(crate) fn note(&self, query: u64, ended: &Result<SearchAnswer, SearchError>) {
        let error = match ended {
            Ok(answer) if answer.degraded.is_empty() => return,
            Ok(answer) => {
                let coverage = answer.coverage;
                let first = &answer.degraded[0];
                let (lacks, chunks, reason) = (&first.lacks, &first.chunks, &first.message);
                let losses = answer.degraded.len();
                line!(self.partial, query, coverage, losses, %lacks, %chunks, %reason, "a partial answer");
                return;
            }
            Err(error) => error,
        };
        self.failed(query, error);
    }

    /// Notes why a query got no answer.
    pub(crate) fn failed(&self, query: u64, error: &SearchError) {
        match error {
            // It was told where it was read.
            SearchError::BadRequest { .. } => {}
            SearchError::Overloaded { .. } => {
                line!(self.refused, query, %error, "refused: too much to do");
            }
            SearchError::TimedOut { .. } => line!(self.late, query, %error, "no answer in time"),
            SearchError::Partial { .. } => {
                line!(self.partial, query, %error, "no answer: it would be partial");
            }
            SearchError::Index(_)
            | SearchError::Damaged { .. }
            | SearchError::GenerationGone { .. }
            | SearchError::Unavailable { .. } => line!(self.failed, query, %error, "no answer"),
        }
    }
}

impl Limit {
    /// Whether a line is a warning, and how many before it were none; `None` where it is not one either.
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
