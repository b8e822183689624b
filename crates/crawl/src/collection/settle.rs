//! Settling: what all pages together say of each, and which documents change by it.
//!
//! Pages are taken in the order of their URLs, so that the outcome depends on their set alone. Reads all facts:
//! linear in the pages and their links, and therefore done when the pages have doubled, and at the end of a run.

use super::derived::{Derived, rounded};
use super::facts::PageFacts;
use super::links::{Node, Standing, standings};
use super::pages::Collection;
use super::parameters::learnt;
use crate::frontier::origin_of;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use vfs::StorageError;
use web::duplicates::Groups;
use web::page::{HostTemplates, TemplateOptions};
use xxhash_rust::xxh3::Xxh3Default;

/// Blocks of a host are templates from this number of pages, and this share of them, on.
const TEMPLATES: TemplateOptions = TemplateOptions {
    hashes_max: 4096,
    pages_min: 8,
    share_min: 0.4,
};
/// Pages from which on templates are learnt before pages are settled.
const LEARNT_PAGES_MIN: usize = 64;
/// Words from which on a text has near duplicates: the shapes of shorter ones say little.
const GROUP_WORDS_MIN: u32 = 20;

/// Returns the digest of the blocks of a page that are templates; 0 where none are.
pub(crate) fn templates_digest(blocks: &[u64], templates: Option<&HostTemplates>) -> u64 {
    let Some(templates) = templates else { return 0 };
    let mut hasher = Xxh3Default::new();
    let mut is_any = false;
    for block in blocks.iter().filter(|block| templates.is_template(**block)) {
        hasher.update(&block.to_le_bytes());
        is_any = true;
    }
    if is_any { hasher.digest().max(1) } else { 0 }
}

impl Collection {
    /// Origins with parameters of queries that never changed a text, when pages were last settled.
    pub(crate) fn learnt_parameters(&self) -> &[(String, String)] {
        &self.parameters
    }

    /// Whether enough pages changed to settle before the end of a run.
    pub(crate) fn is_settling_due(&self) -> bool {
        self.changed > 0 && self.changed >= self.settled_pages
    }

    /// Whether anything changed since pages were settled.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed > 0
    }

    /// Whether the pages have doubled since templates of hosts were learnt. Pages are read without templates until then,
    /// and read again when they are settled.
    pub(crate) fn is_learning_due(&self) -> bool {
        self.pages.len() >= (2 * self.learnt_pages).max(LEARNT_PAGES_MIN)
    }

    /// Learns the templates of hosts, for pages that are yet to be read.
    pub(crate) fn learn_templates(&mut self) -> Result<(), StorageError> {
        self.log.map()?;
        let (order, firsts) = self.ordered();
        self.templates = self.host_templates(&order, &firsts);
        self.learnt_pages = self.pages.len();
        Ok(())
    }

    /// Returns all pages in the order of their URLs, and for each the page that stands for its text.
    fn ordered(&self) -> (Vec<u64>, HashMap<u64, u64>) {
        let mut order: Vec<u64> = self.pages.keys().copied().collect();
        order.sort_unstable_by(|a, b| self.pages[a].url.cmp(&self.pages[b].url));
        let firsts = order.iter().map(|&hash| (hash, self.first_of(hash)));
        let firsts = firsts.collect();
        (order, firsts)
    }

    /// Computes the fields of documents that depend on other pages. Returns the pages whose documents have to be read
    /// again, in the order of their URLs.
    pub(crate) fn settle(&mut self) -> Result<Vec<u64>, StorageError> {
        self.log.map()?;
        let (order, firsts) = self.ordered();
        let templates = self.host_templates(&order, &firsts);
        let standings = self.standings(&order, &firsts);
        let groups = self.groups(&order, &firsts);
        self.templates = templates;
        self.derived.clear();
        // Pages whose stated address is believed since the page there was seen.
        for hash in order.iter().filter(|hash| firsts[hash] != **hash) {
            self.leave_out(*hash);
        }
        let mut again = Vec::new();
        self.duplicates = 0;
        for (&hash, standing) in order.iter().zip(standings) {
            let page = &self.pages[&hash];
            if !page.may_be_found || firsts[&hash] != hash {
                self.duplicates += u64::from(page.may_be_found);
                continue;
            }
            let derived = Derived {
                anchors: standing.anchors.join("\n"),
                inlinks: standing.inlinks,
                rank: rounded(standing.rank),
                group: groups.get(&hash).cloned(),
            };
            let Some(facts) = self.facts(hash) else {
                continue;
            };
            let templates = self.templates.get(origin(&page.url));
            let digest = templates_digest(&facts.shape.blocks, templates.map(|found| &**found));
            let is_current = match self.pending.templates(hash) {
                Some(pending) => pending == digest,
                None => page.settled == derived.hash(digest),
            };
            if !is_current {
                again.push(hash);
            }
            self.derived.insert(hash, derived);
        }
        let texts = order.iter().map(|hash| &self.pages[hash]);
        let texts = texts.filter(|page| page.may_be_found);
        self.parameters = learnt(texts.map(|page| (&*page.url, page.text_hash)));
        (self.changed, self.settled_pages) = (0, self.pages.len());
        self.learnt_pages = self.pages.len();
        self.awaiting.clear();
        Ok(again)
    }

    /// Takes the pages that have to be read again although nothing was settled.
    pub(crate) fn take_awaiting(&mut self) -> Result<Vec<u64>, StorageError> {
        let mut awaiting = std::mem::take(&mut self.awaiting);
        if awaiting.is_empty() {
            return Ok(awaiting);
        }
        self.log.map()?;
        awaiting.sort_unstable();
        awaiting.dedup();
        awaiting.retain(|&hash| {
            let page = self.pages.get(&hash);
            page.is_some_and(|page| page.may_be_found && page.settled == 0)
                && self.first_of(hash) == hash
                && !self.pending.adds(hash)
        });
        Ok(awaiting)
    }

    /// Returns the facts of a page, which were mapped by settling.
    pub(crate) fn facts(&self, hash: u64) -> Option<PageFacts> {
        PageFacts::decode(self.log.payload(self.pages.get(&hash)?.facts)?)
    }

    /// Takes the document of a page that was read again.
    pub(crate) fn read_again(&mut self, hash: u64, document: document::Document, templates: u64) {
        self.pending.add(hash, document, templates);
    }

    /// Blocks that recur on the pages of each host; duplicates do not count.
    fn host_templates(
        &self,
        order: &[u64],
        firsts: &HashMap<u64, u64>,
    ) -> HashMap<String, Arc<HostTemplates>> {
        let mut hosts: HashMap<&str, HostTemplates> = HashMap::new();
        for hash in order.iter().filter(|hash| firsts[hash] == **hash) {
            let Some(facts) = self
                .facts(*hash)
                .filter(|facts| !facts.shape.blocks.is_empty())
            else {
                continue;
            };
            let host = hosts.entry(origin(&self.pages[hash].url));
            let templates = host.or_insert_with(|| HostTemplates::new(TEMPLATES));
            templates.add_page(facts.shape.blocks);
        }
        let frequent = hosts.into_iter().filter_map(|(origin, counts)| {
            let templates = counts.into_templates();
            let is_any = templates.hashes_count() > 0;
            is_any.then(|| (origin.to_owned(), Arc::new(templates)))
        });
        frequent.collect()
    }

    /// Returns inlinks, rank and link texts of each page in `order`. Links to a duplicate are links to the page that
    /// stands for it.
    fn standings(&self, order: &[u64], firsts: &HashMap<u64, u64>) -> Vec<Standing> {
        let places: HashMap<u64, u32> = order.iter().copied().zip(0..).collect();
        let mut hosts: HashMap<&str, u32> = HashMap::new();
        let mut nodes = Vec::with_capacity(order.len());
        for hash in order {
            let next = hosts.len() as u32;
            let host = *hosts.entry(origin(&self.pages[hash].url)).or_insert(next);
            let links = self
                .facts(*hash)
                .map(|facts| facts.links)
                .unwrap_or_default();
            let known = links.into_iter().filter_map(|(target, text)| {
                let target = self.redirected(target);
                let place = places.get(firsts.get(&target)?)?;
                Some((*place, text))
            });
            nodes.push(Node {
                host,
                links: known.collect(),
            });
        }
        standings(&nodes)
    }

    /// Names of the groups of near duplicates, which have at least two pages, by page.
    fn groups(&self, order: &[u64], firsts: &HashMap<u64, u64>) -> HashMap<u64, String> {
        let mut groups = Groups::new();
        let mut members: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &hash in order.iter().filter(|hash| firsts[hash] == **hash) {
            let facts = self.facts(hash);
            let shape = facts
                .filter(|facts| facts.may_be_found)
                .map(|facts| facts.shape);
            if let Some(shape) = shape.filter(|shape| shape.words_count >= GROUP_WORDS_MIN) {
                members
                    .entry(groups.insert(shape.simhash))
                    .or_default()
                    .push(hash);
            }
        }
        let several = members.into_values().filter(|pages| pages.len() > 1);
        // Named by the first page, which a further member does not change unless its URL comes before.
        let named = several.flat_map(|pages| {
            let name = format!("{:016x}", pages[0]);
            pages.into_iter().map(move |page| (page, name.clone()))
        });
        named.collect()
    }
}

fn origin(url: &str) -> &str {
    origin_of(url).unwrap_or_default()
}
