//! Combination of required, optional and excluded clauses.
use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use index::{DocId, IndexError};

/// Cursor of a combination. With required clauses it walks their intersection, led by the cheapest
/// list; without them the union of the optional clauses.
#[derive(Debug)]
pub(crate) struct BooleanCursor<'a, C> {
    // Required clauses in the order of the plan, which is the order of summation.
    required: Vec<C>,
    optional: Vec<C>,
    excluded: Vec<C>,
    // Indexes into `required`, cheapest first: the leader, then the most selective.
    by_cost: Vec<usize>,
    // In a union, the position of each optional clause, side by side because every step reads all of
    // them.
    standing: Vec<DocId>,
    stop: StopRef<'a>,
    doc: DocId,
}

impl<'a, C: DocCursor> BooleanCursor<'a, C> {
    /// Returns the cursor of clauses that can match, in the order of the plan. At least one is required
    /// or optional.
    pub(crate) fn new(
        [required, optional, excluded]: [Vec<C>; 3],
        stop: StopRef<'a>,
    ) -> BooleanCursor<'a, C> {
        let mut cursor = BooleanCursor {
            by_cost: (0..required.len()).collect(),
            standing: optional.iter().map(|cursor| cursor.doc()).collect(),
            required,
            optional,
            excluded,
            stop,
            doc: DocId(0),
        };
        cursor
            .by_cost
            .sort_by_key(|&index| cursor.required[index].cost());
        let first = cursor.candidate();
        cursor.doc = cursor.settle(first);
        cursor
    }

    /// Returns the position of the leader: no match lies before it.
    fn candidate(&self) -> DocId {
        match self.by_cost.first() {
            Some(&leader) => self.required[leader].doc(),
            None => self.standing.iter().copied().min().unwrap_or(DocId::END),
        }
    }

    /// Returns the first match at or after a candidate; the end if the search is aborted.
    fn settle(&mut self, mut doc: DocId) -> DocId {
        let clauses_count = self.required.len() + self.optional.len() + self.excluded.len();
        let work = cancel::clauses_work(clauses_count);
        loop {
            doc = self.agree(doc);
            if self.stop.aborts(work) {
                return DocId::END;
            }
            if doc == DocId::END || !self.excludes(doc) {
                return doc;
            }
            doc = self.advance_to(DocId(doc.0 + 1));
        }
    }

    /// Moves the leader (or every optional clause) to `target` or after.
    fn advance_to(&mut self, target: DocId) -> DocId {
        match self.by_cost.first() {
            Some(&leader) => self.required[leader].seek(target),
            None => {
                let mut first = DocId::END;
                for (cursor, doc) in self.optional.iter_mut().zip(&mut self.standing) {
                    if *doc < target {
                        // A seek costs more than a single step.
                        *doc = if doc.0 + 1 == target.0 {
                            cursor.next()
                        } else {
                            cursor.seek(target)
                        };
                    }
                    first = first.min(*doc);
                }
                first
            }
        }
    }

    /// Returns the first document at or after `doc`, the leader's position, that all required clauses
    /// hold.
    fn agree(&mut self, mut doc: DocId) -> DocId {
        let Some((&leader, others)) = self.by_cost.split_first() else {
            return doc;
        };
        'candidate: while doc != DocId::END && !self.stop.aborts(cancel::DOCUMENT) {
            for &other in others {
                let reached = self.required[other].seek(doc);
                if reached != doc {
                    doc = self.required[leader].seek(reached);
                    continue 'candidate;
                }
            }
            return doc;
        }
        doc
    }

    fn excludes(&mut self, doc: DocId) -> bool {
        self.excluded
            .iter_mut()
            .any(|cursor| cursor.seek(doc) == doc)
    }
}

impl<C: DocCursor> DocCursor for BooleanCursor<'_, C> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn next(&mut self) -> DocId {
        if self.doc == DocId::END {
            return self.doc;
        }
        let candidate = match self.by_cost.first() {
            Some(&leader) => self.required[leader].next(),
            None => self.advance_to(DocId(self.doc.0 + 1)),
        };
        self.doc = self.settle(candidate);
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            let candidate = self.advance_to(target);
            self.doc = self.settle(candidate);
        }
        self.doc
    }

    fn cost(&self) -> u32 {
        match self.by_cost.first() {
            Some(&leader) => self.required[leader].cost(),
            None => self
                .optional
                .iter()
                .fold(0, |sum: u32, cursor| sum.saturating_add(cursor.cost())),
        }
    }

    fn take_error(&mut self) -> Option<IndexError> {
        self.required
            .iter_mut()
            .chain(&mut self.optional)
            .chain(&mut self.excluded)
            .find_map(|cursor| cursor.take_error())
    }
}

impl<C: ScoredCursor> BooleanCursor<'_, C> {
    /// Returns the scores of the optional clauses that hold the current document, where none is required.
    pub(super) fn scores_of_alternatives(&mut self) -> impl Iterator<Item = f32> {
        let doc = self.doc;
        let standing = self.optional.iter_mut().zip(&self.standing);
        standing.filter_map(move |(cursor, at)| (*at == doc).then(|| cursor.score()))
    }
}

impl<C: ScoredCursor> ScoredCursor for BooleanCursor<'_, C> {
    fn score(&mut self) -> f32 {
        if self.required.is_empty() {
            return self.scores_of_alternatives().sum();
        }
        let mut sum = 0.0;
        for cursor in &mut self.required {
            sum += cursor.score();
        }
        for cursor in &mut self.optional {
            if cursor.seek(self.doc) == self.doc {
                sum += cursor.score();
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use crate::context::cancel::StopRef;
    use crate::exhaustive::cursor::any::Cursor;
    use crate::exhaustive::cursor::walk::DocCursor;
    use crate::testing::{first_segment, made_up, planned};
    use index::DocId;

    #[test]
    fn seeking_and_stepping_meet_the_same_documents() {
        let index = made_up(false);
        let segment = first_segment(&index);
        for typed in [
            "w11 w9 -w10",
            "w8 OR w7 OR w6",
            "w11 w5 (w9 OR w8)",
            "\"w11 w10\" w9",
        ] {
            let plan = planned(&index, typed);
            let open = || Cursor::open(&plan, &plan.root, &segment, StopRef::default()).unwrap();
            let mut steps = open();
            let mut docs = Vec::new();
            while steps.doc() != DocId::END {
                docs.push(steps.doc());
                steps.next();
            }
            assert!(docs.len() > 3, "{typed}");
            let mut seeks = open();
            let sought: Vec<DocId> = docs
                .iter()
                .step_by(3)
                .map(|doc| seeks.seek(DocId(doc.0.saturating_sub(1)).max(seeks.doc())))
                .collect();
            for (found, doc) in sought.iter().zip(docs.iter().step_by(3)) {
                assert!(found <= doc && docs.contains(found), "{typed}");
            }
        }
    }
}
