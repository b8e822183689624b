//! Set of the documents that hold any term of a pattern, as bits.
//!
//! Short patterns stand for thousands of terms. One bit for each document takes 24 KB for 190,000
//! documents, and merges any number of lists without sorting.
use crate::context::cancel::StopRef;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::plan::node::PatternNode;
use index::{DocId, IndexError, Segment, TermRecord, WrittenTerm};
use std::ops::ControlFlow;

/// Number of postings marked in about one unit of work.
const POSTINGS_PER_UNIT: u32 = 256;

/// Cursor over a materialised union.
#[derive(Debug)]
pub(crate) struct PatternCursor {
    words: Vec<u64>,
    doc: DocId,
    documents_count: u32,
    score: f32,
}

impl PatternCursor {
    /// Reads every list of the pattern; `None` if no term of the segment is one of it. The result is void if `stop`
    /// aborted.
    pub(crate) fn open(
        segment: &Segment,
        node: &PatternNode,
        score: f32,
        stop: StopRef<'_>,
    ) -> Result<Option<PatternCursor>, IndexError> {
        let mut words = Vec::new();
        let mut failed = None;
        let mut mark = |record: &TermRecord| {
            if words.is_empty() {
                words.resize((segment.documents_count() as usize).div_ceil(64), 0);
            }
            mark_all(segment, record, &mut words, stop)
        };
        segment.visit_terms(node.field, &node.pattern, |found| {
            if stop.aborts(1) {
                return ControlFlow::Break(());
            }
            let Some((_, record)) = found else {
                return ControlFlow::Continue(());
            };
            match mark(&record) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)?;
        for WrittenTerm { term, .. } in &node.as_written {
            if stop.aborts(1) {
                break;
            }
            if let Some(record) = segment.term(node.field, term)? {
                mark(&record)?;
            }
        }
        Ok((!words.is_empty()).then(|| PatternCursor::over(words, score)))
    }

    fn over(words: Vec<u64>, score: f32) -> PatternCursor {
        let mut cursor = PatternCursor {
            documents_count: words.iter().map(|word| word.count_ones()).sum(),
            words,
            doc: DocId(0),
            score,
        };
        cursor.doc = cursor.first_from(0);
        cursor
    }

    fn first_from(&self, target: u32) -> DocId {
        let mut at = target as usize / 64;
        let Some(&word) = self.words.get(at) else {
            return DocId::END;
        };
        let mut word = word & (u64::MAX << (target % 64));
        while word == 0 {
            at += 1;
            match self.words.get(at) {
                Some(&next) => word = next,
                None => return DocId::END,
            }
        }
        DocId(at as u32 * 64 + word.trailing_zeros())
    }
}

/// Sets the bits of a list's documents.
fn mark_all(
    segment: &Segment,
    record: &TermRecord,
    words: &mut [u64],
    stop: StopRef<'_>,
) -> Result<(), IndexError> {
    let mut postings = segment.postings(record)?;
    let mut doc = postings.doc();
    while doc != DocId::END && !stop.aborts(1) {
        for _ in 0..POSTINGS_PER_UNIT {
            if let Some(word) = words.get_mut(doc.0 as usize / 64) {
                *word |= 1 << (doc.0 % 64);
            }
            doc = postings.next();
            if doc == DocId::END {
                break;
            }
        }
    }
    postings.take_error().map_or(Ok(()), Err)
}

impl DocCursor for PatternCursor {
    fn doc(&self) -> DocId {
        self.doc
    }
    fn next(&mut self) -> DocId {
        if self.doc != DocId::END {
            self.doc = self.first_from(self.doc.0 + 1);
        }
        self.doc
    }
    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            self.doc = self.first_from(target.0);
        }
        self.doc
    }
    fn cost(&self) -> u32 {
        self.documents_count
    }
    fn take_error(&mut self) -> Option<IndexError> {
        None
    }
}

impl ScoredCursor for PatternCursor {
    fn score(&mut self) -> f32 {
        self.score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn walks_and_seeks_like_a_list(
            docs in proptest::collection::btree_set(0u32..400, 0..60),
            moves in proptest::collection::vec(proptest::option::of(0u32..420), 0..40),
        ) {
            let mut words = vec![0u64; 400usize.div_ceil(64)];
            for doc in &docs {
                words[*doc as usize / 64] |= 1 << (doc % 64);
            }
            let mut cursor = PatternCursor::over(words, 1.0);
            prop_assert_eq!(cursor.cost() as usize, docs.len());
            let first_from = |from: u32| docs.range(from..).next().map_or(DocId::END, |d| DocId(*d));
            let mut expected = first_from(0);
            prop_assert_eq!(cursor.doc(), expected);
            for target in moves {
                match target {
                    Some(target) => {
                        if DocId(target) > expected {
                            expected = first_from(target);
                        }
                        prop_assert_eq!(cursor.seek(DocId(target)), expected);
                    }
                    None => {
                        if expected != DocId::END {
                            expected = first_from(expected.0 + 1);
                        }
                        prop_assert_eq!(cursor.next(), expected);
                    }
                }
            }
            prop_assert_eq!(cursor.seek(DocId::END), DocId::END);
        }
    }
}
