//! Reloads of one server: one at a time, off the threads that read requests, shared by all waiting
//! callers.
//!
//! ```text
//! ask ─┬─ none under way ─────► run ─► result
//!      └─ one under way ─► wait ─► the next one runs for all that came meanwhile
//! ```
//!
//! Invariant: a result is never older than its call. A reload under way may have looked for a newer
//! generation already, so a caller that arrives during it shares the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Generation served after a reload, or the error that kept the previous one.
pub(crate) type Reloaded<E> = Result<u64, Arc<E>>;

/// Reloads of one server.
pub(crate) struct Reloads<E> {
    begun: AtomicU64,
    /// Number and result of the last reload; locked while one runs.
    last: Mutex<Option<(u64, Reloaded<E>)>>,
}

impl<E> Default for Reloads<E> {
    fn default() -> Self {
        Reloads {
            begun: AtomicU64::new(0),
            last: Mutex::new(None),
        }
    }
}

impl<E: Send + Sync + 'static> Reloads<E> {
    /// Runs `reload` on a thread of its own, or shares the result of one that begins after this call. The
    /// reload goes on if the caller stops waiting. `lost` is the error for a thread that panics or cannot be started.
    pub(crate) async fn run(
        self: &Arc<Self>,
        reload: impl FnOnce() -> Result<u64, E> + Send + 'static,
        lost: impl FnOnce() -> E + Send + 'static,
    ) -> Reloaded<E> {
        let asked = self.begun.load(Ordering::SeqCst);
        let reloads = Arc::clone(self);
        let running = tokio::spawn(async move {
            let mut last = reloads.last.lock().await;
            if let Some((number, result)) = &*last
                && *number > asked
            {
                return result.clone();
            }
            let number = reloads.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let result = match in_background(reload).await {
                Some(result) => result.map_err(Arc::new),
                None => Err(Arc::new(lost())),
            };
            *last = Some((number, result.clone()));
            result
        });
        match running.await {
            Ok(result) => result,
            // The task cannot panic, and only the end of the runtime aborts it.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Runs `work` on a thread that leaves its CPU to searches; `None` where it panics or no thread can be started.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("reload".to_owned());
    let started = thread.spawn(move || {
        vfs::platform::thread::lower_priority();
        // Nobody may be waiting any more.
        let _ = done.send(work());
    });
    started.ok()?;
    result.await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[tokio::test(flavor = "current_thread")]
    async fn those_who_come_meanwhile_share_the_next_one() {
        let reloads: Arc<Reloads<String>> = Arc::default();
        let runs = Arc::new(AtomicU64::new(0));
        let (go_on, held) = mpsc::channel::<()>();
        let first = {
            let (reloads, runs) = (reloads.clone(), runs.clone());
            tokio::spawn(async move {
                let run = move || {
                    held.recv().unwrap();
                    Ok(runs.fetch_add(1, Ordering::SeqCst) + 1)
                };
                reloads.run(run, String::new).await
            })
        };
        while reloads.begun.load(Ordering::SeqCst) == 0 {
            // The thread of this test is free meanwhile, so the reload does not run on it.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let others: Vec<_> = (0..20)
            .map(|_| {
                let (reloads, runs) = (reloads.clone(), runs.clone());
                let run = move || Ok(runs.fetch_add(1, Ordering::SeqCst) + 1);
                tokio::spawn(async move { reloads.run(run, String::new).await })
            })
            .collect();
        // All callers have called before the first reload ends.
        tokio::task::yield_now().await;
        go_on.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(1));
        for other in others {
            assert_eq!(other.await.unwrap(), Ok(2));
        }
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_no_end() {
        let reloads: Arc<Reloads<String>> = Arc::default();
        let lost = || "lost".to_owned();
        let failed = reloads.run(|| panic!("on purpose"), lost).await;
        assert_eq!(failed, Err(Arc::new("lost".to_owned())));
        assert_eq!(reloads.run(|| Ok(7), lost).await, Ok(7));
    }
}
