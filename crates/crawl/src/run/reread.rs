//! Pages read again from the archive, several at a time.

use super::archives::Archives;
use crate::collection::{Collection, PageFacts, templates_digest};
use crate::config::Sites;
use crate::error::CrawlError;
use crate::frontier::origin_of;
use crate::reading::{self, Answer};
use document::Document;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use vfs::Region;
use web::address::CanonicalUrl;
use web::page::HostTemplates;
use web::warc::{Item, Reader, Record};

/// Reader of archived pages.
pub(super) struct Rereader<'a> {
    pub(super) archives: &'a Archives<'a>,
    pub(super) sites: &'a Sites,
    pub(super) product_token: &'a str,
}

/// Page to read with the templates of its host.
struct Job {
    hash: u64,
    facts: PageFacts,
    templates: Option<Arc<HostTemplates>>,
}

/// Document of a page, and the digest of the blocks that templates took out of it; `None` where it cannot be read.
type Read = (u64, Option<(Document, u64)>);

impl Rereader<'_> {
    /// Reads pages of a collection again, in their order, on all processors.
    pub(super) fn read(
        &self,
        collection: &Collection,
        pages: &[u64],
    ) -> Result<Vec<Read>, CrawlError> {
        let mut files: HashMap<u32, Region> = HashMap::new();
        let mut jobs = Vec::with_capacity(pages.len());
        for &hash in pages {
            let Some(facts) = collection.facts(hash) else {
                continue;
            };
            let file = facts.place.file;
            if let std::collections::hash_map::Entry::Vacant(entry) = files.entry(file) {
                entry.insert(self.archives.open(file)?);
            }
            let origin = origin_of(&facts.url).unwrap_or_default();
            jobs.push(Job {
                hash,
                templates: collection.templates_of(origin),
                facts,
            });
        }
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let part = jobs.len().div_ceil(threads).max(1);
        let files = &files;
        let read = thread::scope(|scope| {
            let parts = jobs.chunks(part).map(|jobs| {
                scope.spawn(move || -> Vec<Read> {
                    let read = |job: &Job| (job.hash, self.read_job(job, files));
                    jobs.iter().map(read).collect()
                })
            });
            // All threads first, then their ends.
            let parts: Vec<_> = parts.collect();
            parts
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect::<Vec<_>>()
        });
        let mut all = Vec::with_capacity(jobs.len());
        for part in read {
            match part {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    }

    fn read_job(&self, job: &Job, files: &HashMap<u32, Region>) -> Option<(Document, u64)> {
        let place = job.facts.place;
        let from = usize::try_from(place.offset_bytes).ok()?;
        let end = from.checked_add(usize::try_from(place.length_bytes).ok()?)?;
        let bytes = files.get(&place.file)?.get(from..end)?;
        let Ok(Some(Item::Record(record))) = Reader::new(bytes).next() else {
            return None;
        };
        let templates = job.templates.as_deref();
        // What became a page was no list, whatever it was named as.
        let document = with_answer(&record, false, |answer| {
            reading::read_document(answer, self.sites, self.product_token, templates)
        })??;
        Some((
            document,
            templates_digest(&job.facts.shape.blocks, templates),
        ))
    }
}

/// Calls `with` with the answer of a response record; `None` for another record.
pub(super) fn with_answer<T>(
    record: &Record,
    is_named_list: bool,
    with: impl FnOnce(&Answer<'_>) -> T,
) -> Option<T> {
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
        is_named_list,
    };
    Some(with(&answer))
}
