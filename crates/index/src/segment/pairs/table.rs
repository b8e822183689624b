//! Table of the stored pairs of a segment: the words, and the place of the list of each pair.

use crate::section::Section;
use crate::segment::SegmentCore;
use crate::terms::with_key;
use crate::{Field, TermRecord};
use codec::vint;

/// Highest number of words in pairs: the words of a document are the bits of one integer.
pub(crate) const WORDS_MAX: usize = 128;

/// Place of a stored pair's list, with its documents and occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairRecord(pub(super) TermRecord);

impl PairRecord {
    /// Returns the number of documents in which the second word follows the first.
    pub fn documents_count(&self) -> u32 {
        self.0.documents_count
    }

    pub(crate) fn occurrences_count(&self) -> u64 {
        self.0.occurrences_count
    }
}

/// Numbers of the words of a pair, and the place of its list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredPair {
    pub(crate) words: (u8, u8),
    pub(crate) record: PairRecord,
}

/// Table of the pairs of a segment.
#[derive(Debug)]
pub(crate) struct PairTable {
    pub(super) lists: Section,
    /// Records of the words, by number.
    pub(super) words: Vec<TermRecord>,
    /// Starts of the words' own lists, sorted, with the numbers of the words.
    pub(super) numbers: Vec<(u64, u8)>,
    /// Fewest documents of any of the words.
    pub(super) documents_min: u32,
    pub(super) pairs: Vec<StoredPair>,
}

impl PairTable {
    /// Reads the table at the end of the file; an error is the offset and the description of a defect.
    pub(super) fn read(
        payload: &Section,
        segment: &SegmentCore,
    ) -> Result<PairTable, (usize, &'static str)> {
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
    pub(super) fn find(&self, first: &TermRecord, second: &TermRecord) -> Option<PairRecord> {
        // Nearly all words are too rare to be in a pair.
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

/// Parsed end of the file.
pub(crate) struct Table<'a> {
    pub(super) words: Vec<&'a str>,
    pub(crate) pairs: Vec<StoredPair>,
}

impl Table<'_> {
    /// Returns the bytes of all lists.
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.last().map_or(0, |pair| {
            let PairRecord(last) = pair.record;
            (last.postings_start + last.postings_bytes) as usize
        })
    }
}

pub(crate) fn read_table<'a>(
    bytes: &'a [u8],
    at: &mut usize,
    documents_count: u32,
) -> Option<Table<'a>> {
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
