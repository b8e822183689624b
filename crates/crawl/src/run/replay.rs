//! Replay: an index from the archive alone. The slow twin of the collection that a crawl keeps.

use super::catch_up::{ArchiveReader, Replayed, configuration, take};
use super::reread::Rereader;
use super::setup::{now, opened_sites};
use super::state::LOCK_NAME;
use crate::collection::{Collection, Write};
use crate::error::CrawlError;
use crate::frontier::{Frontier, FrontierOptions};
use crate::indexing::{Committed, Indexing};
use index::BuildOptions;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Pages read again at a time.
const BATCH_PAGES: usize = 512;

/// Builds an index from the archive of the crawl in `storage`, without any request. Reports to `report`. Reads the archive
/// twice: what pages say of each other is known after the first time.
///
/// # Errors
/// No crawl; a running one; errors of the disk.
pub fn replay(
    storage: &SharedStorage,
    index: SharedStorage,
    build: BuildOptions,
    report: &mut dyn FnMut(&Replayed),
) -> Result<(Replayed, Committed), CrawlError> {
    let _lock = storage.lock(LOCK_NAME)?;
    let config = configuration(storage)?;
    let sites = opened_sites(&config, storage)?;
    let options = FrontierOptions::default();
    let (mut frontier, _) = Frontier::open(storage.clone(), options, now())?;
    // Facts of the crawl are not trusted.
    let facts: SharedStorage = Arc::new(MemoryStorage::new());
    let (mut collection, _) = Collection::open(facts, (0, 0))?;
    let mut reader = ArchiveReader {
        storage,
        frontier: &mut frontier,
        sites: &sites,
        product_token: config.product_token(),
    };
    let mut note = |found| take(&mut collection, found, &|_| None);
    let read = reader.read_from((0, 0), &mut note, report)?;
    let reader = Rereader {
        storage,
        sites: &sites,
        product_token: config.product_token(),
    };
    let again = collection.settle()?;
    let indexing = Indexing::start(index, build).map_err(CrawlError::Threads)?;
    let mut has_ended = false;
    for batch in again.chunks(BATCH_PAGES) {
        for (hash, read) in reader.read(&collection, batch)? {
            if let Some((document, templates)) = read {
                collection.read_again(hash, document, templates);
            }
        }
        for write in collection.take_writes() {
            if let Write::Add(document) = write {
                has_ended |= indexing.add(document.unpacked()).is_err();
            }
        }
    }
    let committed = indexing.commit();
    indexing.finish()?;
    match (committed, has_ended) {
        (Ok(committed), false) => Ok((read, committed)),
        _ => Err(CrawlError::Threads(std::io::Error::other(
            "the index thread ended",
        ))),
    }
}
