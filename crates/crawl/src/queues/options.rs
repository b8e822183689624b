//! Sizes of the queues.
use crate::frontier::StoreOptions;

/// Options of [`super::Queues`]. Tests shrink them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuesOptions {
    /// Sizes of the store.
    pub store: StoreOptions,
    /// URLs of a queue that are kept in memory by due time, if it has no more than 32 times as many.
    pub window_urls: usize,
}

impl Default for QueuesOptions {
    fn default() -> QueuesOptions {
        QueuesOptions {
            store: StoreOptions::default(),
            window_urls: 256,
        }
    }
}
