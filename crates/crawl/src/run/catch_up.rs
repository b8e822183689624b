//! Index from the archive: what a crash kept from the index, or everything.
//!
//! The frontier decides: a record whose place is that of the URL's last answer is indexed if the URL should be; a URL
//! that should not be in the index is deleted. So reading any part of the archive any number of times gives the same
//! index.

use super::crawl::Crawl;
use super::setup::{now, opened_sites};
use super::state::{LOCK_NAME, read_config};
use crate::archive;
use crate::config::{CrawlConfig, Sites};
use crate::error::CrawlError;
use crate::frontier::{Frontier, FrontierOptions};
use crate::indexing::{Committed, Indexing};
use crate::reading::{self, Answer};
use corpus::Document;
use index::BuildOptions;
use std::collections::HashSet;
use vfs::SharedStorage;
use web::address::CanonicalUrl;
use web::warc::{Item, Kind, Reader, Record};

/// Result of reading the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Records read.
    pub records: u64,
    /// Documents indexed.
    pub documents: u64,
    /// Damaged places.
    pub damaged: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// Change of the index that a record stands for.
enum Found {
    Document(Document),
    Delete(String),
}

impl Crawl {
    /// Brings the index up to date with what the frontier acknowledged since the last commit of the index.
    pub(super) fn catch_up(&mut self) -> Result<(), CrawlError> {
        let from = (self.state.indexed_file, self.state.indexed_bytes);
        let mut changes = Vec::new();
        let read = read_from(
            &self.storage,
            &mut self.frontier,
            from,
            &self.sites,
            self.config.product_token(),
            &mut |found| {
                changes.push(found);
                Ok(())
            },
            &mut |_| {},
        )?;
        if read.damaged > 0 {
            let told = format!(
                "{} damaged places in the archive were left out",
                read.damaged
            );
            self.progress.notice(told);
        }
        for change in changes {
            self.index(|indexing| match change {
                Found::Document(document) => indexing.add(document),
                Found::Delete(url) => indexing.delete(url),
            })?;
        }
        self.commit()
    }
}

/// Builds an index from the archive of the crawl in `storage`, without any request. Reports to `report`.
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
    let Some(config) = read_config(storage)? else {
        let path = storage.location();
        return Err(CrawlError::NoCrawl { path });
    };
    let sites = opened_sites(&config, storage)?;
    let options = FrontierOptions::default();
    let (mut frontier, _) = Frontier::open(storage.clone(), options, now())?;
    let indexing = Indexing::start(index, build).map_err(CrawlError::Threads)?;
    let read = {
        let mut change = |found| match found {
            Found::Document(document) => indexing.add(document),
            Found::Delete(_) => Ok(()),
        };
        read_from(
            storage,
            &mut frontier,
            (0, 0),
            &sites,
            config.product_token(),
            &mut change,
            report,
        )
    };
    let committed = indexing.commit();
    indexing.finish()?;
    let committed = committed.map_err(|_| CrawlError::NoCrawl {
        path: storage.location(),
    })?;
    Ok((read?, committed))
}

/// Reads the archive from a place on, and gives what each record stands for to `change`.
fn read_from(
    storage: &SharedStorage,
    frontier: &mut Frontier,
    (first, first_bytes): (u32, u64),
    sites: &Sites,
    product_token: &str,
    change: &mut dyn FnMut(Found) -> Result<(), crate::indexing::Ended>,
    report: &mut dyn FnMut(&Replayed),
) -> Result<Replayed, CrawlError> {
    let mut read = Replayed::default();
    let mut deleted = HashSet::new();
    for number in archive::numbers(storage)? {
        if number < first {
            continue;
        }
        let start = if number == first { first_bytes } else { 0 };
        let bytes = archive::open(storage, number)?;
        let Some(rest) = bytes.get(start as usize..) else {
            continue;
        };
        let mut reader = Reader::new(rest);
        while let Ok(Some(item)) = reader.next() {
            let Item::Record(record) = item else {
                read.damaged += 1;
                continue;
            };
            read.records += 1;
            let place = (number, start + record.place.offset);
            let found = found(&record, place, frontier, sites, product_token, &mut deleted);
            if let Some(found) = found {
                read.documents += u64::from(matches!(found, Found::Document(_)));
                if change(found).is_err() {
                    return Ok(read);
                }
            }
            report(&Replayed {
                bytes: read.bytes + reader.source_bytes(),
                ..read
            });
        }
        read.bytes += rest.len() as u64;
    }
    Ok(read)
}

/// Returns what a record stands for now, if it does.
fn found(
    record: &Record,
    (file, offset): (u32, u64),
    frontier: &mut Frontier,
    sites: &Sites,
    product_token: &str,
    deleted: &mut HashSet<String>,
) -> Option<Found> {
    if !matches!(record.kind, Kind::Response | Kind::Metadata) {
        return None;
    }
    let url = record.uri.as_deref()?;
    let known = frontier.explain(url)?.record;
    if !known.indexed {
        return deleted
            .insert(url.to_owned())
            .then(|| Found::Delete(url.to_owned()));
    }
    let place = known.place?;
    let is_last = (place.file, place.offset_bytes) == (file, offset);
    (is_last && record.kind == Kind::Response)
        .then(|| document_of(record, sites, product_token).map(Found::Document))?
}

/// Reads the document of a response record.
fn document_of(record: &Record, sites: &Sites, product_token: &str) -> Option<Document> {
    let url = CanonicalUrl::parse(record.uri.as_deref()?).ok()?;
    let head = record.http()?;
    let tags = head.headers.iter();
    let robots_tags: Vec<String> = tags
        .filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"))
        .map(|(_, value)| value.clone())
        .collect();
    let answer = Answer {
        url: &url,
        content_type: head.header("content-type"),
        robots_tags: &robots_tags,
        language: head.header("content-language"),
        body: &record.block[head.body_at..],
        now_s: record.date.map_or(0, |date| date.as_second()),
    };
    reading::read(&answer, sites, product_token).document
}

/// Returns the configuration of the last run.
pub fn configuration(storage: &SharedStorage) -> Result<CrawlConfig, CrawlError> {
    read_config(storage)?.ok_or_else(|| CrawlError::NoCrawl {
        path: storage.location(),
    })
}
