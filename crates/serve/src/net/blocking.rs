//! Work on the I/O threads: what is long runs beside them, what is short on them.

use std::cell::Cell;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs blocking work. On an I/O thread, another thread takes over its other tasks meanwhile: handing
/// the work to a pool and back would cost two wake-ups for each query.
pub(crate) fn beside_io<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Searches of an I/O thread that follow each other, at most: then it reads what has arrived meanwhile, which waits in sockets,
/// where no limit counts it and no deadline is known.
const SEARCHES_MAX: u32 = 8;

thread_local! {
    /// Searches since the thread had nothing to read; `None` on threads that do not read requests.
    static SEARCHES: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Returns whether the calling thread may search itself, and counts the search.
pub(crate) fn may_search_here() -> bool {
    let Some(count) = SEARCHES.get() else {
        return true;
    };
    SEARCHES.set(Some(count.saturating_add(1)));
    count < SEARCHES_MAX
}

/// Notes that the calling thread reads requests, and has read all that have arrived.
pub(super) fn has_read_all() {
    SEARCHES.set(Some(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_reads_searches_a_few_times_until_it_has_read_all() {
        std::thread::spawn(|| {
            assert!((0..100).all(|_| may_search_here()));
            for _ in 0..2 {
                has_read_all();
                let searches = (0..100).filter(|_| may_search_here()).count();
                assert_eq!(searches, SEARCHES_MAX as usize);
            }
        })
        .join()
        .unwrap();
    }
}
