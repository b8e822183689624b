//! Titles of a segment in order, for those that begin with a text.
//!
//! ```text
//! title    key                       length
//! "Ice!"   "ice "                    3        folded words, a blank after each
//! keys     := block{titles / 16, rounded up}
//! block    := { shared:u8 own:u8 byte{own} }{16}         shared: bytes of the key before, in the block
//! ```
//!
//! They are made of the details at the first search that wants them, and stay in memory with the segment: about 25 bytes a
//! document. A title is compared by its first [`KEY_BYTES_MAX`] bytes; one without a word is not among them.

use super::scan::{Scan, Step, successor};
use crate::DocId;
use crate::terms::common_bytes;
use text::{Pattern, folded_words};

/// Titles of a segment that are found at most, beside those as long as the last of them.
pub const TITLES_MAX: usize = 1_000;

/// Bytes of a title's key.
const KEY_BYTES_MAX: usize = 64;
/// Titles of a block.
const BLOCK_TITLES: usize = 16;
/// Greatest length that is kept, in characters.
const LENGTH_MAX: u8 = u8::MAX;

/// Document whose title begins with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TitleFound {
    /// The document.
    pub doc: DocId,
    /// Characters of the folded title; 255 for longer ones.
    pub length: u8,
    /// Whether it begins so but for errors.
    pub has_errors: bool,
}

/// Titles of the documents of a segment, in the order of their keys, then of documents.
#[derive(Debug, Default)]
pub(crate) struct Titles {
    docs: Vec<u32>,
    lengths: Vec<u8>,
    keys: Vec<u8>,
    /// Start of each block in `keys`.
    starts: Vec<u64>,
}

/// Cuts a text to the bytes of a key.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(KEY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Titles under construction.
#[derive(Debug, Default)]
pub(super) struct TitlesMaker {
    keys: String,
    /// Start and bytes of each key, its document and its length.
    titles: Vec<(usize, u8, u32, u8)>,
}

impl TitlesMaker {
    /// Adds the title of a document.
    pub(super) fn push(&mut self, doc: u32, title: &str) {
        let mut key = folded_words(title);
        if key.is_empty() {
            return;
        }
        let characters = key.chars().take(LENGTH_MAX.into()).count();
        key.push(' ');
        let key = cut(&key);
        let start = self.keys.len();
        self.keys.push_str(key);
        self.titles
            .push((start, key.len() as u8, doc, characters as u8));
    }

    pub(super) fn finish(mut self) -> Titles {
        let key = |&(start, bytes, ..): &(usize, u8, u32, u8)| {
            &self.keys.as_bytes()[start..start + usize::from(bytes)]
        };
        (self.titles).sort_unstable_by(|a, b| key(a).cmp(key(b)).then(a.2.cmp(&b.2)));
        let mut titles = Titles::default();
        let mut before: &[u8] = &[];
        for title in &self.titles {
            if titles.docs.len().is_multiple_of(BLOCK_TITLES) {
                titles.starts.push(titles.keys.len() as u64);
                before = &[];
            }
            let key = key(title);
            let shared = common_bytes(before, key);
            let own = &key[shared..];
            titles.keys.extend([shared as u8, own.len() as u8]);
            titles.keys.extend_from_slice(own);
            titles.docs.push(title.2);
            titles.lengths.push(title.3);
            before = key;
        }
        titles.keys.shrink_to_fit();
        titles.docs.shrink_to_fit();
        titles.lengths.shrink_to_fit();
        titles
    }
}

impl Titles {
    /// Returns the titles of [`Segment::titles_beginning`](super::Segment::titles_beginning).
    pub(super) fn beginning(
        &self,
        start: &str,
        edits: u8,
        is_live: &dyn Fn(u32) -> bool,
        is_due: &mut dyn FnMut() -> bool,
    ) -> Vec<TitleFound> {
        let start = cut(start);
        if start.is_empty() {
            return Vec::new();
        }
        let first = self.first_from(start.as_bytes());
        let end =
            successor(start.as_bytes()).map_or(self.docs.len(), |next| self.first_from(&next));
        let verbatim: Vec<usize> = (first..end).filter(|&at| is_live(self.docs[at])).collect();
        let mut found = self.shortest(&verbatim, TITLES_MAX, false);
        if edits > 0 && verbatim.len() < TITLES_MAX {
            let mut near = self.near(&Pattern::near_start(start, edits), is_due);
            near.retain(|&at| !(first..end).contains(&at) && is_live(self.docs[at]));
            found.extend(self.shortest(&near, TITLES_MAX - verbatim.len(), true));
        }
        found.sort_unstable_by_key(|found| found.doc);
        found
    }

    /// Returns the places of the titles of a pattern, in order.
    fn near(&self, pattern: &Pattern, is_due: &mut dyn FnMut() -> bool) -> Vec<usize> {
        let literal = [&[0], pattern.literal().as_bytes()].concat();
        let mut scan = Scan::new(literal, pattern);
        let mut stream = self.from(pattern.literal().as_bytes());
        let mut found = Vec::new();
        while stream.next() {
            if scan.is_call_due() && is_due() {
                break;
            }
            match scan.judge(&stream.key, &stream.key[1..]) {
                Step::End => break,
                Step::Match(_) => found.push(stream.at - 1),
                Step::Miss => {}
                Step::Jump(next) => stream = self.from(&next[1..]),
            }
        }
        found
    }

    /// Returns the `most` shortest titles of some places, and all as long as the longest of these.
    fn shortest(&self, places: &[usize], most: usize, has_errors: bool) -> Vec<TitleFound> {
        let mut counts = [0; 1 + LENGTH_MAX as usize];
        for &at in places {
            counts[usize::from(self.lengths[at])] += 1;
        }
        let mut sum = 0;
        let enough = counts.iter().position(|count| {
            sum += count;
            sum >= most
        });
        let longest = enough.unwrap_or(LENGTH_MAX.into());
        let kept = (places.iter()).filter(|&&at| usize::from(self.lengths[at]) <= longest);
        kept.map(|&at| TitleFound {
            doc: DocId(self.docs[at]),
            length: self.lengths[at],
            has_errors,
        })
        .collect()
    }

    /// Returns the place of the first title whose key is at least `key`.
    fn first_from(&self, key: &[u8]) -> usize {
        let mut stream = self.from(key);
        match stream.next() {
            true => stream.at - 1,
            false => self.docs.len(),
        }
    }

    /// Returns the titles from the first whose key is at least `key`.
    fn from(&self, key: &[u8]) -> TitleStream<'_> {
        let block = self.starts.partition_point(|&start| {
            // The first key of a block is whole.
            let start = start as usize;
            let own = usize::from(self.keys[start + 1]);
            &self.keys[start + 2..start + 2 + own] < key
        });
        let block = block.saturating_sub(1);
        let mut stream = TitleStream {
            titles: self,
            at: block * BLOCK_TITLES,
            byte: self.starts.get(block).map_or(0, |&start| start as usize),
            key: vec![0],
        };
        loop {
            let (at, byte) = (stream.at, stream.byte);
            let before = stream.key.len();
            if !stream.next() {
                break;
            }
            if &stream.key[1..] >= key {
                // It is read again.
                let shared = usize::from(self.keys[byte]);
                debug_assert!(shared < before);
                (stream.at, stream.byte) = (at, byte);
                break;
            }
        }
        stream
    }
}

/// Stream of titles.
struct TitleStream<'a> {
    titles: &'a Titles,
    /// Place after the current title.
    at: usize,
    byte: usize,
    /// A zero, and the key of the current title.
    key: Vec<u8>,
}

impl TitleStream<'_> {
    /// Goes to the next title; returns false after the last.
    fn next(&mut self) -> bool {
        let Titles { docs, keys, .. } = self.titles;
        if self.at >= docs.len() {
            return false;
        }
        let (shared, own) = (
            usize::from(keys[self.byte]),
            usize::from(keys[self.byte + 1]),
        );
        let start = self.byte + 2;
        self.key.truncate(1 + shared);
        self.key.extend_from_slice(&keys[start..start + own]);
        self.byte = start + own;
        self.at += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn titles(of: &[String]) -> Titles {
        let mut maker = TitlesMaker::default();
        for (doc, title) in (0..).zip(of) {
            maker.push(doc, title);
        }
        maker.finish()
    }

    /// The slow twin compares every title.
    fn expected(of: &[String], start: &str, edits: u8, deleted: u32) -> Vec<TitleFound> {
        let mut found = Vec::new();
        for (doc, title) in (0..).zip(of) {
            let folded = folded_words(title);
            let key = format!("{folded} ");
            let is_verbatim = key.starts_with(start);
            let is_near = edits > 0 && Pattern::near_start(start, edits).matches(&key);
            if doc != deleted && !folded.is_empty() && (is_verbatim || is_near) {
                found.push(TitleFound {
                    doc: DocId(doc),
                    length: folded.chars().count() as u8,
                    has_errors: !is_verbatim,
                });
            }
        }
        found
    }

    proptest! {
        #[test]
        fn titles_that_begin_so(
            of in prop::collection::vec("[ab]{0,3}( [abé]{1,3}){0,2}", 0..60),
            start in "[abe]{1,3}( [ab]{0,2})?",
            edits in 0u8..3,
            deleted in 0u32..60,
        ) {
            let titles = titles(&of);
            let found = titles.beginning(&start, edits, &|doc| doc != deleted, &mut || false);
            prop_assert_eq!(found, expected(&of, &start, edits, deleted));
        }
    }

    #[test]
    fn the_shortest_of_many_are_found_with_all_as_long() {
        let of: Vec<String> = (0..3_000)
            .map(|n| format!("a{}", "b".repeat(n % 3)))
            .collect();
        let found = titles(&of).beginning("a", 0, &|_| true, &mut || false);
        assert_eq!(found.len(), TITLES_MAX);
        assert!(found.iter().all(|found| found.length == 1));
        let found = titles(&of[3..]).beginning("a", 0, &|_| true, &mut || false);
        assert_eq!(found.len(), 2 * (TITLES_MAX - 1));
    }

    #[test]
    fn long_titles_are_compared_by_their_beginning() {
        let of = ["word ".repeat(40), "word ".repeat(3)];
        let titles = titles(&of);
        let start = "word ".repeat(20);
        let found = titles.beginning(&start, 1, &|_| true, &mut || false);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].doc, found[0].length), (DocId(0), 199));
    }
}
