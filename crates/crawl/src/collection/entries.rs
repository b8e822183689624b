//! Entries of the log of facts: what each kind says of pages, aliases and probes.
//!
//! page := facts          gone := hash:u64le       settled := hash:u64le digest:u64le
//! alias := from:u64le to:u64le                    probe := origin:bytes text:bytes

use super::duplicates::WORDS_MIN;
use super::facts::{self, PageFacts};
use super::log::EntryPlace;
use crate::bytes::Reader;
use crate::frontier::url_hash;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) const PAGE: u8 = 1;
pub(super) const GONE: u8 = 2;
pub(super) const SETTLED: u8 = 3;
pub(super) const ALIAS: u8 = 4;
pub(super) const PROBE: u8 = 5;

/// Page that was fetched.
pub(super) struct Page {
    pub(super) url: Box<str>,
    pub(super) text_hash: u128,
    pub(super) simhash: u64,
    pub(super) words_count: u32,
    /// Hash of another address that it states as its own.
    pub(super) canonical: Option<u64>,
    pub(super) facts: EntryPlace,
    pub(super) may_be_found: bool,
    /// Whether pages of the same text are its duplicates.
    pub(super) has_text: bool,
    /// Digest of the page's document in the index; 0 where the index has none.
    pub(super) settled: u64,
}

impl Page {
    pub(super) fn of(facts: &PageFacts, place: EntryPlace) -> Page {
        Page {
            url: facts.url.as_str().into(),
            text_hash: facts.text_hash,
            simhash: facts.shape.simhash,
            words_count: facts.shape.words_count,
            canonical: facts.canonical.as_deref().map(url_hash),
            facts: place,
            may_be_found: facts.may_be_found,
            has_text: facts.may_be_found && facts.shape.words_count >= WORDS_MIN,
            settled: 0,
        }
    }
}

/// Pages, aliases and probes that the entries tell of.
pub(super) type Tables<'a> = (
    &'a mut HashMap<u64, Page>,
    &'a mut HashMap<u64, u64>,
    &'a mut HashMap<String, Arc<str>>,
);

/// Applies an entry of the log; one that cannot be read is left out.
pub(super) fn read_entry(
    kind: u8,
    payload: &[u8],
    place: EntryPlace,
    (pages, aliases, probes): Tables<'_>,
) -> Option<()> {
    let mut reader = Reader::new(payload);
    let mut number = || Some(u64::from_le_bytes(reader.array()?));
    match kind {
        PAGE => {
            let facts = PageFacts::decode(payload)?;
            let hash = url_hash(&facts.url);
            let mut page = Page::of(&facts, place);
            page.settled = pages.get(&hash).map_or(0, |before| before.settled);
            aliases.remove(&hash);
            pages.insert(hash, page);
        }
        GONE => {
            pages.remove(&number()?);
        }
        SETTLED => {
            let (hash, settled) = (number()?, number()?);
            pages.get_mut(&hash)?.settled = settled;
        }
        ALIAS => {
            let (from, to) = (number()?, number()?);
            aliases.insert(from, to);
        }
        PROBE => {
            let origin = facts::text(&mut reader)?;
            probes.insert(origin, facts::text(&mut reader)?.into());
        }
        _ => {}
    }
    Some(())
}
