//! Options of the frontier.
use super::key::url_hash;
use super::store::StoreOptions;
use crate::politeness::{Law, TrapDetector};
use crate::recrawl::RecrawlLaw;

/// Laws and sizes.
#[derive(Debug, Clone)]
pub struct FrontierOptions {
    /// Politeness law.
    pub law: Law,
    /// Recrawl law.
    pub recrawl: RecrawlLaw,
    /// Condition under which a path shape is parked.
    pub shapes: TrapDetector,
    /// Shape of a URL: the same for the pages of one generator. By default each URL has its own, so none is parked.
    pub shape: fn(&str) -> u64,
    /// Origins of our own.
    pub owned: Vec<String>,
    /// Sizes on disk.
    pub store: StoreOptions,
    /// URLs of a host in memory.
    pub queue_urls_max: usize,
    /// URLs of all hosts in memory; with many hosts each has fewer.
    pub queues_urls_max: usize,
    /// Records that a refill of a queue looks at, before it takes the best of them.
    pub refill_records_max: usize,
    /// Fingerprints of recently found URLs; a power of two. 8 bytes each.
    pub recent_urls_max: usize,
    /// Path shapes in memory.
    pub shapes_max: usize,
}

impl Default for FrontierOptions {
    fn default() -> FrontierOptions {
        FrontierOptions {
            law: Law::default(),
            recrawl: RecrawlLaw::default(),
            shapes: TrapDetector::default(),
            shape: url_hash,
            owned: Vec::new(),
            store: StoreOptions::default(),
            queue_urls_max: 100,
            queues_urls_max: 150_000,
            refill_records_max: 20_000,
            recent_urls_max: 1 << 19,
            shapes_max: 100_000,
        }
    }
}
