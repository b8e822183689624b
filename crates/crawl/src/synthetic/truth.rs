//! What an obedient crawler must fetch, and what it must not.

use super::options::{HostClass, Reason};
use super::text::unique_word;
use super::web::{LISTED, SyntheticWeb};

/// Way in which a page is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Via {
    /// Reached by links.
    Link,
    /// Reached by redirects alone.
    Redirect,
    /// Reached by the sitemap alone.
    Sitemap,
    /// Reached by the feed alone.
    Feed,
}

/// A page that must be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Number of its host.
    pub host: u32,
    /// Path and query.
    pub path: String,
    /// Way in which it is reached.
    pub via: Via,
    /// Whether it belongs into the index (no noindex).
    pub indexed: bool,
    /// The word that only this page and its mirror have.
    pub word: String,
    /// Whether another host has the same text.
    pub duplicate: bool,
}

/// A page that must not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forbidden {
    /// Number of its host.
    pub host: u32,
    /// Path and query.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

impl SyntheticWeb {
    /// Returns every page that a polite, obedient crawler reaches from the seeds.
    pub fn expected(&self) -> impl Iterator<Item = Expected> + '_ {
        (0..self.options.hosts).flat_map(move |number| self.expected_of(number))
    }

    fn expected_of(&self, number: u32) -> Vec<Expected> {
        let host = self.host(number);
        if host.class == HostClass::RobotsUnavailable {
            return Vec::new();
        }
        let mirror = host.class == HostClass::Mirror;
        let expected = |path, via, indexed, page| Expected {
            host: number,
            path,
            via,
            indexed,
            word: unique_word(host.origin(), page),
            duplicate: mirror,
        };
        let directives = host.class == HostClass::Directives;
        let mut found: Vec<Expected> = (0..host.pages)
            .map(|page| {
                let noindex = directives && matches!(page % 5, 1 | 2);
                expected(self.page_path(&host, page), Via::Link, !noindex, page)
            })
            .collect();
        let extra = |prefix: &str, page: u32, via| {
            expected(
                format!("{prefix}{page}.html"),
                via,
                true,
                EXTRA_WORDS + page,
            )
        };
        match host.class {
            HostClass::Sitemap => {
                found.extend((0..LISTED).map(|page| extra("/listed/", page, Via::Sitemap)))
            }
            HostClass::Feed => {
                found.extend((0..LISTED).map(|page| extra("/entry/", page, Via::Feed)))
            }
            HostClass::Redirects => {
                let pages = (0..host.pages).filter(|page| page % 4 == 0);
                found.extend(pages.map(|page| extra("/target/", page, Via::Redirect)));
            }
            _ => {}
        }
        found
    }

    /// Returns every page to which links lead and that must not be fetched.
    pub fn forbidden(&self) -> impl Iterator<Item = Forbidden> + '_ {
        (0..self.options.hosts).flat_map(move |number| {
            let host = self.host(number);
            let all = (0..host.pages).filter_map(move |page| {
                let (path, reason) = match host.class {
                    HostClass::Disallow => (format!("/private/{page}.html"), Reason::Disallowed),
                    HostClass::RobotsChanging => {
                        (format!("/later/{page}.html"), Reason::DisallowedLater)
                    }
                    HostClass::RobotsUnavailable => {
                        (self.page_path(&host, page), Reason::RobotsUnavailable)
                    }
                    HostClass::Directives if page % 5 == 3 => {
                        (format!("/unfollowed/{page}.html"), Reason::Nofollow)
                    }
                    _ => return None,
                };
                Some(Forbidden {
                    host: number,
                    path,
                    reason,
                })
            });
            all.collect::<Vec<_>>()
        })
    }
}

/// Numbers of the words of pages beside the tree.
pub(super) const EXTRA_WORDS: u32 = 1 << 30;
