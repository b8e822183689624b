//! Ends of visits: answers go to the archive, then to the frontier, then to the index; links are noted.

use super::crawl::Crawl;
use super::outcome::{failure_of, outcome_of};
use super::rules;
use super::setup::now;
use super::visit::{AnswerKind, Answered, Event, RobotsAnswered, RobotsVisited, Visited};
use crate::error::CrawlError;
use crate::frontier::{
    Deletion, Discovery, Effect, Notice, Outcome, RobotsAnswer, Source, VisitId, WarcPlace,
    url_hash,
};
use crate::politeness::TimeMs;
use crate::reading::FoundLink;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use web::address::{CanonicalUrl, trap};
use web::warc;
use xxhash_rust::xxh3::xxh3_64;

impl Crawl {
    /// Takes what ended, waiting for the first event up to `wait`.
    pub(super) fn take_events(&mut self, wait: Duration) -> Result<(), CrawlError> {
        let mut pages = Vec::new();
        let mut next = self.events.1.recv_timeout(wait).ok();
        while let Some(event) = next {
            self.in_flight -= 1;
            let now = now();
            match event {
                Event::Resolved(id, address) => {
                    if let Some(visit) = self.waiting.remove(&id) {
                        self.connect(visit, address, now)?;
                    }
                }
                Event::Robots(visited) => self.robots(visited, now)?,
                Event::Page(visited) => pages.push(*visited),
            }
            next = self.events.1.try_recv().ok();
        }
        self.finish(pages)
    }

    /// Archives answers, and tells them to the frontier when they are durable.
    pub(super) fn finish(&mut self, pages: Vec<Visited>) -> Result<(), CrawlError> {
        let mut places = Vec::with_capacity(pages.len());
        for page in &pages {
            let place = match &page.answer {
                Ok(answered) => {
                    let records = &answered.records;
                    self.archive.append(
                        &records.members,
                        records.response_at,
                        records.response_bytes,
                    )?
                }
                Err(_) => WarcPlace::default(),
            };
            places.push(place);
        }
        self.archive.sync()?;
        let now = now();
        for (page, place) in pages.into_iter().zip(places) {
            match page.answer {
                Ok(answered) => {
                    self.answered(
                        page.id,
                        &page.url,
                        page.depth,
                        page.took_ms,
                        answered,
                        place,
                        now,
                    )?;
                }
                Err(error) => {
                    let outcome = failure_of(&error, page.took_ms);
                    self.progress.failed += 1;
                    self.progress.notice(error.to_string());
                    self.frontier.finished(page.id, &outcome, now)?;
                    self.unsynced += 1;
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one visit")]
    pub(super) fn answered(
        &mut self,
        id: VisitId,
        url: &CanonicalUrl,
        depth: u16,
        took_ms: u64,
        answered: Answered,
        place: WarcPlace,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let outcome = outcome_of(&answered, url, took_ms, place);
        self.progress.wire_bytes += answered.wire_bytes;
        self.progress.cut += u64::from(answered.is_cut);
        let counter = match &outcome {
            Outcome::Fetched { .. } => &mut self.progress.fetched,
            Outcome::NotModified { .. } => &mut self.progress.not_modified,
            Outcome::Redirected { .. } => &mut self.progress.redirects,
            Outcome::Gone { .. } => &mut self.progress.missing,
            Outcome::Parked(_) => &mut self.progress.refused,
            _ => &mut self.progress.failed,
        };
        *counter += 1;
        let mut document = None;
        match answered.kind {
            AnswerKind::Page(reading) => {
                let is_list = reading.kind == crate::reading::ReadKind::List;
                let source = if is_list {
                    Source::Sitemap
                } else {
                    Source::Link
                };
                self.discover_links(url, depth, source, &reading.links, now)?;
                if let Some(canonical) = &reading.canonical {
                    self.discover(canonical, depth, Source::Link, Some(url), None, now)?;
                }
                document = reading.document;
            }
            AnswerKind::Redirect(Some(to)) if &to != url => {
                self.follow_seed(url, &to)?;
                let depth = depth.saturating_add(1);
                self.discover(&to, depth, Source::Redirect, Some(url), None, now)?;
            }
            _ => {}
        }
        let finished = self.frontier.finished(id, &outcome, now)?;
        self.unsynced += 1;
        let Some(finished) = finished else {
            return Ok(());
        };
        match (finished.effect, document) {
            (Effect::Index, Some(document)) => self.index(|indexing| indexing.add(document))?,
            // The page became a sitemap, or what its text was is gone.
            (Effect::Index, None) | (Effect::Delete(_), _) => {
                self.index(|indexing| indexing.delete(finished.url))?;
            }
            (Effect::Keep, _) => {}
        }
        if let Some(notice) = finished.notice {
            self.notice(notice);
        }
        Ok(())
    }

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
            self.state.followed_seeds.push(pair);
            self.state.write(&self.storage)?;
        }
        Ok(())
    }

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
            self.discover(&link.url, depth, source, Some(from), link.modified_ms, now)?;
        }
        Ok(())
    }

    /// Notes a URL, if it is within the crawl.
    pub(super) fn discover(
        &mut self,
        url: &CanonicalUrl,
        depth: u16,
        source: Source,
        from: Option<&CanonicalUrl>,
        modified_ms: Option<u64>,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        if self.sites.admit(url).is_err() {
            self.progress.links_out_of_scope += 1;
            return Ok(());
        }
        if depth > self.config.depth_max || trap(url).is_some() {
            self.progress.links_trapped += 1;
            return Ok(());
        }
        let found = Discovery {
            url: url.as_str(),
            depth,
            source,
            from: from.map(|from| url_hash(from.as_str())),
            importance: 1.0,
            modified: modified_ms.map(TimeMs),
        };
        self.frontier.discover(&found, now)?;
        Ok(())
    }

    pub(super) fn robots(&mut self, visited: RobotsVisited, now: TimeMs) -> Result<(), CrawlError> {
        let RobotsVisited {
            id,
            origin,
            took_ms,
            outcome,
        } = visited;
        let mut source = Vec::new();
        let mut sitemaps = Vec::new();
        let mut throttled = None;
        let outcome = match outcome {
            RobotsAnswered::Answered {
                status,
                body,
                retry_after_s,
            } => {
                if matches!(status, 429 | 503) {
                    throttled = Some(retry_after_s);
                }
                let token = &self.context.product_token;
                let read = self.rules.read(&origin, status, &body, token, now);
                sitemaps = read.sitemaps;
                match read.outcome {
                    crate::frontier::RobotsOutcome::WaitUntil(_) => {
                        let told = format!("{origin}/robots.txt: status {status}; its pages wait");
                        self.progress.notice(told);
                        rules::wait(now, retry_after_s)
                    }
                    rules @ crate::frontier::RobotsOutcome::Rules { .. } => {
                        source = body;
                        rules
                    }
                    free => free,
                }
            }
            RobotsAnswered::Failed(error) => {
                let told = format!("{origin}/robots.txt: {error}; its pages wait");
                self.progress.notice(told);
                rules::wait(now, None)
            }
        };
        source.truncate(web::robots::ROBOTS_BYTES_MAX);
        let answer = RobotsAnswer {
            outcome,
            throttled,
            took_ms,
            source: &source,
        };
        let notice = self.frontier.robots(id, &answer, now)?;
        self.unsynced += 1;
        if let Some(notice) = notice {
            self.notice(notice);
        }
        let base = CanonicalUrl::parse(&format!("{origin}/robots.txt"));
        for sitemap in sitemaps {
            let url = base.as_ref().ok().and_then(|base| base.join(&sitemap).ok());
            if let Some(url) = url {
                self.discover(&url, 0, Source::Sitemap, None, None, now)?;
            }
        }
        Ok(())
    }

    pub(super) fn notice(&mut self, notice: Notice) {
        let text = match notice {
            Notice::ShapeParked { origin, .. } => {
                format!(
                    "{origin}: a kind of page has hardly any new text; no more of them are visited"
                )
            }
            Notice::HostParked { origin, .. } => {
                format!("{origin}: its Crawl-delay is over 5 minutes; it is not visited")
            }
        };
        self.progress.notice(text);
    }

    /// Deletes a page that was not fetched, with a record that tells it to whoever reads the archive.
    pub(super) fn delete_unfetched(
        &mut self,
        url: &str,
        deletion: Deletion,
    ) -> Result<(), CrawlError> {
        let date = Timestamp::now();
        let seed = xxh3_64(url.as_bytes()) ^ date.as_microsecond() as u64;
        let mut writer = warc::Writer::new(Vec::new(), 0, seed);
        let about = warc::About {
            uri: url,
            date,
            ip: None,
        };
        let reason = format!("{deletion:?}").to_lowercase();
        // A `Vec` takes every write.
        let _ = writer.metadata(&about, &[("shorttail-deleted", &reason)], None);
        self.archive.append(&writer.into_inner(), 0, 0)?;
        self.index(|indexing| indexing.delete(url.to_owned()))
    }
}
