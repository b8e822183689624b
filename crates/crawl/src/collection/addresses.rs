//! Addresses that pages state as their own (`link rel=canonical`), believed once the page there was seen.
//!
//! ```text
//! /a?x=1 ── states ──► /a        seen, with this text: /a stands for both
//! /b     ── states ──► /gone     never seen (missing, refused, outside of the crawl): /b stands for itself
//! /c     ── states ──► /d ── states ──► /c          a circle: each stands for itself
//! /e     ── states ──► /         another text, as where all pages state the first: /e stands for itself
//! ```
//!
//! Chains are followed, and redirects on the way. A page of a few words is believed whatever the text there is: pages that
//! only lead on have no text of their own.

use super::entries::Page;
use super::pages::Collection;
use crate::frontier::url_hash;
use web::duplicates;

/// Stated addresses and redirects that lead on from a page.
const STEPS_MAX: usize = 5;
/// Words from which on a text is compared with that of the stated address.
const COMPARED_WORDS_MIN: u32 = 20;
/// Upper limit on the distance of two texts of one page: with another banner, order, or part of a frame. Texts that have
/// nothing in common are about 32 apart.
const DISTANCE_MAX: u32 = 12;

/// Outcome for the address that a page states as its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatedAddress {
    /// The page states several addresses; none is believed.
    Several,
    /// The page there stands for this one.
    Believed {
        /// The address.
        url: String,
    },
    /// There is no page that may be found: it was not visited, is missing, refused, outside of the crawl, or leads back.
    NotSeen {
        /// The address.
        url: String,
    },
    /// The page there has another text.
    OtherText {
        /// The address.
        url: String,
    },
    /// It leads on in a circle, or too far.
    Circle {
        /// The address.
        url: String,
    },
}

impl StatedAddress {
    /// Returns the address, and what became of it in words.
    pub fn told(&self) -> (Option<&str>, &'static str) {
        match self {
            Self::Several => (
                None,
                "it states several addresses, of which none is believed",
            ),
            Self::Believed { url } => (Some(url), "the page there stands for it"),
            Self::NotSeen { url } => (
                Some(url),
                "not believed: no page that may be found was seen there",
            ),
            Self::OtherText { url } => (Some(url), "not believed: the page there has another text"),
            Self::Circle { url } => (Some(url), "not believed: it leads in a circle, or too far"),
        }
    }
}

/// A step from a page along its stated address.
enum Step {
    /// It states none, or itself.
    End,
    To(u64),
    NotSeen,
    OtherText,
}

impl Collection {
    /// Returns the page that stands for `hash` by the addresses that pages state: itself, unless they are believed.
    pub(super) fn stands_for(&self, hash: u64) -> u64 {
        self.end_of_chain(hash).unwrap_or(hash)
    }

    /// Follows believed addresses to their end; `None` for a circle, or a chain that is too long.
    fn end_of_chain(&self, hash: u64) -> Option<u64> {
        let mut at = hash;
        for _ in 0..STEPS_MAX {
            match self.step(at) {
                Step::To(next) if next == hash => return None,
                Step::To(next) => at = next,
                Step::End | Step::NotSeen | Step::OtherText => return Some(at),
            }
        }
        None
    }

    fn step(&self, hash: u64) -> Step {
        let Some(page) = self.pages.get(&hash) else {
            return Step::End;
        };
        let Some(stated) = page.canonical else {
            return Step::End;
        };
        let target = self.redirected(stated);
        match self.pages.get(&target) {
            // It leads back here.
            Some(_) if target == hash => Step::NotSeen,
            Some(other) if !other.may_be_found => Step::NotSeen,
            Some(other) if !is_copy(page, other) => Step::OtherText,
            Some(_) => Step::To(target),
            None => Step::NotSeen,
        }
    }

    /// Follows redirects.
    pub(super) fn redirected(&self, target: u64) -> u64 {
        let mut target = target;
        for _ in 0..STEPS_MAX {
            match self.aliases.get(&target) {
                Some(&to) => target = to,
                None => break,
            }
        }
        target
    }

    /// Returns the outcome for the address that a page states; `None` where it states none.
    pub(crate) fn stated_address(&mut self, url: &str) -> Option<StatedAddress> {
        let hash = url_hash(url);
        self.log.map().ok()?;
        let facts = self.facts(hash)?;
        if facts.is_contradictory {
            return Some(StatedAddress::Several);
        }
        let url = facts.canonical?;
        Some(match (self.end_of_chain(hash), self.step(hash)) {
            (None, _) => StatedAddress::Circle { url },
            (Some(_), Step::To(_)) => StatedAddress::Believed { url },
            (Some(_), Step::OtherText) => StatedAddress::OtherText { url },
            (Some(_), Step::NotSeen | Step::End) => StatedAddress::NotSeen { url },
        })
    }
}

/// Returns whether the text of a page is that of the page at the address that it states.
fn is_copy(page: &Page, other: &Page) -> bool {
    page.words_count < COMPARED_WORDS_MIN
        || page.text_hash == other.text_hash
        || duplicates::distance(page.simhash, other.simhash) <= DISTANCE_MAX
}
