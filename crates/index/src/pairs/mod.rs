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
use crate::sealed::{Identity, Seal, Section, open_live, read_u64};
use crate::{Blocks, Field, IndexError, Postings, Segment, TermRecord};
use codec::vint;
use std::path::PathBuf;
use std::sync::Arc;
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

/// The pairs of one segment, opened.
#[derive(Debug)]
pub(crate) struct PairLists {
    path: PathBuf,
    file: Arc<LiveFile>,
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
    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        &self.file
    }

    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
        seal: Seal,
        segment: &Segment,
    ) -> Result<PairLists, IndexError> {
        let (payload, file) = open_live(storage, name, identity, seal)?;
        let path = storage.location().join(name);
        let damaged = |at: usize, what: &str| IndexError::Damaged {
            path: path.clone(),
            offset: payload.file_offset() + at as u64,
            what: what.to_owned(),
        };
        let table_end = payload.len().checked_sub(8);
        let table_start = table_end.map(|end| read_u64(&payload, end) as usize);
        let table = table_start.zip(table_end).and_then(|(start, end)| {
            let table = payload.get(start..end)?;
            Some((payload.part(0, start)?, table))
        });
        let Some((lists, table)) = table else {
            return Err(damaged(payload.len(), "the table of pairs is missing"));
        };
        let mut at = 0;
        let parsed = read_table(table, &mut at, segment.documents_count());
        let at = lists.len() + at.min(table.len());
        let Some(Table { words, pairs }) = parsed.filter(|table| table.bytes() == lists.len())
        else {
            return Err(damaged(at, "the table of pairs makes no sense"));
        };
        let mut records = Vec::with_capacity(words.len());
        for word in words {
            let record = segment.term(Field::Text, word)?;
            records.push(record.ok_or_else(|| damaged(at, &format!("{word:?} is no term")))?);
        }
        let numbers = (0..).zip(&records);
        let mut numbers: Vec<_> = numbers.map(|(n, word)| (word.postings_start, n)).collect();
        numbers.sort_unstable();
        Ok(PairLists {
            documents_min: records
                .iter()
                .map(|word| word.documents_count)
                .min()
                .unwrap_or(u32::MAX),
            path,
            file,
            lists,
            words: records,
            numbers,
            pairs,
        })
    }

    /// The pair of two words, by their records in the segment, where it is stored.
    #[inline]
    pub(crate) fn find(&self, first: &TermRecord, second: &TermRecord) -> Option<PairRecord> {
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

    /// The words, and all pairs by the numbers of their words.
    pub(crate) fn all(&self) -> (&[TermRecord], &[StoredPair]) {
        (&self.words, &self.pairs)
    }

    /// That a pair's list makes no sense.
    pub(crate) fn damaged(&self, pair: &PairRecord, what: &str) -> IndexError {
        IndexError::Damaged {
            path: self.path.clone(),
            offset: self.lists.file_offset() + pair.0.postings_start,
            what: what.to_owned(),
        }
    }

    fn list(&self, segment: &Segment, pair: &PairRecord) -> (ListBytes<'_>, Origin<'_>) {
        let PairRecord(record) = pair;
        let start = record.postings_start as usize;
        let end = start.saturating_add(record.postings_bytes as usize);
        let bytes = ListBytes {
            codec: segment.meta().codec,
            documents_count: record.documents_count,
            occurrences_count: record.occurrences_count,
            docs_limit: segment.documents_count(),
            // Opening saw that all lists lie inside.
            postings: self.lists.get(start..end).unwrap_or(&[]),
            positions: &[],
        };
        let origin = Origin {
            path: &self.path,
            postings_offset: self.lists.file_offset() + record.postings_start,
            positions_offset: self.lists.file_offset() + record.postings_start,
        };
        (bytes, origin)
    }

    /// The documents of a pair of `segment`, whose pairs these are, block by block.
    #[inline]
    pub(crate) fn blocks(&self, segment: &Segment, pair: &PairRecord) -> Blocks<'_> {
        let (bytes, origin) = self.list(segment, pair);
        Blocks::new(bytes, origin)
    }

    /// The same, document by document.
    pub(crate) fn postings(&self, segment: &Segment, pair: &PairRecord) -> Postings<'_> {
        let (bytes, origin) = self.list(segment, pair);
        Postings::new(bytes, origin)
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
