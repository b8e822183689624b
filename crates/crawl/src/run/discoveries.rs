//! Discoveries: URLs of links, sitemaps and redirects that are within the crawl go to the frontier.

use super::crawl::Crawl;
use crate::error::CrawlError;
use crate::frontier::{Discovery, Source, url_hash};
use crate::politeness::TimeMs;
use crate::reading::FoundLink;
use std::sync::Arc;
use web::address::{CanonicalUrl, trap};

impl Crawl {
    /// A seed that redirects within its domain extends its site.
    pub(super) fn follow_seed(
        &mut self,
        from: &CanonicalUrl,
        to: &CanonicalUrl,
    ) -> Result<(), CrawlError> {
        let mut sites = (*self.sites).clone();
        if sites.follow_seed(from, to)? {
            self.sites = Arc::new(sites);
            let pair = (from.to_string(), to.to_string());
            self.tell_followed(&pair);
            self.state.followed_seeds.push(pair);
            self.state.write(&self.storage)?;
        }
        Ok(())
    }

    /// Notes the links of a page, or the URLs of a list.
    pub(super) fn discover_links(
        &mut self,
        from: &CanonicalUrl,
        depth: u16,
        source: Source,
        links: &[FoundLink],
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let depth = depth.saturating_add(1);
        for link in links {
            let stated_ms = link.modified_ms;
            let trust = &mut self.state.date_trust;
            let modified_ms = stated_ms.filter(|_| trust.believes(link.url.origin()));
            let source = if link.is_list { Source::List } else { source };
            self.discover(&link.url, depth, source, Some(from), modified_ms, now)?;
        }
        Ok(())
    }

    /// Notes a URL found on a page, if it is within the crawl.
    pub(super) fn discover(
        &mut self,
        url: &CanonicalUrl,
        depth: u16,
        source: Source,
        from: Option<&CanonicalUrl>,
        modified_ms: Option<u64>,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let found = Discovery {
            url: url.as_str(),
            depth,
            source,
            from: from.map(|from| url_hash(from.as_str())),
            importance: 1.0,
            modified: modified_ms.map(TimeMs),
        };
        self.discover_admitted(url, found, now)
    }

    /// Notes a URL, if it is within the crawl. The URL of `found` is that of `url`.
    pub(super) fn discover_admitted(
        &mut self,
        url: &CanonicalUrl,
        found: Discovery<'_>,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let cleaned = self.sites.without_learnt(url);
        let url = cleaned.as_ref().unwrap_or(url);
        if self.sites.admit(url).is_err() {
            self.progress.links_out_of_scope += 1;
            return Ok(());
        }
        if found.depth > self.config.depth_max || trap(url).is_some() {
            self.progress.links_trapped += 1;
            return Ok(());
        }
        let found = Discovery {
            url: url.as_str(),
            ..found
        };
        self.frontier.discover(&found, now)?;
        self.note_probe(url, now)
    }
}
