//! Answers to requests for robots.txt: permissions for the frontier, and sitemaps.

use super::crawl::Crawl;
use super::rules;
use super::visit::{RobotsAnswered, RobotsVisited};
use crate::error::CrawlError;
use crate::frontier::{RobotsAnswer, RobotsOutcome, Source};
use crate::politeness::TimeMs;
use web::address::CanonicalUrl;

impl Crawl {
    /// Passes the permissions of an answer to the frontier, and notes its sitemaps.
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
                    RobotsOutcome::WaitUntil(_) => {
                        let told = format!("{origin}/robots.txt: status {status}; its pages wait");
                        self.progress.notice(told);
                        rules::wait(now, retry_after_s)
                    }
                    rules @ RobotsOutcome::Rules { .. } => {
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
                self.discover(&url, 0, Source::List, None, None, now)?;
            }
        }
        Ok(())
    }
}
