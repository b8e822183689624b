//! Column of a field in one segment, open for reading.

use super::bits::{Bits, width_of};
use super::directory::{BLOCK_DOCUMENTS, Coding, ColumnEntry, Part};
use super::words::Words;
use crate::DocId;
use crate::sealed::read_u64;
use crate::section::Section;
use fields::{FieldType, Limit, Test, Value};
use std::cmp::Ordering;
use std::ops::Range;

/// Blocks of a sample.
const SAMPLES: u32 = 32;

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

/// Mapping of codes to values.
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
        let least = width_of(entry.codes.checked_sub(entry.floor)?);
        let width = entry.width.unwrap_or(least);
        if width < least {
            return None;
        }
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
        let mut first = base;
        let mut left = words;
        while !left.is_empty() {
            // As far as the block goes.
            let end = (first / BLOCK_DOCUMENTS + 1).saturating_mul(BLOCK_DOCUMENTS);
            let count = left.len().min((end - first).div_ceil(64).max(1) as usize);
            let (of_block, rest) = left.split_at_mut(count);
            self.mark_in_block(first, of_block, range);
            (first, left) = (first.saturating_add(count as u32 * 64), rest);
        }
    }

    /// Marks documents as [`Column::mark`] does, all of one block.
    #[inline]
    fn mark_in_block(&self, base: u32, words: &mut [u64], range: CodeRange) {
        words.fill(0);
        let length = u32::try_from(words.len() * 64).unwrap_or(u32::MAX);
        let docs = base..self.documents_count.min(base.saturating_add(length));
        let ends = match docs.is_empty() {
            true => None,
            false => self.block_ends(DocId(base)),
        };
        let Some(ends) = ends.filter(|ends| ends.low <= range.high && ends.high >= range.low)
        else {
            return;
        };
        if let Some(starts) = &self.starts {
            return self.mark_lists(starts, docs, words, range);
        }
        // All documents of the block have a value, and each is in the range.
        let is_all = self.floor > 0 && ends.low >= range.low && ends.high <= range.high;
        for (first, word) in docs.clone().step_by(64).zip(words) {
            let all = u64::MAX >> (64 - (docs.end - first).min(64));
            *word = match is_all {
                true => all,
                false => self.within(first as usize, range) & all,
            };
        }
    }

    /// Marks documents of a column with lists: places that pass are looked for first, then their documents.
    fn mark_lists(&self, starts: &Bits<'_>, docs: Range<u32>, words: &mut [u64], range: CodeRange) {
        let start_of = |doc: u32| starts.get(doc.min(docs.end) as usize) as usize;
        let places = start_of(docs.start)..start_of(docs.end);
        // The documents of the word that the last place was in.
        let mut first = docs.start;
        let mut next_start = start_of(first.saturating_add(64));
        let mut at = places.start / 64 * 64;
        while at < places.end {
            let mut found = self.within(at, range);
            if at < places.start {
                found &= u64::MAX << (places.start - at);
            }
            if places.end - at < 64 {
                found &= (1 << (places.end - at)) - 1;
            }
            while found != 0 {
                let place = at + found.trailing_zeros() as usize;
                found &= found - 1;
                while next_start <= place && docs.end - first > 64 {
                    first += 64;
                    next_start = start_of(first.saturating_add(64));
                }
                let doc = document_of(
                    starts,
                    first..docs.end.min(first.saturating_add(64)),
                    place as u64,
                );
                if let Some(word) = words.get_mut(((first - docs.start) / 64) as usize) {
                    *word |= 1 << (doc - first);
                }
            }
            at += 64;
        }
    }

    /// Returns which of the 64 codes from a place on, a multiple of 8, are in a range.
    #[inline]
    fn within(&self, place: usize, range: CodeRange) -> u64 {
        // Stored codes are less by the floor, which no range is below.
        let low = range.low.saturating_sub(self.floor);
        self.values.within(place, low, range.high - self.floor)
    }

    /// Returns the number of documents in blocks that may have a value in `range`, and an estimate, from a sample, of
    /// the documents that have one.
    pub fn estimate(&self, range: CodeRange) -> (u64, u64) {
        let (mut scanned, mut sampled, mut found) = (0, 0, 0);
        let step = (self.documents_count / BLOCK_DOCUMENTS / SAMPLES).max(1);
        for number in 0..self.documents_count.div_ceil(BLOCK_DOCUMENTS) {
            let first = number * BLOCK_DOCUMENTS;
            let documents = (self.documents_count - first).min(BLOCK_DOCUMENTS);
            let ends = self.block_ends(DocId(first));
            let may_pass =
                ends.is_some_and(|ends| ends.low <= range.high && ends.high >= range.low);
            scanned += match may_pass {
                true => u64::from(documents),
                false => 0,
            };
            if number % step == 0 {
                // Another part of each block, where values come at regular distances.
                let first = first + number / step % 16 * 64;
                sampled += u64::from(self.documents_count.saturating_sub(first).min(64));
                let mut word = [0];
                self.mark_in_block(first, &mut word, range);
                found += u64::from(word[0].count_ones());
            }
        }
        let share = (found * u64::from(self.documents_count)).div_ceil(sampled.max(1));
        (scanned, share.max(1).min(scanned))
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

/// Returns the document, of up to 64, that a place belongs to.
#[inline]
fn document_of(starts: &Bits<'_>, docs: Range<u32>, place: u64) -> u32 {
    let mut doc = docs.start;
    // Without branches, which nothing predicts. The next document starts after the place.
    for step in [32, 16, 8, 4, 2, 1] {
        let later = doc.saturating_add(step).min(docs.end);
        doc += step * u32::from(starts.get(later as usize) <= place);
    }
    doc
}

/// Returns ten to a power, exactly for all that columns use.
pub(super) fn power_of_ten(exponent: u32) -> f64 {
    10f64.powi(exponent.min(22) as i32)
}
