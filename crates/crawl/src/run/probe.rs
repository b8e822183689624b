//! Answers 200 for pages that do not exist: one path of each host that it cannot have, and pages that look like the answer.

use super::answers::Ended;
use super::crawl::Crawl;
use super::visit::{AnswerKind, Answered};
use crate::error::CrawlError;
use crate::frontier::{Discovery, Outcome, Parked, Source};
use crate::politeness::TimeMs;
use crate::reading::{ReadKind, Reading};
use web::address::CanonicalUrl;
use web::duplicates::likeness;
use xxhash_rust::xxh3::xxh3_64;

/// Texts kept of a probe, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Returns the path that a host cannot have. It names its purpose, for readers of the host's log.
fn probe_path(origin: &str) -> String {
    format!("/no-such-page-{:016x}.html", xxh3_64(origin.as_bytes()))
}

impl Crawl {
    /// Notes the probe of the host of a URL, once, before its other pages.
    pub(super) fn note_probe(&mut self, url: &CanonicalUrl, now: TimeMs) -> Result<(), CrawlError> {
        let origin = url.origin();
        if self.probed.contains(origin) || self.collection.probe_of(origin).is_some() {
            return Ok(());
        }
        self.probed.insert(origin.to_owned());
        let path = probe_path(origin);
        // Where the crawl is within a folder, the probe is as well.
        let at_root = url.join(&path);
        let beside = url.join(&format!(".{path}"));
        let probe = [at_root, beside]
            .into_iter()
            .flatten()
            .find(|probe| self.sites.admit(probe).is_ok());
        let Some(probe) = probe else {
            return Ok(());
        };
        let found = Discovery {
            url: probe.as_str(),
            depth: 0,
            source: Source::Probe,
            from: None,
            // Before the pages that it is compared with.
            importance: 2.0,
            modified: None,
        };
        self.frontier.discover(&found, now)?;
        Ok(())
    }

    /// Takes the answer of a probe. A host that does not answer is probed again.
    pub(super) fn probe_answered(
        &mut self,
        visit: &Ended<'_>,
        answered: &Answered,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let outcome = match answered.status {
            429 | 500..=599 => {
                super::outcome::outcome_of(answered, visit.url, visit.took_ms, visit.place, false)
            }
            _ => {
                let text = probe_text(answered).unwrap_or_default();
                self.collection.probed(visit.url.origin(), text)?;
                Outcome::Parked(Parked::Probe)
            }
        };
        self.frontier.finished(visit.id, &outcome, now)?;
        self.unsynced += 1;
        Ok(())
    }

    /// Whether an answer equals the answer of its host for missing pages. Seeds are believed: a site that answers
    /// everything with its first page has that page.
    pub(super) fn is_soft_missing(&self, visit: &Ended<'_>, answered: &Answered) -> bool {
        let origin = visit.url.origin();
        let Some(probe) = self.collection.probe_of(origin) else {
            return false;
        };
        if probe.is_empty() || visit.source == Source::Seed || visit.url.path() == "/" {
            return false;
        }
        match probe_text(answered) {
            Some(text) => likeness(probe, &probe_path(origin), text).is_alike,
            None => false,
        }
    }
}

/// Returns the text of an answer 200 with a page.
fn probe_text(answered: &Answered) -> Option<&str> {
    match &answered.kind {
        AnswerKind::Page(reading, _) => text_of(reading),
        _ => None,
    }
}

/// Returns the text of a page that answers compare by.
pub(super) fn text_of(reading: &Reading) -> Option<&str> {
    let document = reading.document.as_ref()?;
    let text = document.body.trim();
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (reading.kind == ReadKind::Page && end > 0).then(|| &text[..end])
}
