//! Options of a catalog: where its indexes are, and how each is opened and written.

use crate::api::observed_crawl::ObservedCrawl;
use engine::Generations;
use index::IndexError;
use ingest::LiveOptions;
use std::sync::Arc;
use vfs::{SharedStorage, StorageFolder};

/// Opens the generations of an index by its name.
pub(super) type OpenIndex =
    dyn Fn(&str, SharedStorage) -> Result<Arc<Generations>, IndexError> + Send + Sync;

/// Returns what tells of the crawl that fills an index, by its name.
pub type ObserveCrawl = dyn Fn(&str) -> Arc<dyn ObservedCrawl> + Send + Sync;

/// Where the indexes of a catalog are, and how each is opened and written.
pub struct CatalogOptions {
    /// Folder of the indexes.
    pub folder: Arc<dyn StorageFolder>,
    /// How an index is opened.
    pub open: Box<OpenIndex>,
    /// Options of the writer of each index; `None` for a server that does not write.
    pub writing: Option<LiveOptions>,
    /// Whether newer generations, which other processes commit, are looked for.
    pub looks_for_newer: bool,
    /// Rate at which open files are verified again in the background, by one thread for all indexes, in bytes a second; 0
    /// verifies only changed files, `None` none.
    pub verify_bytes_per_s: Option<u64>,
    /// How the crawl of an index is observed.
    pub observe: Option<Box<ObserveCrawl>>,
}

impl CatalogOptions {
    /// Returns the options for the indexes of a folder that are not written to.
    pub fn new(folder: Arc<dyn StorageFolder>) -> CatalogOptions {
        CatalogOptions {
            folder,
            open: Box::new(|_, storage| Generations::open(storage)),
            writing: None,
            looks_for_newer: true,
            verify_bytes_per_s: None,
            observe: None,
        }
    }
}
