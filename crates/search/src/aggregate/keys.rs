//! Keys of the buckets that the documents of a segment are in: codes of values, or numbers of spans of codes.

use super::code_counts::{ARRAY_CODES, count};
use super::sites::Codes;
use crate::collect::doc_bits::Matches;
use fields::Value;
use fields::facet::{BucketKind, CodedValues, Spans};
use index::{DocId, IndexError, Segment};
use smallvec::SmallVec;

/// Codes of a document up to which nothing is allocated.
const FEW: usize = 8;
/// Key of a code that is in no span.
const NO_KEY: u32 = u32::MAX;

/// Codes of a field of a segment, where any document has a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldCodes<'a>(pub(super) Option<Codes<'a>>);

impl<'a> FieldCodes<'a> {
    pub(super) fn open(segment: &'a Segment, field: &str) -> Result<FieldCodes<'a>, IndexError> {
        Codes::open(segment, field).map(FieldCodes)
    }

    fn count(&self) -> u64 {
        self.0.as_ref().map_or(0, Codes::codes_count)
    }

    /// Returns whether a document may have several values.
    pub(super) fn has_lists(&self) -> bool {
        self.0.as_ref().is_some_and(Codes::has_lists)
    }
}

impl CodedValues for FieldCodes<'_> {
    fn value(&self, code: u64) -> Option<Value> {
        self.0.as_ref()?.value(code)
    }
}

/// Keys of a facet in a segment.
#[derive(Debug)]
pub(super) enum Keys {
    /// The codes of values.
    Codes,
    /// Numbers of spans of codes, and that of each code where there are few and no spans overlap.
    Spans(Spans, Vec<u32>),
}

impl Keys {
    /// Returns the keys of buckets, before their documents are counted.
    pub(super) fn of(kind: &dyn BucketKind, codes: &FieldCodes<'_>, matches: Matches<'_>) -> Keys {
        // Of values that are buckets themselves, no count is needed.
        if kind.spans(codes, &[]).is_none() {
            return Keys::Codes;
        }
        let codes_count = codes.count();
        let are_few = codes_count <= ARRAY_CODES.max(matches.count() / 4);
        let spans = match &codes.0 {
            // Those without documents are counted as none.
            Some(_) if are_few => {
                let all: Vec<(u64, u64)> = (1..=codes_count).map(|code| (code, 1)).collect();
                kind.spans(codes, &all)
            }
            Some(own) => {
                let counted = count(own, matches, true, codes_count + 1, |code| code);
                kind.spans(codes, &counted.counts)
            }
            None => kind.spans(codes, &[]),
        };
        let spans = spans.unwrap_or_default();
        let table = match are_few && spans.are_disjoint() {
            true => {
                let key = |code| spans.key(code).map_or(NO_KEY, |key| key as u32);
                (0..=codes_count).map(key).collect()
            }
            false => Vec::new(),
        };
        Keys::Spans(spans, table)
    }

    /// Returns a number above all keys, except for those that a damaged column may have.
    pub(super) fn end(&self, codes: &FieldCodes<'_>) -> u64 {
        match self {
            Keys::Codes => codes.count() + 1,
            Keys::Spans(spans, _) => spans.count() as u64,
        }
    }

    /// Returns the name of a span.
    pub(super) fn name(&self, key: u64) -> Option<Value> {
        match self {
            Keys::Codes => None,
            Keys::Spans(spans, _) => spans.name(key).cloned(),
        }
    }

    /// Returns the key of a bucket; `None` where no document of the segment is in it.
    pub(super) fn find(&self, codes: &FieldCodes<'_>, name: &Value) -> Option<u64> {
        if let Keys::Spans(spans, _) = self {
            return spans.find(name);
        }
        codes.0.as_ref()?.find(name)
    }
}

/// Returns the key of a code, of spans that do not overlap.
#[inline]
fn key_of(spans: &Spans, table: &[u32], code: u64) -> Option<u64> {
    match table.get(code as usize) {
        Some(&key) => (key != NO_KEY).then_some(u64::from(key)),
        None => spans.key(code),
    }
}

/// Calls `each` with the keys of a document, once for each with `once`. Returns whether the document has a value.
#[inline]
pub(super) fn each_key(
    codes: &FieldCodes<'_>,
    keys: &Keys,
    once: bool,
    doc: DocId,
    each: &mut impl FnMut(u64),
) -> bool {
    let Some(codes) = &codes.0 else {
        if let Keys::Spans(spans, _) = keys {
            spans.each_key(&[0], each);
        }
        return false;
    };
    match keys {
        Keys::Codes => {
            let mut before = 0;
            codes.each_code(doc, |code| {
                if code > 0 && !(once && code == before) {
                    each(code);
                }
                before = code;
            });
            before > 0
        }
        Keys::Spans(spans, table) if spans.are_disjoint() => {
            let (mut before, mut has_value) = (u64::MAX, false);
            codes.each_code(doc, |code| {
                has_value |= code > 0;
                if let Some(key) = key_of(spans, table, code).filter(|&key| key != before) {
                    each(key);
                    before = key;
                }
            });
            if !has_value && let Some(key) = spans.key(0).filter(|&key| key != before) {
                each(key);
            }
            has_value
        }
        Keys::Spans(spans, _) => {
            let mut own = SmallVec::<[u64; FEW]>::new();
            codes.each_code(doc, |code| own.push(code));
            let has_value = own.iter().any(|&code| code > 0);
            if own.is_empty() {
                own.push(0);
            }
            spans.each_key(&own, each);
            has_value
        }
    }
}
