//! Turns for large answers: a few run at a time, the others wait, and small ones pass them.
//!
//! A page of a thousand hits costs the CPU time of hundreds of ordinary ones, in searching, summaries
//! and rendering. A few hundred clients that request such pages would otherwise delay all others. Small
//! answers need no turn. The wait for a turn counts against the timeout of the search.

use crate::api::options::SearchOptions;
use engine::SearchError;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Upper limit on the hits of a small answer.
const SMALL_HITS_MAX: usize = 100;
/// Upper limit on the depth at which a small answer begins: all hits before it are searched too.
const SMALL_DEPTH_MAX: usize = 1_000;
/// Concurrent large answers, for each core.
const TURNS_OF_CORE: usize = 1;
/// Upper limit on waiting large answers, for each turn.
const WAITING_OF_TURN: usize = 32;

/// Turns of one front-end.
#[derive(Debug)]
pub(crate) struct Turns {
    free: Semaphore,
    /// Places for large answers that wait or have their turn.
    present: Semaphore,
    present_max: usize,
}

/// Turn of one large answer, released when dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _turn: SemaphorePermit<'a>,
    _present: SemaphorePermit<'a>,
}

impl Turns {
    /// Returns turns for a machine of `cores_count` cores.
    pub(crate) fn new(cores_count: usize) -> Turns {
        let turns_count = TURNS_OF_CORE * cores_count.max(1);
        let present_max = turns_count * (1 + WAITING_OF_TURN);
        Turns {
            free: Semaphore::new(turns_count),
            present: Semaphore::new(present_max),
            present_max,
        }
    }

    /// Waits for a turn, up to `timeout`; `None` if the answer needs none. The semaphore is fair: turns
    /// go in the order of arrival.
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
        // Neither semaphore is ever closed.
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
