//! Facts of a page that its neighbours need: hashes of its text, its blocks, its links with their texts.
//!
//! page := url:bytes text:u128le words:varint simhash:u64le flags:u8 file:varint offset:varint length:varint
//!         count:varint block:u64le*  count:varint (target:u64le anchor:bytes)*  canonical:bytes?
//!
//! About 1 KB for a page of documentation with 26 links.

use crate::bytes::{Reader, put_bytes, put_varint};
use crate::frontier::{WarcPlace, url_hash};
use crate::reading::{Reading, TextShape};

/// Links kept of a page.
const LINKS_MAX: usize = 2_000;
/// Flag: the page may be found; else it only links.
const MAY_BE_FOUND: u8 = 1;
/// Flag: it states another address as its own.
const STATES_ADDRESS: u8 = 2;
/// Flag: it states several.
const STATES_SEVERAL: u8 = 4;

/// Facts of a page that was fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageFacts {
    pub(crate) url: String,
    /// Hash of title and main text.
    pub(crate) text_hash: u128,
    pub(crate) shape: TextShape,
    /// Whether the page may be a document: it does not say noindex.
    pub(crate) may_be_found: bool,
    /// Place of its last whole answer.
    pub(crate) place: WarcPlace,
    /// Targets of its links with the texts, by hash of their URLs.
    pub(crate) links: Vec<(u64, String)>,
    /// Another address that it states as its own.
    pub(crate) canonical: Option<String>,
    /// Whether it states several.
    pub(crate) is_contradictory: bool,
}

impl PageFacts {
    /// Takes the facts from a reading.
    pub(crate) fn of(url: &str, reading: &Reading, place: WarcPlace) -> PageFacts {
        let links = reading.links.iter().take(LINKS_MAX);
        PageFacts {
            url: url.to_owned(),
            text_hash: reading.text_hash,
            shape: reading.shape.clone(),
            may_be_found: reading.document.is_some(),
            place,
            links: links
                .map(|link| (url_hash(link.url.as_str()), link.anchor.clone()))
                .collect(),
            canonical: reading.canonical.as_ref().map(ToString::to_string),
            is_contradictory: reading.is_contradictory,
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.url.as_bytes());
        out.extend_from_slice(&self.text_hash.to_le_bytes());
        put_varint(out, self.shape.words_count.into());
        out.extend_from_slice(&self.shape.simhash.to_le_bytes());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.push(
            flag(self.may_be_found, MAY_BE_FOUND)
                | flag(self.canonical.is_some(), STATES_ADDRESS)
                | flag(self.is_contradictory, STATES_SEVERAL),
        );
        put_varint(out, self.place.file.into());
        put_varint(out, self.place.offset_bytes);
        put_varint(out, self.place.length_bytes);
        put_varint(out, self.shape.blocks.len() as u64);
        for block in &self.shape.blocks {
            out.extend_from_slice(&block.to_le_bytes());
        }
        put_varint(out, self.links.len() as u64);
        for (target, anchor) in &self.links {
            out.extend_from_slice(&target.to_le_bytes());
            put_bytes(out, anchor.as_bytes());
        }
        if let Some(canonical) = &self.canonical {
            put_bytes(out, canonical.as_bytes());
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<PageFacts> {
        let mut reader = Reader::new(bytes);
        let r = &mut reader;
        let mut facts = PageFacts {
            url: text(r)?,
            text_hash: u128::from_le_bytes(r.array()?),
            ..PageFacts::default()
        };
        facts.shape.words_count = u32::try_from(r.varint()?).ok()?;
        facts.shape.simhash = u64::from_le_bytes(r.array()?);
        let flags = r.byte()?;
        facts.may_be_found = flags & MAY_BE_FOUND != 0;
        facts.is_contradictory = flags & STATES_SEVERAL != 0;
        facts.place = WarcPlace {
            file: u32::try_from(r.varint()?).ok()?,
            offset_bytes: r.varint()?,
            length_bytes: r.varint()?,
        };
        for _ in 0..r.varint()? {
            facts.shape.blocks.push(u64::from_le_bytes(r.array()?));
        }
        for _ in 0..r.varint()? {
            let target = u64::from_le_bytes(r.array()?);
            facts.links.push((target, text(r)?));
        }
        if flags & STATES_ADDRESS != 0 {
            facts.canonical = Some(text(r)?);
        }
        reader.is_empty().then_some(facts)
    }
}

/// Reads a text.
pub(super) fn text(reader: &mut Reader<'_>) -> Option<String> {
    String::from_utf8(reader.bytes()?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn facts_come_back(url in ".{0,40}", text_hash: u128, words_count: u32, simhash: u64, may_be_found: bool,
            canonical in prop::option::of(".{0,20}"), is_contradictory: bool,
            blocks in prop::collection::vec(any::<u64>(), 0..9), links in prop::collection::vec((any::<u64>(), ".{0,9}"), 0..9)) {
            let place = WarcPlace { file: words_count, offset_bytes: simhash, length_bytes: 7 };
            let shape = TextShape { simhash, words_count, blocks };
            let facts = PageFacts { url, text_hash, shape, may_be_found, place, links, canonical, is_contradictory };
            let mut bytes = Vec::new();
            facts.encode(&mut bytes);
            prop_assert_eq!(PageFacts::decode(&bytes), Some(facts));
        }

        #[test]
        fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = PageFacts::decode(&bytes);
        }
    }
}
