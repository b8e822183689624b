//! Crawl in the directory of an index, for the server of the index.

use super::folder::{crawl_folder, existing_crawl};
use crawl::{CrawlStatus, is_running, request_stop, status_of};
use serve::{CrawlFailure, ObservedCrawl};
use std::path::PathBuf;

/// Crawl of a directory, which may begin at any time.
pub(in crate::commands) struct DirectoryCrawl(pub(in crate::commands) PathBuf);

impl ObservedCrawl for DirectoryCrawl {
    fn status(&self) -> Result<Option<CrawlStatus>, CrawlFailure> {
        if !crawl_folder(&self.0).is_dir() {
            return Ok(None);
        }
        Ok(Some(status_of(&existing_crawl(&self.0)?)?))
    }

    fn request_stop(&self) -> Result<bool, CrawlFailure> {
        let storage = existing_crawl(&self.0)?;
        let is_running = is_running(&storage)?;
        if is_running {
            request_stop(&storage)?;
        }
        Ok(is_running)
    }
}
