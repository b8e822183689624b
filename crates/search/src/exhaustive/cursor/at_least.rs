//! Documents that match at least a number of clauses.
//!
//! ```text
//! least 2, clauses standing at 3 5 5 9:  before the second lowest, 5, at most one clause matches
//! ```

use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use index::{DocId, IndexError};

/// Cursor of the documents that at least `least` of some cursors hold.
#[derive(Debug)]
pub(crate) struct AtLeastCursor<'a, C> {
    least: usize,
    // In the order of the plan.
    clauses: Vec<C>,
    // Room to order their positions.
    standing: Vec<DocId>,
    stop: StopRef<'a>,
    doc: DocId,
}

impl<'a, C: DocCursor> AtLeastCursor<'a, C> {
    /// Returns the cursor of clauses, `least` or more.
    pub(crate) fn new(least: usize, clauses: Vec<C>, stop: StopRef<'a>) -> AtLeastCursor<'a, C> {
        debug_assert!((1..=clauses.len()).contains(&least));
        let mut cursor = AtLeastCursor {
            least,
            standing: Vec::with_capacity(clauses.len()),
            clauses,
            stop,
            doc: DocId(0),
        };
        cursor.doc = cursor.settle();
        cursor
    }

    /// Returns the first match at or after the positions of the clauses; the end if the search is aborted.
    fn settle(&mut self) -> DocId {
        let work = cancel::clauses_work(self.clauses.len());
        loop {
            if self.stop.aborts(work) {
                return DocId::END;
            }
            self.standing.clear();
            let positions = self.clauses.iter().map(|clause| clause.doc());
            self.standing.extend(positions);
            let (_, &mut candidate, _) = self.standing.select_nth_unstable(self.least - 1);
            if candidate == DocId::END {
                return candidate;
            }
            let mut count = 0;
            for clause in &mut self.clauses {
                let reached = match clause.doc() < candidate {
                    true => clause.seek(candidate),
                    false => clause.doc(),
                };
                count += usize::from(reached == candidate);
            }
            if count >= self.least {
                return candidate;
            }
        }
    }
}

impl<C: DocCursor> DocCursor for AtLeastCursor<'_, C> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn next(&mut self) -> DocId {
        match self.doc {
            DocId::END => DocId::END,
            doc => self.seek(DocId(doc.0 + 1)),
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            for clause in &mut self.clauses {
                if clause.doc() < target {
                    clause.seek(target);
                }
            }
            self.doc = self.settle();
        }
        self.doc
    }

    fn cost(&self) -> u32 {
        let mut costs: Vec<u32> = self.clauses.iter().map(|clause| clause.cost()).collect();
        costs.sort_unstable();
        // A match is in one of the rarest, whichever the others are.
        let leading = costs.iter().take(costs.len() + 1 - self.least);
        leading.fold(0, |sum, &cost| sum.saturating_add(cost))
    }

    fn take_error(&mut self) -> Option<IndexError> {
        self.clauses
            .iter_mut()
            .find_map(|clause| clause.take_error())
    }
}

impl<C: ScoredCursor> ScoredCursor for AtLeastCursor<'_, C> {
    fn score(&mut self) -> f32 {
        let mut sum = 0.0;
        for clause in &mut self.clauses {
            if clause.doc() == self.doc {
                sum += clause.score();
            }
        }
        sum
    }
}
