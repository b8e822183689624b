//! What the front-ends of a process have in common, whatever their indexes: limits, cache, numbers of queries and log.

use crate::front_end::cache::Cache;
use crate::front_end::options::FrontEndOptions;
use crate::front_end::query_log::QueryLog;
use crate::telemetry::CacheFigures;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Semaphore;

/// Limits, cache, numbers of queries and log of the front-ends of a process.
pub(crate) struct Shared {
    pub(super) options: FrontEndOptions,
    pub(super) admitted: Semaphore,
    pub(super) cache: Option<Cache>,
    query_ids: AtomicU64,
    pub(super) query_log: QueryLog,
}

impl Shared {
    pub(crate) fn new(options: FrontEndOptions) -> Shared {
        Shared {
            admitted: Semaphore::new(options.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            cache: (options.cache_bytes > 0).then(|| Cache::new(options.cache_bytes)),
            options,
            query_ids: AtomicU64::new(1),
            query_log: QueryLog::default(),
        }
    }

    /// Returns the counters of the result cache; `None` without one.
    pub(crate) fn cache_figures(&self) -> Option<CacheFigures> {
        self.cache.as_ref().map(Cache::figures)
    }

    /// Returns the number of the next query.
    pub(super) fn next_query(&self) -> u64 {
        self.query_ids.fetch_add(1, Ordering::Relaxed)
    }
}
