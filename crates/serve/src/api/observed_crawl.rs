//! Crawl that fills the index of a server: its figures, and the request to end.
//!
//! A trait, so that a server needs no crawler: the crawl is another process, and only its own crate knows its files.

use std::error::Error;
use wire::CrawlStatus;

/// Error of a question to a crawl; its message names file and remedy.
pub type CrawlFailure = Box<dyn Error + Send + Sync>;

/// Crawl of another process, in the directory of an index. Calls read and write files.
pub trait ObservedCrawl: Send + Sync {
    /// Returns the figures; `None` where no crawl ever began.
    fn status(&self) -> Result<Option<CrawlStatus>, CrawlFailure>;

    /// Asks the crawl to commit and end. Returns whether one runs.
    fn request_stop(&self) -> Result<bool, CrawlFailure>;
}
