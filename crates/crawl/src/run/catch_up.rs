//! Collection and index from the archive: what a crash kept from them, or everything.
//!
//! The frontier decides: a record whose place is that of the URL's last answer is read if the URL should be known; a URL
//! that should not be in the index is deleted. So reading any part of the archive any number of times gives the same
//! collection.

use super::collect::is_withheld;
use super::crawl::Crawl;
use super::probe::text_of;
use super::reread::with_answer;
use crate::archive;
use crate::collection::{Collection, PageFacts};
use crate::config::{CrawlConfig, Sites};
use crate::error::CrawlError;
use crate::frontier::{Frontier, Source, State, WarcPlace};
use crate::reading::{self, ReadKind, Reading};
use std::collections::HashSet;
use vfs::SharedStorage;
use web::address::CanonicalUrl;
use web::warc::{Item, Kind, Reader, Record};

/// Result of reading the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Records read.
    pub records: u64,
    /// Pages read, which may be documents.
    pub documents: u64,
    /// Damaged places.
    pub damaged: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl Replayed {
    /// Returns the sum of both.
    pub(super) fn and(&self, other: &Replayed) -> Replayed {
        Replayed {
            records: self.records + other.records,
            documents: self.documents + other.documents,
            damaged: self.damaged + other.damaged,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Present meaning of an archived record.
pub(super) enum Found {
    Page(Box<Reading>, String, WarcPlace),
    Gone(String),
    Redirect(String, String),
    Probe(String, String),
}

/// Archive of a crawl, with the parts that reading it needs.
pub(super) struct ArchiveReader<'a> {
    pub(super) storage: &'a SharedStorage,
    pub(super) frontier: &'a mut Frontier,
    pub(super) sites: &'a Sites,
    pub(super) product_token: &'a str,
}

impl Crawl {
    /// Brings the index up to date with the visits acknowledged since the last commit of the index; with the whole
    /// archive where the log of facts is damaged.
    pub(super) fn catch_up(&mut self, is_whole: bool) -> Result<(), CrawlError> {
        let from = match is_whole {
            true => (self.state.indexed_file, self.state.indexed_bytes),
            false => (0, 0),
        };
        self.collection.distrust();
        if self.state.is_unsettled {
            self.collection.unsettle();
        }
        let mut reader = ArchiveReader {
            storage: &self.storage,
            frontier: &mut self.frontier,
            sites: &self.sites,
            product_token: self.config.product_token(),
        };
        let collection = &mut self.collection;
        let mut take = |found| {
            let new = |reading: &mut Reading| reading.document.take();
            take(collection, found, &new)
        };
        let read = reader.read_from(from, &mut take, &mut |_| {})?;
        if read.damaged > 0 {
            let told = format!(
                "{} damaged places in the archive were left out",
                read.damaged
            );
            self.progress.notice(told);
        }
        self.commit(self.collection.has_changed())
    }
}

/// Gives the collection the present meaning of a record; `document` chooses whether a page is written at once.
pub(super) fn take(
    collection: &mut Collection,
    found: Found,
    document: &dyn Fn(&mut Reading) -> Option<document::Document>,
) -> Result<(), CrawlError> {
    match found {
        Found::Page(mut reading, url, place) => {
            let facts = PageFacts::of(&url, &reading, place);
            let document = document(&mut reading);
            collection.page(&facts, document, 0)?;
        }
        Found::Gone(url) => collection.gone(&url)?,
        Found::Redirect(from, to) => collection.alias(&from, &to)?,
        Found::Probe(origin, text) => collection.probed(&origin, &text)?,
    }
    Ok(())
}

impl ArchiveReader<'_> {
    /// Reads the archive from a place on, and gives the present meaning of each record to `take`.
    pub(super) fn read_from(
        &mut self,
        (first, first_bytes): (u32, u64),
        take: &mut dyn FnMut(Found) -> Result<(), CrawlError>,
        report: &mut dyn FnMut(&Replayed),
    ) -> Result<Replayed, CrawlError> {
        let mut read = Replayed::default();
        let mut gone = HashSet::new();
        for number in archive::numbers(self.storage)? {
            if number < first {
                continue;
            }
            let start = if number == first { first_bytes } else { 0 };
            let bytes = archive::open(self.storage, number)?;
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
                if let Some(found) = self.found(&record, place, &mut gone) {
                    read.documents += u64::from(matches!(found, Found::Page(..)));
                    take(found)?;
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

    /// Returns the present meaning of a record, if it has one.
    fn found(
        &mut self,
        record: &Record,
        (file, offset): (u32, u64),
        gone: &mut HashSet<String>,
    ) -> Option<Found> {
        if !matches!(
            record.kind,
            Kind::Response | Kind::Conversion | Kind::Metadata
        ) {
            return None;
        }
        let url = record.uri.as_deref()?;
        let known = self.frontier.explain(url)?.record;
        let is_response = record.kind != Kind::Metadata;
        if known.source == Source::Probe {
            let url = CanonicalUrl::parse(url).ok()?;
            let reading = self.reading(record, known.source).filter(|_| is_response)?;
            let text = text_of(&reading).unwrap_or_default().to_owned();
            return Some(Found::Probe(url.origin().to_owned(), text));
        }
        if known.state == State::Moved && is_response {
            let to = location(record, url)?;
            let to = self.sites.cleaned(to).to_string();
            gone.insert(url.to_owned());
            return Some(Found::Redirect(url.to_owned(), to));
        }
        if !known.indexed && !is_withheld(known.state) {
            return gone
                .insert(url.to_owned())
                .then(|| Found::Gone(url.to_owned()));
        }
        let place = known.place?;
        let is_last = (place.file, place.offset_bytes) == (file, offset);
        let reading = self.reading(record, known.source);
        let reading = reading.filter(|_| is_last && is_response)?;
        (reading.kind == ReadKind::Page)
            .then(|| Found::Page(Box::new(reading), url.to_owned(), place))
    }

    fn reading(&self, record: &Record, source: Source) -> Option<Reading> {
        with_answer(record, source == Source::List, |answer| {
            reading::read(answer, self.sites, self.product_token, None)
        })
    }
}

/// Returns the target of a redirect.
fn location(record: &Record, url: &str) -> Option<CanonicalUrl> {
    let head = record.http()?;
    let url = CanonicalUrl::parse(url).ok()?;
    url.join(head.header("location")?).ok()
}

/// Returns the configuration of the last run.
pub fn configuration(storage: &SharedStorage) -> Result<CrawlConfig, CrawlError> {
    super::state::read_config(storage)?.ok_or_else(|| CrawlError::NoCrawl {
        path: storage.location(),
    })
}
