//! Turns of large answers: a few at a time are made, the others wait, and small ones pass them.
//!
//! A page of a thousand hits takes the CPU of hundreds of ordinary ones, in searching, in summaries and in rendering. A few
//! hundred clients that ask for such pages, one after the other, would otherwise stand before everybody else. Small answers
//! need no turn. The time that a search waits for its turn is part of its timeout.

use crate::api::error::SearchError;
use crate::api::options::SearchOptions;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// An answer of more hits is large.
const SMALL_HITS_MAX: usize = 100;
/// So is one that begins deeper: all hits before it are searched for too.
const SMALL_DEPTH_MAX: usize = 1_000;
/// Large answers in work at once, for each core.
const TURNS_OF_CORE: usize = 1;
/// Large answers that may wait, for each in work.
const WAITING_OF_TURN: usize = 32;

/// The turns of one front-end.
#[derive(Debug)]
pub(crate) struct Turns {
    free: Semaphore,
    /// Those that wait or have their turn.
    present: Semaphore,
    present_max: usize,
}

/// The turn of one large answer.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _turn: SemaphorePermit<'a>,
    _present: SemaphorePermit<'a>,
}

impl Turns {
    /// Turns for a machine of `cores_count` cores.
    pub(crate) fn new(cores_count: usize) -> Turns {
        let turns_count = TURNS_OF_CORE * cores_count.max(1);
        let present_max = turns_count * (1 + WAITING_OF_TURN);
        Turns {
            free: Semaphore::new(turns_count),
            present: Semaphore::new(present_max),
            present_max,
        }
    }

    /// Waits for a turn, `timeout` at most; `None` where the answer needs none. The semaphore is fair: first come, first
    /// served.
    pub(crate) async fn take(
        &self,
        options: &SearchOptions,
        timeout: Duration,
    ) -> Result<Option<Turn<'_>>, SearchError> {
        let depth = options.start.saturating_add(options.k);
        if options.k <= SMALL_HITS_MAX && depth <= SMALL_DEPTH_MAX {
            return Ok(None);
        }
        let part = || "large answers of the front-end".to_owned();
        let overloaded = || SearchError::Overloaded {
            part: part(),
            waiting: self.present_max,
        };
        // Neither is ever closed.
        let present = self.present.try_acquire().map_err(|_| overloaded())?;
        match tokio::time::timeout(timeout, self.free.acquire()).await {
            Ok(turn) => Ok(Some(Turn {
                _turn: turn.map_err(|_| overloaded())?,
                _present: present,
            })),
            Err(_) => Err(SearchError::TimedOut { part: part() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_answers_wait_and_small_ones_pass() {
        let turns = Turns::new(1);
        let large = SearchOptions {
            k: SMALL_HITS_MAX + 1,
            ..SearchOptions::default()
        };
        let second = Duration::from_secs(1);
        let mut taken = Vec::new();
        for _ in 0..TURNS_OF_CORE {
            taken.push(turns.take(&large, second).await.unwrap().unwrap());
        }
        let late = turns.take(&large, second).await.unwrap_err();
        assert!(matches!(late, SearchError::TimedOut { .. }), "{late}");
        let small = turns.take(&SearchOptions::default(), second).await;
        assert!(small.unwrap().is_none());
        let waiting_max = TURNS_OF_CORE * WAITING_OF_TURN;
        let waiting = (0..=waiting_max).map(|_| turns.take(&large, second));
        let ended = futures_util::future::join_all(waiting).await;
        let is_refused = |one: &&Result<_, _>| matches!(one, Err(SearchError::Overloaded { .. }));
        assert_eq!(ended.iter().filter(is_refused).count(), 1);
        drop(ended);
        drop(taken);
        assert!(turns.take(&large, second).await.unwrap().is_some());
    }
}
