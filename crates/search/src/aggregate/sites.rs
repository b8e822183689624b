//! Values of documents by code: of a column, or the sites of all documents.

use fields::Value;
use fields::facet::{CodedValues, SITE};
use index::{Column, DocId, IndexError, Segment, SiteNames};

/// Source of codes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Codes<'a> {
    Column(Column<'a>),
    /// Sites, in the order of their names.
    Sites(&'a Segment, &'a SiteNames),
}

impl CodedValues for Codes<'_> {
    fn value(&self, code: u64) -> Option<Value> {
        match self {
            Codes::Column(column) => column.value(code),
            Codes::Sites(_, names) => names.name(code).map(|name| Value::Keyword(name.to_owned())),
        }
    }
}

impl<'a> Codes<'a> {
    /// Opens the values of a field; `None` where no document of the segment has one.
    pub(super) fn open(segment: &'a Segment, field: &str) -> Result<Option<Codes<'a>>, IndexError> {
        match field {
            SITE => Ok(Some(Codes::Sites(segment, segment.site_names()?))),
            field => Ok(segment.column(field)?.map(Codes::Column)),
        }
    }

    pub(super) fn codes_count(&self) -> u64 {
        match self {
            Codes::Column(column) => column.codes_count(),
            Codes::Sites(_, names) => names.count(),
        }
    }

    /// Returns the code of a value; `None` where no document of the segment has it.
    pub(super) fn find(&self, value: &Value) -> Option<u64> {
        let (mut low, mut high) = (1, self.codes_count() + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.value(middle) {
                Some(own) if own.order(value).is_lt() => low = middle + 1,
                _ => high = middle,
            }
        }
        self.value(low).filter(|own| own == value).map(|_| low)
    }

    /// Returns whether a document may have several values.
    pub(super) fn has_lists(&self) -> bool {
        matches!(self, Codes::Column(column) if column.has_lists())
    }

    /// Returns the code of a document's only value, 0 where it has none. Not for lists.
    #[inline(always)]
    pub(super) fn code(&self, doc: DocId) -> u64 {
        match self {
            Codes::Column(column) => column.code(doc),
            Codes::Sites(segment, names) => segment.site_code(names, doc),
        }
    }

    /// Returns the least and the greatest code of a document; `None` where it has no value.
    #[inline]
    pub(super) fn ends(&self, doc: DocId) -> Option<(u64, u64)> {
        match self {
            Codes::Column(column) => column.ends(doc),
            Codes::Sites(segment, names) => {
                let code = segment.site_code(names, doc);
                (code > 0).then_some((code, code))
            }
        }
    }

    /// Returns the least and the greatest code of the block of a document; `None` where no document of it has a value,
    /// or where blocks have no bounds.
    #[inline]
    pub(super) fn block_ends(&self, doc: DocId) -> Option<(u64, u64)> {
        match self {
            Codes::Column(column) => column.block_ends(doc).map(|ends| (ends.low, ends.high)),
            Codes::Sites(..) => None,
        }
    }

    /// Calls `each` with the codes of a document, in order.
    #[inline(always)]
    pub(super) fn each_code(&self, doc: DocId, mut each: impl FnMut(u64)) {
        match self {
            Codes::Column(column) => column.each_code(doc, each),
            Codes::Sites(segment, names) => each(segment.site_code(names, doc)),
        }
    }
}
