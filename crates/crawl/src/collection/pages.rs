//! Pages of a collection by their URLs and their texts, as the log of facts tells them.

use super::derived::Derived;
use super::duplicates::{Texts, preference};
use super::entries::{ALIAS, GONE, PAGE, PROBE, Page, SETTLED, read_entry};
use super::facts::PageFacts;
use super::log::FactsLog;
use super::pending::Pending;
use crate::bytes::put_bytes;
use crate::frontier::{origin_of, url_hash};
use document::Document;
use std::collections::HashMap;
use std::sync::Arc;
use vfs::{SharedStorage, StorageError};
use web::page::HostTemplates;

/// Files of the log from which on they are rewritten as one.
const FILES_MAX: usize = 8;

/// Pages of a crawl.
pub(crate) struct Collection {
    pub(super) log: FactsLog,
    pub(super) pages: HashMap<u64, Page>,
    pub(super) texts: Texts,
    /// Targets of redirects.
    pub(super) aliases: HashMap<u64, u64>,
    /// Text of the answer 200 for a path that does not exist, by origin; empty where the origin answers with an error
    /// status.
    pub(super) probes: HashMap<String, Arc<str>>,
    pub(super) templates: HashMap<String, Arc<HostTemplates>>,
    /// Pages when templates were last learnt.
    pub(super) learnt_pages: usize,
    pub(super) derived: HashMap<u64, Derived>,
    pub(super) pending: Pending,
    /// Pages that stand for their text since another does not, and have to be read again.
    pub(super) awaiting: Vec<u64>,
    /// Pages that changed since pages were settled, and pages then.
    pub(super) changed: usize,
    pub(super) settled_pages: usize,
    pub(super) duplicates: u64,
    pub(super) parameters: Vec<(String, String)>,
    /// Whether the index may be behind or ahead of the log: between a crash and the commit after it.
    pub(super) distrusted: bool,
}

impl Collection {
    /// Opens the collection. The second value tells whether the log has everything up to `end`, its place at the last
    /// commit; otherwise the archive has to be read from its begin.
    pub(crate) fn open(
        storage: SharedStorage,
        end: (u32, u64),
    ) -> Result<(Collection, bool), StorageError> {
        let mut pages = HashMap::new();
        let mut aliases = HashMap::new();
        let mut probes = HashMap::new();
        let (log, ends) = FactsLog::open(storage, &mut |place, (kind, payload)| {
            let _ = read_entry(
                kind,
                payload,
                place,
                (&mut pages, &mut aliases, &mut probes),
            );
        })?;
        let is_whole = ends
            .iter()
            .any(|(file, bytes)| *file == end.0 && *bytes >= end.1)
            || end == (0, 0) && ends.is_empty();
        let mut collection = Collection {
            log,
            pages,
            texts: Texts::default(),
            aliases,
            probes,
            templates: HashMap::new(),
            learnt_pages: 0,
            derived: HashMap::new(),
            pending: Pending::default(),
            awaiting: Vec::new(),
            changed: 0,
            settled_pages: 0,
            duplicates: 0,
            parameters: Vec::new(),
            distrusted: false,
        };
        for (&hash, page) in &collection.pages {
            collection.texts.insert(page.text_hash, hash);
        }
        if ends.len() > FILES_MAX {
            collection.rewrite()?;
        }
        Ok((collection, is_whole))
    }

    /// Notes a page that was fetched. `document` is the one to write, if the index needs it again; `templates` is the
    /// digest of what templates took out of it.
    pub(crate) fn page(
        &mut self,
        facts: &PageFacts,
        document: Option<Document>,
        templates: u64,
    ) -> Result<(), StorageError> {
        let hash = url_hash(&facts.url);
        let mut payload = Vec::with_capacity(512);
        facts.encode(&mut payload);
        let place = self.log.append(PAGE, &payload)?;
        self.changed += 1;
        self.aliases.remove(&hash);
        let mut page = Page::of(facts, place);
        if let Some(before) = self.pages.remove(&hash) {
            page.settled = before.settled;
            self.leave(before.text_hash, hash);
        }
        self.texts.insert(page.text_hash, hash);
        let may_be_found = page.may_be_found;
        self.pages.insert(hash, page);
        let first = self.first_of(hash);
        if !may_be_found || first != hash {
            self.leave_out(hash);
            self.await_if_missing(first);
            return Ok(());
        }
        match document {
            Some(document) => self.pending.add(hash, document, templates),
            None => self.await_if_missing(hash),
        }
        for other in self.texts.pages(facts.text_hash).to_vec() {
            if other != hash && self.first_of(other) == hash {
                self.leave_out(other);
            }
        }
        Ok(())
    }

    /// Notes that there is no page at a URL any more.
    pub(crate) fn gone(&mut self, url: &str) -> Result<(), StorageError> {
        let hash = url_hash(url);
        let page = self.pages.remove(&hash);
        if page.is_none() && !self.distrusted {
            return Ok(());
        }
        self.changed += 1;
        self.log.append(GONE, &hash.to_le_bytes())?;
        self.pending.delete(hash, url);
        if let Some(page) = page {
            self.leave(page.text_hash, hash);
        }
        Ok(())
    }

    /// Notes that links to one URL are links to another: it redirects there.
    pub(crate) fn alias(&mut self, from: &str, to: &str) -> Result<(), StorageError> {
        let (from, to) = (url_hash(from), url_hash(to));
        if from == to || self.aliases.insert(from, to) == Some(to) {
            return Ok(());
        }
        self.changed += 1;
        let payload = [from.to_le_bytes(), to.to_le_bytes()].concat();
        self.log.append(ALIAS, &payload).map(drop)
    }

    /// Notes the answer of an origin for a path that does not exist; an empty text for one that tells so.
    pub(crate) fn probed(&mut self, origin: &str, text: &str) -> Result<(), StorageError> {
        let mut payload = Vec::new();
        put_bytes(&mut payload, origin.as_bytes());
        put_bytes(&mut payload, text.as_bytes());
        self.probes.insert(origin.to_owned(), text.into());
        self.log.append(PROBE, &payload).map(drop)
    }

    /// Returns the text with which an origin answers for missing pages; empty where it answers with an error status,
    /// `None` where it was not probed.
    pub(crate) fn probe_of(&self, origin: &str) -> Option<&Arc<str>> {
        self.probes.get(origin)
    }

    /// Returns the templates of a host, once there are any.
    pub(crate) fn templates_of(&self, origin: &str) -> Option<Arc<HostTemplates>> {
        self.templates.get(origin).cloned()
    }

    /// Returns the URL that stands for the text of a page, if it is another.
    pub(crate) fn represented_by(&self, url: &str) -> Option<&str> {
        let hash = url_hash(url);
        let first = self.first_of(hash);
        (first != hash).then(|| &*self.pages[&first].url)
    }

    /// Whether another page of the host of `url` has a text.
    pub(crate) fn is_repeated(&self, url: &str, text: u128) -> bool {
        let (hash, origin) = (url_hash(url), origin_of(url));
        let pages = self.texts.pages(text).iter();
        let others = pages.filter(|other| **other != hash);
        let mut others = others.filter_map(|other| self.pages.get(other));
        others.any(|other| origin_of(&other.url) == origin)
    }

    /// Pages that are not in the index because another has the same text, when pages were last settled.
    pub(crate) fn duplicates_count(&self) -> u64 {
        self.duplicates
    }

    /// Settles pages although none changed since: they were not settled before the end of the last run.
    pub(crate) fn unsettle(&mut self) {
        self.changed += 1;
    }

    /// Notes that the index may differ from the log until the next commit.
    pub(crate) fn distrust(&mut self) {
        self.distrusted = true;
    }

    /// Makes the facts durable. Returns their place, for [`Collection::open`].
    pub(crate) fn sync(&mut self) -> Result<(u32, u64), StorageError> {
        self.log.sync()?;
        Ok(self.log.end())
    }

    /// Makes everything durable and ends the file of the log.
    pub(crate) fn close(&mut self) -> Result<(), StorageError> {
        self.log.close()
    }

    /// Returns the page that stands for the text of `hash`: itself, unless it states another address, which is believed, or
    /// others have the text. A page that states another one stands for none.
    pub(super) fn first_of(&self, hash: u64) -> u64 {
        let hash = self.stands_for(hash);
        let Some(page) = self.pages.get(&hash).filter(|page| page.has_text) else {
            return hash;
        };
        let same = self.texts.pages(page.text_hash).iter();
        let with_text = same.filter_map(|hash| Some((hash, self.pages.get(hash)?)));
        let with_text = with_text.filter(|(_, page)| page.has_text);
        let with_text = with_text.filter(|(hash, _)| self.stands_for(**hash) == **hash);
        let first = with_text.min_by_key(|(_, page)| preference(&page.url));
        first.map_or(hash, |(hash, _)| *hash)
    }

    /// Takes a page from those of a text; the next one stands for it.
    fn leave(&mut self, text: u128, hash: u64) {
        self.texts.remove(text, hash);
        if let Some(&other) = self.texts.pages(text).first() {
            self.await_if_missing(self.first_of(other));
        }
    }

    /// Deletes the document of a page that stays in the collection.
    pub(super) fn leave_out(&mut self, hash: u64) {
        let Some(page) = self.pages.get_mut(&hash) else {
            return;
        };
        if page.settled != 0 || self.distrusted || self.pending.has(hash) {
            self.pending.delete(hash, &page.url);
            page.settled = 0;
        }
    }

    /// Reads a page again at the next commit if the index does not have it.
    fn await_if_missing(&mut self, hash: u64) {
        let page = self.pages.get(&hash);
        let is_missing = page.is_some_and(|page| page.may_be_found && page.settled == 0);
        if is_missing && !self.pending.adds(hash) {
            self.awaiting.push(hash);
        }
    }

    /// Writes the log again without replaced entries.
    fn rewrite(&mut self) -> Result<(), StorageError> {
        let Collection {
            log,
            pages,
            aliases,
            probes,
            ..
        } = self;
        let mut kept: Vec<(u64, Vec<u8>)> = Vec::with_capacity(pages.len());
        for (&hash, page) in pages.iter() {
            kept.push((hash, log.payload(page.facts).unwrap_or_default().to_vec()));
        }
        log.rewrite(&mut |log| {
            for (hash, payload) in &kept {
                let Some(page) = pages.get_mut(hash) else {
                    continue;
                };
                page.facts = log.append(PAGE, payload)?;
                let settled = [hash.to_le_bytes(), page.settled.to_le_bytes()].concat();
                log.append(SETTLED, &settled)?;
            }
            for (from, to) in aliases.iter() {
                log.append(ALIAS, &[from.to_le_bytes(), to.to_le_bytes()].concat())?;
            }
            for (origin, text) in probes.iter() {
                let mut payload = Vec::new();
                put_bytes(&mut payload, origin.as_bytes());
                put_bytes(&mut payload, text.as_bytes());
                log.append(PROBE, &payload)?;
            }
            Ok(())
        })
    }
}
