//! A test of values that is asked of documents found by other clauses, or marks all that pass as bits.
//!
//! Where the documents that pass are listed ([`index::Segment::listed_documents`]), they are looked up there: candidates come
//! in increasing order, and the list is short. Else each candidate's value is looked up in the column, its slow twin.

use crate::block::probed::Probed;
use crate::plan::node::ValueNode;
use crate::verify::filter_runs::{FilterWay, OpenFilter};
use codec::sorted::seek;
use index::{CodeRange, Column, DocId, IndexError, Segment};
use std::sync::Arc;

/// Codes of a column that pass.
pub(crate) struct Values<'a> {
    column: Column<'a>,
    range: CodeRange,
    run: OpenFilter<'a>,
    documents_count: u32,
    /// The documents that pass, where they are listed.
    list: Option<Arc<[u32]>>,
}

impl<'a> Values<'a> {
    /// Opens a test; `None` where no value of the segment passes.
    pub(super) fn open(
        node: &'a ValueNode,
        segment: &'a Segment,
    ) -> Result<Option<Values<'a>>, IndexError> {
        Ok(node.open(segment)?.map(|(column, range)| Values {
            list: segment.listed_documents(&node.field, range),
            column,
            range,
            run: OpenFilter::new(node, segment.id(), FilterWay::Probe),
            documents_count: segment.documents_count(),
        }))
    }

    /// Returns the number of documents that pass, where they are listed.
    pub(super) fn listed_count(&self) -> Option<u32> {
        self.list.as_ref().map(|list| list.len() as u32)
    }

    pub(super) fn documents_count(&self) -> u32 {
        self.documents_count
    }

    /// Finds the rows of `docs` (increasing, 256 at most) that pass.
    pub(super) fn probe(&mut self, docs: &[u32], probed: &mut Probed) {
        match &self.list {
            Some(list) => look_up(list, docs, |row| probed.push(row, 0.0)),
            None => {
                for (row, &doc) in docs.iter().enumerate() {
                    if self.column.passes(DocId(doc), self.range) {
                        probed.push(row as u8, 0.0);
                    }
                }
            }
        }
        self.run.candidates += docs.len() as u64;
        self.run.passed += probed.found.count as u64;
    }

    /// Sets the bits of all documents from `base` on, a multiple of 64, that pass; `marks` are clear.
    pub(super) fn mark(&mut self, base: u32, marks: &mut [u64]) {
        match &self.list {
            Some(list) => {
                codec::bits::set_sorted(marks, base, list);
            }
            None => self.column.mark(base, marks, self.range),
        }
        self.run.is_for_bits();
        self.run.candidates += marks.len() as u64 * 64;
        self.run.passed += codec::bits::count(marks);
    }
}

/// Calls `found` with the rows of `docs` that are in `list`; both are increasing.
fn look_up(list: &[u32], docs: &[u32], mut found: impl FnMut(u8)) {
    let Some(&first) = docs.first() else {
        return;
    };
    let mut at = list.partition_point(|&listed| listed < first);
    for (row, &doc) in docs.iter().enumerate() {
        at = seek(list, at, doc);
        if list.get(at) == Some(&doc) {
            found(row as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn listed_documents_are_found(
            list in btree_set(0u32..600, 0..300),
            docs in btree_set(0u32..600, 0..256),
        ) {
            let listed: Vec<u32> = list.iter().copied().collect();
            let docs: Vec<u32> = docs.into_iter().collect();
            let mut rows = Vec::new();
            look_up(&listed, &docs, |row| rows.push(row));
            let expected = docs.iter().enumerate().filter(|(_, doc)| list.contains(doc));
            let expected: Vec<u8> = expected.map(|(row, _)| row as u8).collect();
            prop_assert_eq!(rows, expected);
        }
    }
}
