//! Keys of the buckets that the documents of a segment are in: codes of values, or numbers of spans of codes.

use super::sites::Codes;
use fields::Value;
use fields::facet::{CodedValues, Spans};
use index::DocId;
use smallvec::SmallVec;

/// Codes of a document up to which nothing is allocated.
const FEW: usize = 8;

/// Keys of a facet in a segment.
#[derive(Debug)]
pub(super) enum Keys {
    /// The codes of values.
    Codes,
    /// Numbers of spans of codes.
    Spans(Spans),
}

impl Keys {
    pub(super) fn of(spans: Option<Spans>) -> Keys {
        spans.map_or(Keys::Codes, Keys::Spans)
    }

    /// Returns a number above all keys, except for those that a damaged column may have.
    pub(super) fn end(&self, codes: &Codes<'_>) -> u64 {
        match self {
            Keys::Codes => codes.codes_count() + 1,
            Keys::Spans(spans) => spans.count() as u64,
        }
    }

    /// Returns the key of a bucket; `None` where no document of the segment is in it.
    pub(super) fn find(&self, codes: &Codes<'_>, name: &Value) -> Option<u64> {
        let Keys::Codes = self else {
            let Keys::Spans(spans) = self else {
                return None;
            };
            return spans.find(name);
        };
        let (mut low, mut high) = (1, codes.codes_count() + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match codes.value(middle) {
                Some(value) if value.order(name).is_lt() => low = middle + 1,
                _ => high = middle,
            }
        }
        codes.value(low).filter(|value| value == name).map(|_| low)
    }
}

/// Calls `each` with the keys of a document, once for each with `once`. Returns whether the document has a value.
#[inline]
pub(super) fn each_key(
    codes: &Codes<'_>,
    keys: &Keys,
    once: bool,
    doc: DocId,
    each: &mut impl FnMut(u64),
) -> bool {
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
        Keys::Spans(spans) if !codes.has_lists() => {
            let code = codes.code(doc);
            spans.each_key(&[code], each);
            code > 0
        }
        Keys::Spans(spans) => {
            let mut own = SmallVec::<[u64; FEW]>::new();
            codes.each_code(doc, |code| own.push(code));
            let has_value = !own.is_empty();
            if !has_value {
                own.push(0);
            }
            spans.each_key(&own, each);
            has_value
        }
    }
}
