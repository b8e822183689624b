//! Stored pairs: where two very frequent words stand one after the other.
//!
//! A phrase of words that nearly every document holds ("to be or not to be") would have the positions of nearly
//! every document read. So of some pairs of such words a segment keeps the documents in which the second stands
//! right behind the first, how often, and bounds: a posting list like that of a word, without positions. A phrase
//! looks its pairs up and reads positions only in documents that hold them all; a phrase that is one pair is
//! answered by its list alone (Williams, Zobel & Bahle, "Fast phrase querying with combined indexes", 2004, whose
//! nextword index this is for the few words where it pays).
//!
//! They are a file of their own, made of the segment when that is written (see `write`), because which words are
//! frequent is known only then. An index without them gives the same answers.
//!
//! ```text
//! payload    := list{pairs} words pairs table_start:u64le
//! list       := see `postings`; in the order of the pairs
//! words      := count:vint { bytes:vint text[bytes] }{count}        words of the default field, 128 at most
//! pairs      := count:vint pair{count}                              in order of (first, second)
//! pair       := first:u8 second:u8 documents:vint more_occurrences:vint list_bytes:vint
//! ```
//!
//! `first` and `second` number words; `more_occurrences` are those beyond one a document.

mod choose;
mod walk;
mod write;

pub(crate) use walk::count_in_each;
pub(crate) use write::{pairs_name, write_missing};

use crate::live::LiveFile;
use crate::postings::{ListBytes, Origin};
use crate::sealed::{Identity, Seal};
use crate::section::{LazyBytes, Section, open_live};
use crate::segment::SegmentCore;
use crate::terms::with_key;
use crate::{Blocks, Field, IndexError, Postings, TermRecord};
use codec::vint;
use std::sync::{Arc, OnceLock};
use vfs::SharedStorage;

/// Words whose pairs are looked at: a document's words are the bits of one integer.
pub(crate) const WORDS_MAX: usize = 128;

/// Which pairs of frequent words an index keeps. A named property of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairs {
    /// Those that save most for their bytes, up to a share of the index.
    #[default]
    Frequent,
    /// Every pair of the 128 most frequent words, whatever it takes.
    All,
    /// None.
    None,
}

impl Pairs {
    /// The name in manifests and options.
    pub fn name(self) -> &'static str {
        match self {
            Pairs::Frequent => "frequent",
            Pairs::All => "all",
            Pairs::None => "none",
        }
    }

    pub(crate) fn is_frequent(&self) -> bool {
        *self == Pairs::Frequent
    }
}

/// Where the list of a stored pair is, and how many documents and occurrences it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairRecord(TermRecord);

impl PairRecord {
    /// Documents in which the second word follows the first.
    pub fn documents_count(&self) -> u32 {
        self.0.documents_count
    }

    pub(crate) fn occurrences_count(&self) -> u64 {
        self.0.occurrences_count
    }
}

/// The pairs of one segment. Their table is read when a pair is first looked for.
#[derive(Debug)]
pub(crate) struct PairLists {
    payload: Section,
    /// `None` where it is damaged, or the segment is.
    table: OnceLock<Option<PairTable>>,
}

/// Which pairs there are.
#[derive(Debug)]
pub(crate) struct PairTable {
    lists: Section,
    /// By number.
    words: Vec<TermRecord>,
    /// The same, as they are found: where a word's own list starts, and its number.
    numbers: Vec<(u64, u8)>,
    /// No word has fewer documents.
    documents_min: u32,
    pairs: Vec<StoredPair>,
}

/// A pair: the numbers of its words, and where its list is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredPair {
    pub(crate) words: (u8, u8),
    pub(crate) record: PairRecord,
}

impl PairLists {
    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
        seal: Seal,
    ) -> Result<PairLists, IndexError> {
        Ok(PairLists {
            payload: open_live(storage, name, identity, seal)?,
            table: OnceLock::new(),
        })
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.payload.file()
    }

    /// The table of the pairs of `segment`, whose pairs these are; `None` where one of the two is damaged, as their files
    /// say from then on.
    #[inline]
    fn table(&self, segment: &SegmentCore) -> Option<&PairTable> {
        let table = self.table.get_or_init(|| self.read_table(segment));
        table.as_ref()
    }

    #[cold]
    fn read_table(&self, segment: &SegmentCore) -> Option<PairTable> {
        PairTable::read(&self.payload, segment)
            .map_err(|(at, what)| {
                if segment.file().is_trusted() && self.file().is_trusted() {
                    let offset = self.payload.file_offset() + at as u64;
                    self.file().found_false(offset, what);
                }
            })
            .ok()
    }

    /// The pair of two words, by their records in the segment, where it is stored.
    #[inline]
    pub(crate) fn find(
        &self,
        segment: &SegmentCore,
        first: &TermRecord,
        second: &TermRecord,
    ) -> Option<PairRecord> {
        self.table(segment)?.find(first, second)
    }

    /// The words, and all pairs by the numbers of their words.
    pub(crate) fn all(
        &self,
        segment: &SegmentCore,
    ) -> Result<(&[TermRecord], &[StoredPair]), IndexError> {
        match self.table(segment) {
            Some(table) => Ok((&table.words, &table.pairs)),
            None => {
                segment.file().ensure_trusted()?;
                Err(self.payload.damaged(0, "the table of pairs is unreadable"))
            }
        }
    }

    /// That a pair's list makes no sense.
    pub(crate) fn damaged(&self, pair: &PairRecord, what: &str) -> IndexError {
        self.payload.damaged(pair.0.postings_start, what)
    }

    fn list(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<(ListBytes<'_>, Origin<'_>), IndexError> {
        let PairRecord(record) = pair;
        let start = record.postings_start as usize;
        let end = start.saturating_add(record.postings_bytes as usize);
        let table = self.table.get().and_then(Option::as_ref);
        let postings = table.and_then(|table| table.lists.get(start..end));
        let bytes = ListBytes {
            codec: segment.meta().codec,
            documents_count: record.documents_count,
            occurrences_count: record.occurrences_count,
            docs_limit: segment.meta().documents_count,
            postings: postings.ok_or_else(|| self.damaged(pair, "a list lies outside"))?,
            positions: LazyBytes::default(),
        };
        let offset = self.payload.file_offset() + record.postings_start;
        let origin = Origin {
            path: self.file().path(),
            postings_offset: offset,
            positions_offset: offset,
        };
        Ok((bytes, origin))
    }

    /// The documents of a pair of `segment`, whose pairs these are, block by block.
    #[inline]
    pub(crate) fn blocks(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<Blocks<'_>, IndexError> {
        let (bytes, origin) = self.list(segment, pair)?;
        Ok(Blocks::new(bytes, origin))
    }

    /// The same, document by document.
    pub(crate) fn postings(
        &self,
        segment: &SegmentCore,
        pair: &PairRecord,
    ) -> Result<Postings<'_>, IndexError> {
        let (bytes, origin) = self.list(segment, pair)?;
        Ok(Postings::new(bytes, origin))
    }
}

impl PairTable {
    /// Reads the end of the file; where it makes no sense, and what is wrong.
    fn read(payload: &Section, segment: &SegmentCore) -> Result<PairTable, (usize, &'static str)> {
        let no_sense = "the table of pairs makes no sense";
        let table_end = payload.len().checked_sub(8);
        let table_start = table_end.map(|end| payload.read_u64(end) as usize);
        let table = table_start.zip(table_end).and_then(|(start, end)| {
            let table = payload.get(start..end)?;
            Some((payload.part(0, start)?, table))
        });
        let (lists, table) = table.ok_or((payload.len(), "the table of pairs is missing"))?;
        let mut at = 0;
        let parsed = read_table(table, &mut at, segment.meta().documents_count);
        let at = lists.len() + at.min(table.len());
        let parsed = parsed.filter(|table| table.bytes() == lists.len());
        let Table { words, pairs } = parsed.ok_or((at, no_sense))?;
        let mut records = Vec::with_capacity(words.len());
        for word in words {
            let record = with_key(Field::Text, word, |key| segment.terms.find(key));
            let record = record.map_err(|_| (at, no_sense))?;
            records.push(record.ok_or((at, "a word of the pairs is no term"))?);
        }
        let numbers = (0..).zip(&records);
        let mut numbers: Vec<_> = numbers.map(|(n, word)| (word.postings_start, n)).collect();
        numbers.sort_unstable();
        let counts = records.iter().map(|word| word.documents_count);
        Ok(PairTable {
            documents_min: counts.min().unwrap_or(u32::MAX),
            lists,
            words: records,
            numbers,
            pairs,
        })
    }

    #[inline]
    fn find(&self, first: &TermRecord, second: &TermRecord) -> Option<PairRecord> {
        // Nearly all words are not frequent enough.
        if first.documents_count.min(second.documents_count) < self.documents_min {
            return None;
        }
        let number = |word: &TermRecord| {
            let numbers = &self.numbers;
            let at = numbers.binary_search_by_key(&word.postings_start, |&(start, _)| start);
            Some(numbers[at.ok()?].1)
        };
        let key = (number(first)?, number(second)?);
        let at = self.pairs.binary_search_by_key(&key, |pair| pair.words);
        Some(self.pairs[at.ok()?].record)
    }
}

/// What the end of the file says.
struct Table<'a> {
    words: Vec<&'a str>,
    pairs: Vec<StoredPair>,
}

impl Table<'_> {
    /// Bytes of all lists.
    fn bytes(&self) -> usize {
        self.pairs.last().map_or(0, |pair| {
            let PairRecord(last) = pair.record;
            (last.postings_start + last.postings_bytes) as usize
        })
    }
}

fn read_table<'a>(bytes: &'a [u8], at: &mut usize, documents_count: u32) -> Option<Table<'a>> {
    let read = |at: &mut usize| vint::read_u64(bytes, at).ok();
    let words_count = read(at)? as usize;
    let mut words = Vec::new();
    for _ in 0..words_count {
        let length = usize::try_from(read(at)?).ok()?;
        words.push(std::str::from_utf8(bytes.get(*at..at.checked_add(length)?)?).ok()?);
        *at += length;
    }
    let mut pairs: Vec<StoredPair> = Vec::new();
    let mut start = 0u64;
    for _ in 0..read(at)? {
        let &[first, second] = bytes.get(*at..*at + 2)? else {
            return None;
        };
        *at += 2;
        let documents = u32::try_from(read(at)?).ok()?;
        let record = TermRecord {
            documents_count: documents,
            occurrences_count: read(at)?.checked_add(documents.into())?,
            postings_start: start,
            postings_bytes: read(at)?,
            positions_start: 0,
            positions_bytes: 0,
        };
        let words = (first, second);
        let increases = pairs.last().is_none_or(|before| before.words < words);
        let known = usize::from(first.max(second)) < words_count;
        if !increases || !known || documents > documents_count {
            return None;
        }
        start = start.checked_add(record.postings_bytes)?;
        pairs.push(StoredPair {
            words,
            record: PairRecord(record),
        });
    }
    (*at == bytes.len() && words_count <= WORDS_MAX).then_some(Table { words, pairs })
}

#[cfg(test)]
mod tests;
