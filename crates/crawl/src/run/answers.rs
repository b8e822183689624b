//! Ends of visits: answers go to the archive, then to the frontier, then to the collection; links are noted.

use super::crawl::Crawl;
use super::outcome::{failure_of, outcome_of};
use super::setup::{ended_now, now};
use super::visit::{AnswerKind, Answered, Event, Visited};
use crate::error::CrawlError;
use crate::frontier::{Deletion, Effect, Notice, Outcome, Source, VisitId, WarcPlace};
use crate::politeness::TimeMs;
use crate::reading::ReadKind;
use jiff::Timestamp;
use std::time::Duration;
use web::address::CanonicalUrl;
use web::warc;
use xxhash_rust::xxh3::xxh3_64;

/// Visit that ended with an answer.
pub(super) struct Ended<'a> {
    pub(super) id: VisitId,
    pub(super) url: &'a CanonicalUrl,
    pub(super) depth: u16,
    pub(super) source: Source,
    pub(super) is_claimed: bool,
    pub(super) took_ms: u64,
    pub(super) place: WarcPlace,
}

impl Crawl {
    /// Takes what ended, waiting for the first event up to `wait`.
    pub(super) fn take_events(&mut self, wait: Duration) -> Result<(), CrawlError> {
        let mut pages = Vec::new();
        let mut next = self.events.1.recv_timeout(wait).ok();
        while let Some(event) = next {
            let ended = ended_now();
            if !matches!(event, Event::Member(_)) {
                self.in_flight -= 1;
            }
            match event {
                Event::Resolved(id, address) => {
                    if let Some(visit) = self.waiting.remove(&id) {
                        self.connect(visit, address, now())?;
                    }
                }
                Event::Robots(visited) => self.robots(visited, ended)?,
                Event::Page(visited) => pages.push(*visited),
                Event::Member(event) => self.take_member_event(event, ended)?,
            }
            next = self.events.1.try_recv().ok();
        }
        self.acknowledge_taken()?;
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
        let now = ended_now();
        for (page, place) in pages.into_iter().zip(places) {
            match page.answer {
                Ok(answered) => {
                    let visit = Ended {
                        id: page.id,
                        url: &page.url,
                        depth: page.depth,
                        source: page.source,
                        is_claimed: page.is_claimed,
                        took_ms: page.took_ms,
                        place,
                    };
                    match page.source {
                        Source::Probe => self.probe_answered(&visit, &answered, now)?,
                        _ => self.answered(&visit, answered, now)?,
                    }
                }
                Err(error) => {
                    let outcome = failure_of(&error, page.took_ms);
                    if let Outcome::Failed { failure, .. } = outcome {
                        self.count_failure(failure);
                    }
                    self.progress.notice(error.to_string());
                    self.frontier.finished(page.id, &outcome, now)?;
                    self.unsynced += 1;
                }
            }
        }
        Ok(())
    }

    fn answered(
        &mut self,
        visit: &Ended<'_>,
        answered: Answered,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let (url, depth) = (visit.url, visit.depth);
        let outcome = match self.is_soft_missing(visit, &answered) {
            true => {
                self.progress.soft_missing += 1;
                Outcome::Gone {
                    status: answered.status,
                    took_ms: visit.took_ms,
                }
            }
            false => {
                let repeats = self.repeats(url, &answered.kind);
                outcome_of(&answered, url, visit.took_ms, visit.place, repeats)
            }
        };
        self.progress.wire_bytes += answered.wire_bytes;
        self.progress.cut += u64::from(answered.is_cut);
        match &answered.rendered {
            Some(Ok(())) => self.progress.rendered += 1,
            Some(Err(reason)) => self.progress.notice(format!("{url}: {reason}")),
            None => {}
        }
        match &outcome {
            Outcome::Fetched { .. } => self.progress.fetched += 1,
            Outcome::NotModified { .. } => self.progress.not_modified += 1,
            Outcome::Redirected { .. } => self.progress.redirects += 1,
            Outcome::Gone { .. } => self.progress.missing += 1,
            Outcome::Parked(_) | Outcome::Refused(_) => self.progress.refused += 1,
            // No answer has this outcome.
            Outcome::HandedOver => {}
            Outcome::Failed { failure, .. } => self.count_failure(*failure),
        }
        let mut read = None;
        match answered.kind {
            AnswerKind::Page(reading, templates) if matches!(outcome, Outcome::Fetched { .. }) => {
                let is_list = reading.kind == ReadKind::List;
                let source = if is_list {
                    Source::Sitemap
                } else {
                    Source::Link
                };
                self.discover_links(url, depth, source, &reading.links, now)?;
                if let Some(canonical) = &reading.canonical {
                    self.discover(canonical, depth, Source::Link, Some(url), None, now)?;
                }
                read = Some((reading, templates));
            }
            AnswerKind::Redirect(Some(to)) if &to != url => {
                self.follow_seed(url, &to)?;
                let depth = depth.saturating_add(1);
                // Where a list has moved to, there is a list.
                let source = match visit.source {
                    Source::List => Source::List,
                    _ => Source::Redirect,
                };
                self.discover(&to, depth, source, Some(url), None, now)?;
                self.collection.alias(url.as_str(), to.as_str())?;
            }
            _ => {}
        }
        let finished = self.frontier.finished(visit.id, &outcome, now)?;
        self.unsynced += 1;
        let Some(finished) = finished else {
            return Ok(());
        };
        if visit.is_claimed
            && matches!(
                outcome,
                Outcome::Fetched { .. } | Outcome::NotModified { .. }
            )
        {
            let has_changed = finished.effect == Effect::Index;
            self.state.date_trust.visited(url.origin(), has_changed);
        }
        match (read, finished.effect) {
            (Some((reading, templates)), effect) if reading.kind == ReadKind::Page => {
                self.collect_page(visit, *reading, templates, effect == Effect::Index)?;
            }
            // It became a sitemap, or is gone.
            (Some(_), _) | (None, Effect::Delete(_) | Effect::Index) => {
                self.collection.gone(&finished.url)?;
            }
            (None, Effect::Keep) => {}
        }
        if let Some(notice) = finished.notice {
            self.notice(notice);
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

    /// Deletes a page that was not fetched, and notes the reason in a record of the archive.
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
        self.collection.gone(url)?;
        Ok(())
    }
}
