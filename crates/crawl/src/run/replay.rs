//! Replay: an index from the archive alone. The slow twin of the collection that a crawl keeps.

use super::archives::Archives;
use super::catch_up::{ArchiveReader, Found, Replayed, configuration, take};
use super::reread::Rereader;
use super::setup::{build_options, members_of, now, sites_of_all};
use super::state::LOCK_NAME;
use crate::collection::{Collection, Write};
use crate::config::CrawlConfig;
use crate::error::CrawlError;
use crate::frontier::{Frontier, FrontierOptions};
use crate::indexing::{Committed, Indexing};
use index::BuildOptions;
use std::collections::HashSet;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Pages read again at a time.
const BATCH_PAGES: usize = 512;

/// Builds an index from the archives of the crawls in `storages`, the folders of the members of one crawl, without any
/// request: the index that one process would have made of all their pages. Reports to `report`. Reads the archives twice:
/// what pages say of each other is known after the first time.
///
/// # Errors
/// No crawl; a running one; folders of different crawls; errors of the disk.
pub fn replay(
    storages: &[SharedStorage],
    index: SharedStorage,
    build: BuildOptions,
    report: &mut dyn FnMut(&Replayed),
) -> Result<(Replayed, Committed), CrawlError> {
    let locks = storages.iter().map(|storage| storage.lock(LOCK_NAME));
    let _locks = locks.collect::<Result<Vec<_>, _>>()?;
    let config = common_configuration(storages)?;
    let sites = sites_of_all(&config, storages)?;
    // Facts of the crawl are not trusted.
    let facts: SharedStorage = Arc::new(MemoryStorage::new());
    let (mut collection, _) = Collection::open(facts, (0, 0))?;
    let archives = Archives::of_all(storages)?;
    let mut all = Replayed::default();
    for (part, storage) in storages.iter().enumerate() {
        let options = FrontierOptions::default();
        let (mut frontier, _) = Frontier::open(storage.clone(), options, now())?;
        let mut reader = ArchiveReader {
            storage,
            frontier: &mut frontier,
            sites: &sites,
            product_token: config.product_token(),
        };
        let mut note = |found| {
            let found = match found {
                Found::Page(reading, url, place) => {
                    Found::Page(reading, url, archives.placed(part, place))
                }
                other => other,
            };
            take(&mut collection, found, &|_| None)
        };
        let before = all;
        let read = reader.read_from((0, 0), &mut note, &mut |read| report(&before.and(read)))?;
        all = before.and(&read);
    }
    let reader = Rereader {
        archives: &archives,
        sites: &sites,
        product_token: config.product_token(),
    };
    let again = collection.settle()?;
    let build = build_options(&config, build);
    let indexing = Indexing::start(index, build)?;
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
        (Ok(committed), false) => Ok((all, committed)),
        _ => Err(CrawlError::Threads(std::io::Error::other(
            "the index thread ended",
        ))),
    }
}

/// Returns the common configuration of folders. Several folders must be those of different members of one crawl.
fn common_configuration(storages: &[SharedStorage]) -> Result<CrawlConfig, CrawlError> {
    let mut first = None;
    let mut seen = HashSet::new();
    for storage in storages {
        let config = configuration(storage)?;
        let (members, member) = members_of(storage)?;
        let (of_all, _) = first.get_or_insert_with(|| (members.clone(), config));
        if *of_all != members || !seen.insert(member.clone()) {
            let told = |names: &[String]| match names.is_empty() {
                true => "no members".to_owned(),
                false => format!("the members {}", names.join(", ")),
            };
            return Err(CrawlError::OtherMember {
                path: storage.location(),
                found: format!("{} of {}", member.unwrap_or_default(), told(&members)),
                asked: format!("another one of {}", told(of_all)),
            });
        }
    }
    let none = || CrawlError::NoMember("no folder of a crawl is given".to_owned());
    first.map(|(_, config)| config).ok_or_else(none)
}
