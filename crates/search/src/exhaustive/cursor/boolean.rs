//! Clauses together: all of some, any of others, none of the rest.
use super::{Cursor, DocCursor, ScoredCursor};
use crate::plan::{Node, Plan};
use crate::stop::{self, StopRef};
use index::{DocId, IndexError, Segment, TermRecord};

/// A combination of clauses. Where something is required, it walks the intersection, led by the
/// cheapest list; where nothing is, the union of what is optional.
#[derive(Debug)]
pub(crate) struct BooleanCursor<'a> {
    // In the order of the plan, which is the order of summation.
    required: Vec<Cursor<'a>>,
    optional: Vec<Cursor<'a>>,
    excluded: Vec<Cursor<'a>>,
    // Indexes into `required`, cheapest first: the leader and then the best at saying no.
    by_cost: Vec<usize>,
    // In a union, where each optional clause stands: side by side, since every step asks them all.
    standing: Vec<DocId>,
    stop: StopRef<'a>,
    doc: DocId,
}

impl<'a> BooleanCursor<'a> {
    /// Opens `[required, optional, excluded]`; `None` when nothing of the segment can match.
    pub(crate) fn open(
        plan: &'a Plan,
        [required, optional, excluded]: [&'a [Node]; 3],
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<BooleanCursor<'a>>, IndexError> {
        let Some(records) = required_records(required, segment)? else {
            return Ok(None);
        };
        let mut all = Vec::with_capacity(required.len());
        for (node, record) in required.iter().zip(records) {
            if stop.aborts(1) {
                return Ok(None);
            }
            let cursor = match record {
                Some(record) => Cursor::open_record(plan, node, segment, &record)?,
                None => Cursor::open(plan, node, segment, stop)?,
            };
            if cursor.is_empty() {
                return Ok(None);
            }
            all.push(cursor);
        }
        let optional = open_present(plan, optional, segment, stop)?;
        if all.is_empty() && optional.is_empty() {
            return Ok(None);
        }
        let mut cursor = BooleanCursor {
            by_cost: (0..all.len()).collect(),
            standing: optional.iter().map(|cursor| cursor.doc()).collect(),
            required: all,
            optional,
            excluded: open_present(plan, excluded, segment, stop)?,
            stop,
            doc: DocId(0),
        };
        cursor
            .by_cost
            .sort_by_key(|&index| cursor.required[index].cost());
        let first = cursor.candidate();
        cursor.doc = cursor.settle(first);
        Ok(Some(cursor))
    }

    /// Where the leader stands: no match lies before it.
    fn candidate(&self) -> DocId {
        match self.by_cost.first() {
            Some(&leader) => self.required[leader].doc(),
            None => self.standing.iter().copied().min().unwrap_or(DocId::END),
        }
    }

    /// From a candidate to the first match at or after it; to the end where the search is aborted.
    fn settle(&mut self, mut doc: DocId) -> DocId {
        let clauses_count = self.required.len() + self.optional.len() + self.excluded.len();
        let work = stop::clauses_work(clauses_count);
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
                        // One step where one is enough: a seek asks more.
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

    /// The first document at or after `doc`, where the leader stands, that all required hold.
    fn agree(&mut self, mut doc: DocId) -> DocId {
        let Some((&leader, others)) = self.by_cost.split_first() else {
            return doc;
        };
        'candidate: while doc != DocId::END && !self.stop.aborts(stop::DOCUMENT) {
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

/// The records of those required clauses that are terms, or `None` when one is missing from the
/// segment. Before any list is opened, since most queries that find nothing in a segment fail here.
fn required_records(
    required: &[Node],
    segment: &Segment,
) -> Result<Option<Vec<Option<TermRecord>>>, IndexError> {
    let mut records = Vec::with_capacity(required.len());
    for node in required {
        let Some(word) = node.word() else {
            records.push(None);
            continue;
        };
        match word.record(segment)? {
            Some(record) => records.push(Some(record)),
            None => return Ok(None),
        }
    }
    Ok(Some(records))
}

fn open_present<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    segment: &'a Segment,
    stop: StopRef<'a>,
) -> Result<Vec<Cursor<'a>>, IndexError> {
    let mut cursors = Vec::with_capacity(nodes.len());
    for node in nodes {
        if stop.aborts(1) {
            break;
        }
        let cursor = Cursor::open(plan, node, segment, stop)?;
        if !cursor.is_empty() {
            cursors.push(cursor);
        }
    }
    Ok(cursors)
}

impl DocCursor for BooleanCursor<'_> {
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

impl ScoredCursor for BooleanCursor<'_> {
    fn score(&mut self) -> f32 {
        let mut sum = 0.0;
        if self.required.is_empty() {
            for (cursor, doc) in self.optional.iter_mut().zip(&self.standing) {
                if *doc == self.doc {
                    sum += cursor.score();
                }
            }
            return sum;
        }
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
