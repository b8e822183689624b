//! Column of a field in one segment, open for reading.

use super::BLOCK_DOCUMENTS;
use super::bits::{Bits, width_of};
use super::directory::{Coding, ColumnEntry, Part};
use super::words::Words;
use crate::DocId;
use crate::sealed::read_u64;
use crate::section::Section;
use fields::{FieldType, Limit, Test, Value};
use std::cmp::Ordering;
use std::ops::Range;

/// Range of codes of one column, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRange {
    /// Least code, 1 at least.
    pub low: u64,
    /// Greatest code.
    pub high: u64,
}

impl CodeRange {
    /// Returns whether a code is in the range. 0, the code of a missing value, never is.
    #[inline(always)]
    pub fn contains(&self, code: u64) -> bool {
        // One comparison: codes below `low` wrap around.
        code.wrapping_sub(self.low) <= self.high - self.low
    }
}

/// Values of a field by document.
///
/// A value is given by its code: codes are in the order of values, and begin at 1. Codes of different segments do not
/// compare.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    kind: FieldType,
    documents_count: u32,
    values: Bits<'a>,
    floor: u64,
    starts: Option<Bits<'a>>,
    bounds: Bits<'a>,
    codes_count: u64,
    values_count: u64,
    table: Table<'a>,
}

/// Way from codes to values.
#[derive(Debug, Clone, Copy)]
enum Table<'a> {
    Linear {
        base: u64,
        step: u64,
        scale: Option<u32>,
    },
    Ranked(&'a [u8]),
    Words(Words<'a>),
}

impl<'a> Column<'a> {
    /// Opens a column of a segment with `documents_count` documents, all of it verified; `None` where its parts do not
    /// fit each other.
    pub(super) fn open(
        payload: &'a Section,
        entry: &ColumnEntry,
        documents_count: u32,
    ) -> Option<Column<'a>> {
        let part = |part: Part| {
            let start = usize::try_from(part.start).ok()?;
            payload.get(start..start.checked_add(usize::try_from(part.bytes).ok()?)?)
        };
        let documents = u64::from(documents_count);
        let width = width_of(entry.codes.checked_sub(entry.floor)?);
        let starts = match entry.starts {
            Some(starts) => {
                let width = width_of(entry.values_count);
                Some(Bits::open(part(starts)?, documents + 1, width)?)
            }
            None => None,
        };
        let values_count = match starts {
            Some(_) => entry.values_count,
            None => documents,
        };
        let table = match (entry.coding, entry.table) {
            (Coding::Linear { base, step, scale }, None) => Table::Linear { base, step, scale },
            (Coding::Ranked, Some(table)) => {
                let keys = part(table)?;
                (keys.len() as u64 == entry.codes.checked_mul(8)?).then_some(Table::Ranked(keys))?
            }
            (Coding::Words, Some(table)) => Table::Words(Words::open(part(table)?, entry.codes)?),
            _ => return None,
        };
        let blocks = u64::from(documents_count.div_ceil(BLOCK_DOCUMENTS));
        Some(Column {
            kind: entry.kind,
            documents_count,
            values: Bits::open(part(entry.values)?, values_count, width)?,
            floor: entry.floor,
            starts,
            bounds: Bits::open(part(entry.bounds)?, 2 * blocks, width_of(entry.codes))?,
            codes_count: entry.codes,
            values_count: entry.values_count,
            table,
        })
    }

    /// Returns the type of the values.
    pub fn kind(&self) -> FieldType {
        self.kind
    }

    /// Returns the greatest code.
    pub fn codes_count(&self) -> u64 {
        self.codes_count
    }

    /// Returns the number of values of all documents, deleted ones included.
    pub fn values_count(&self) -> u64 {
        self.values_count
    }

    /// Returns whether a document may have several values.
    pub fn has_lists(&self) -> bool {
        self.starts.is_some()
    }

    /// Returns the code of a document's value, 0 where it has none. Only for a column without lists.
    #[inline(always)]
    pub fn code(&self, doc: DocId) -> u64 {
        self.floor + self.values.get(doc.0 as usize)
    }

    /// Returns the places of a document's values, for [`Column::code_at`]. Only for a column with lists.
    #[inline]
    fn places(&self, doc: DocId) -> Range<usize> {
        let Some(starts) = &self.starts else {
            return 0..0;
        };
        let start = starts.get(doc.0 as usize) as usize;
        start..starts.get(doc.0 as usize + 1) as usize
    }

    #[inline(always)]
    fn code_at(&self, place: usize) -> u64 {
        self.floor + self.values.get(place)
    }

    /// Calls `each` with the codes of a document's values, in order; none where it has no value.
    #[inline(always)]
    pub fn each_code(&self, doc: DocId, mut each: impl FnMut(u64)) {
        match self.has_lists() {
            true => self.places(doc).for_each(|place| each(self.code_at(place))),
            false => match self.code(doc) {
                0 => {}
                code => each(code),
            },
        }
    }

    /// Returns the least and the greatest code of a document's values; `None` where it has none.
    #[inline]
    pub fn ends(&self, doc: DocId) -> Option<(u64, u64)> {
        if !self.has_lists() {
            let code = self.code(doc);
            return (code > 0).then_some((code, code));
        }
        let places = self.places(doc);
        let last = places.end.checked_sub(1)?;
        (places.start <= last).then(|| (self.code_at(places.start), self.code_at(last)))
    }

    /// Returns whether any value of a document is in a range.
    #[inline]
    pub fn passes(&self, doc: DocId, range: CodeRange) -> bool {
        match self.has_lists() {
            true => self
                .places(doc)
                .any(|place| range.contains(self.code_at(place))),
            false => range.contains(self.code(doc)),
        }
    }

    /// Returns the least and the greatest code of the block of a document; `None` where no document of it has a value.
    #[inline]
    pub fn block_ends(&self, doc: DocId) -> Option<CodeRange> {
        let block = (doc.0 / BLOCK_DOCUMENTS) as usize;
        let (low, high) = (self.bounds.get(2 * block), self.bounds.get(2 * block + 1));
        (low > 0 && low <= high).then_some(CodeRange { low, high })
    }

    /// Returns the first document at or after `doc` whose block may have a value in `range`; `DocId::END` where there
    /// is none.
    pub fn skip_blocks(&self, mut doc: DocId, range: CodeRange) -> DocId {
        while doc.0 < self.documents_count {
            let ends = self.block_ends(doc);
            if ends.is_some_and(|ends| ends.low <= range.high && ends.high >= range.low) {
                return doc;
            }
            doc = DocId((doc.0 / BLOCK_DOCUMENTS + 1) * BLOCK_DOCUMENTS);
        }
        DocId::END
    }

    /// Sets the bits of `words`, of the documents from `base` on (a multiple of 64), whose documents have a value in
    /// `range`, and clears all others.
    pub fn mark(&self, base: u32, words: &mut [u64], range: CodeRange) {
        for (number, word) in words.iter_mut().enumerate() {
            let first = base.saturating_add(number as u32 * 64);
            *word = self.marked(first, range);
        }
    }

    /// Returns the bits of 64 documents from `first` on.
    #[inline]
    fn marked(&self, first: u32, range: CodeRange) -> u64 {
        let end = self.documents_count.min(first.saturating_add(64));
        let ends = match first < end {
            true => self.block_ends(DocId(first)),
            false => None,
        };
        let Some(ends) = ends.filter(|ends| ends.low <= range.high && ends.high >= range.low)
        else {
            return 0;
        };
        let docs = first..end;
        // All documents of the block have a value, and each is in the range.
        if self.floor > 0 && !self.has_lists() && ends.low >= range.low && ends.high <= range.high {
            return u64::MAX >> (64 - docs.len());
        }
        match &self.starts {
            Some(starts) => self.marked_lists(starts, docs, range),
            None => {
                let all = u64::MAX >> (64 - docs.len());
                self.within(first as usize, range) & all
            }
        }
    }

    /// Returns which of the 64 codes from a place on, a multiple of 8, are in a range.
    #[inline]
    fn within(&self, place: usize, range: CodeRange) -> u64 {
        // Stored codes are less by the floor, which no range is below.
        let low = range.low.saturating_sub(self.floor);
        self.values.within(place, low, range.high - self.floor)
    }

    /// Returns the bits of some documents, 64 at most, of a column with lists: places that pass are looked for first,
    /// then their documents.
    fn marked_lists(&self, starts: &Bits<'_>, docs: Range<u32>, range: CodeRange) -> u64 {
        let places =
            starts.get(docs.start as usize) as usize..starts.get(docs.end as usize) as usize;
        let (mut word, mut doc) = (0, docs.start);
        let mut at = places.start / 8 * 8;
        while at < places.end {
            let mut found = self.within(at, range);
            if at < places.start {
                found &= u64::MAX << (places.start - at);
            }
            if places.end - at < 64 {
                found &= (1 << (places.end - at)) - 1;
            }
            while found != 0 {
                let place = at as u64 + u64::from(found.trailing_zeros());
                found &= found - 1;
                doc = document_of(starts, doc..docs.end, place);
                word |= 1 << (doc - docs.start).min(63);
            }
            at += 64;
        }
        word
    }

    /// Returns the value of a code; `None` for 0, for codes beyond the greatest, and on damage.
    pub fn value(&self, code: u64) -> Option<Value> {
        let rank = code.checked_sub(1).filter(|_| code <= self.codes_count)?;
        match &self.table {
            Table::Linear { base, step, scale } => {
                let key = base.checked_add(step.checked_mul(rank)?)?;
                match scale {
                    None => Value::of_key(self.kind, key),
                    Some(scale) => match Value::of_key(FieldType::Integer, key)? {
                        Value::Integer(scaled) => {
                            Value::float(scaled as f64 / power_of_ten(*scale))
                        }
                        _ => None,
                    },
                }
            }
            Table::Ranked(keys) => Value::of_key(self.kind, read_u64(keys, rank as usize * 8)),
            Table::Words(words) => {
                let mut word = Vec::new();
                words
                    .get(rank, &mut word)
                    .map(|word| Value::Keyword(word.to_owned()))
            }
        }
    }

    /// Returns the codes whose values pass a test; `None` where there are none.
    pub fn range(&self, test: &Test) -> Option<CodeRange> {
        let (low, end) = match test {
            Test::Exists => (0, self.codes_count),
            Test::Prefix(prefix) => {
                let Table::Words(words) = &self.table else {
                    return None;
                };
                let low = words.partition_point(|word| word < prefix.as_str())?;
                let is_before = |word: &str| word < prefix.as_str() || word.starts_with(prefix);
                (low, words.partition_point(is_before)?)
            }
            Test::Range { low, high } => {
                let low = match low {
                    Some(low) => self.rank_from(low, Ordering::Less)?,
                    None => 0,
                };
                let end = match high {
                    Some(high) => self.rank_from(high, Ordering::Greater)?,
                    None => self.codes_count,
                };
                (low, end)
            }
        };
        (low < end).then_some(CodeRange {
            low: low + 1,
            high: end,
        })
    }

    /// Returns the number of codes before the limit: with `Less`, those of values that a lower limit excludes; with
    /// `Greater`, those that an upper limit includes. `None` on damage.
    fn rank_from(&self, limit: &Limit, outside: Ordering) -> Option<u64> {
        let is_before = |order: Ordering| match (outside, limit.inclusive) {
            (Ordering::Less, true) | (Ordering::Greater, false) => order == Ordering::Less,
            _ => order != Ordering::Greater,
        };
        if let (Table::Words(words), Value::Keyword(text)) = (&self.table, &limit.value) {
            return words.partition_point(|word| is_before(word.cmp(text.as_str())));
        }
        let (mut low, mut high) = (0, self.codes_count);
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(self.value(middle + 1)?.order(&limit.value)) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Some(low)
    }
}

/// Returns the document, of some, that a place belongs to.
fn document_of(starts: &Bits<'_>, docs: Range<u32>, place: u64) -> u32 {
    let (mut low, mut high) = (docs.start, docs.end);
    // The document starts at or before the place, the next one after it.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match starts.get(middle as usize) <= place {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// Returns ten to a power, exactly for all that columns use.
pub(super) fn power_of_ten(exponent: u32) -> f64 {
    10f64.powi(exponent.min(22) as i32)
}
