//! Cursor of any clause, opened on one segment; nested clauses are nested cursors.

use super::all::AllCursor;
use super::at_least::AtLeastCursor;
use super::best_of::BestOfCursor;
use super::boolean::BooleanCursor;
use super::constant::ConstantCursor;
use super::listed::ListedCursor;
use super::pattern::PatternCursor;
use super::phrase::PhraseCursor;
use super::term::{FilterCursor, TermCursor};
use super::titles::TitlesCursor;
use super::value::ValueCursor;
use super::walk::{DocCursor, ScoredCursor};
use crate::block::term_scorer::scorer_of;
use crate::context::cancel::StopRef;
use crate::context::contract;
use crate::plan::best::Best;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::ranking::on_grid;
use index::{DocId, IndexError, Segment, TermRecord};

/// Cursor of any kind. It is an enum, because a virtual call for every posting costs more than the
/// posting.
#[derive(Debug)]
pub(crate) enum Cursor<'a> {
    Empty,
    All(AllCursor),
    Term(TermCursor<'a>),
    Filter(FilterCursor<'a>),
    Pattern(PatternCursor),
    Titles(TitlesCursor),
    Listed(ListedCursor<'a>),
    Value(ValueCursor<'a>),
    Phrase(Box<PhraseCursor<'a>>),
    Boolean(Box<BooleanCursor<'a, Cursor<'a>>>),
    AtLeast(Box<AtLeastCursor<'a, Cursor<'a>>>),
    BestOf(Box<BestOfCursor<'a, Cursor<'a>>>),
    Constant(Box<ConstantCursor<Cursor<'a>>>),
}

impl<'a> Cursor<'a> {
    /// Opens a clause on one segment. The result is void if `stop` aborted, and ends early if it aborts
    /// later.
    pub(crate) fn open(
        plan: &'a Plan,
        node: &'a Node,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Cursor<'a>, IndexError> {
        Ok(match node {
            Node::Nothing => Cursor::Empty,
            Node::All => Cursor::All(AllCursor::new(segment)),
            Node::Term(_) | Node::Filter(_) => {
                let record = match node.word() {
                    Some(word) => word.record(segment)?,
                    None => None,
                };
                match record {
                    Some(record) => Cursor::open_record(plan, node, segment, &record)?,
                    None => Cursor::Empty,
                }
            }
            Node::Pattern(node) => {
                let score = (node.weight + plan.grid) - plan.grid;
                PatternCursor::open(segment, node, score, stop)?
                    .map_or(Cursor::Empty, Cursor::Pattern)
            }
            Node::TitleStart(node) => TitlesCursor::open(segment, node, plan.grid, stop)?
                .map_or(Cursor::Empty, Cursor::Titles),
            Node::Value(node) => match node.open(segment)? {
                Some((column, range)) => Cursor::Value(ValueCursor::new(column, range, segment)),
                None => Cursor::Empty,
            },
            Node::Urls(node) => match node.documents_of(segment) {
                [] => Cursor::Empty,
                documents => Cursor::Listed(ListedCursor::new(documents)),
            },
            Node::Phrase(phrase) => PhraseCursor::open(plan, phrase, segment, stop)?
                .map_or(Cursor::Empty, |cursor| Cursor::Phrase(Box::new(cursor))),
            Node::Boolean {
                required,
                optional,
                excluded,
            } => open_boolean(plan, [required, optional, excluded], segment, stop)?
                .map_or(Cursor::Empty, |cursor| Cursor::Boolean(Box::new(cursor))),
            Node::AtLeast { least, clauses } => {
                let clauses = open_present(plan, clauses, segment, stop)?;
                match clauses.len() < *least {
                    true => Cursor::Empty,
                    false => Cursor::AtLeast(Box::new(AtLeastCursor::new(*least, clauses, stop))),
                }
            }
            Node::BestOf {
                tie_breaker,
                clauses,
            } => open_boolean(plan, [&[], clauses, &[]], segment, stop)?.map_or(
                Cursor::Empty,
                |any| {
                    let best = Best::new(*tie_breaker, plan.grid);
                    Cursor::BestOf(Box::new(BestOfCursor::new(any, best)))
                },
            ),
            Node::Constant(constant) => {
                match Cursor::open(plan, &constant.clause, segment, stop)? {
                    Cursor::Empty => Cursor::Empty,
                    cursor => {
                        let score = on_grid(constant.weight, plan.grid);
                        Cursor::Constant(Box::new(ConstantCursor::new(cursor, score)))
                    }
                }
            }
        })
    }

    /// Opens a clause of one term that is already looked up.
    pub(crate) fn open_record(
        plan: &'a Plan,
        node: &Node,
        segment: &'a Segment,
        record: &TermRecord,
    ) -> Result<Cursor<'a>, IndexError> {
        let postings = segment.postings(record)?;
        Ok(match node {
            Node::Term(_) => {
                let scorer = scorer_of(plan, node, segment);
                Cursor::Term(TermCursor::new(postings, scorer))
            }
            _ => Cursor::Filter(FilterCursor::new(postings)),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Cursor::Empty)
    }
}

/// Calls a method on a cursor of any kind.
macro_rules! dispatch {
    ($cursor:expr, $inner:ident => $call:expr, $empty:expr) => {
        match $cursor {
            Cursor::Empty => $empty,
            Cursor::Term($inner) => $call,
            Cursor::Filter($inner) => $call,
            Cursor::Pattern($inner) => $call,
            Cursor::Titles($inner) => $call,
            Cursor::Listed($inner) => $call,
            Cursor::All($inner) => $call,
            Cursor::Value($inner) => $call,
            Cursor::Phrase($inner) => $call,
            Cursor::Boolean($inner) => $call,
            Cursor::AtLeast($inner) => $call,
            Cursor::BestOf($inner) => $call,
            Cursor::Constant($inner) => $call,
        }
    };
}

impl DocCursor for Cursor<'_> {
    #[inline]
    fn doc(&self) -> DocId {
        dispatch!(self, cursor => cursor.doc(), DocId::END)
    }
    #[inline]
    fn next(&mut self) -> DocId {
        let before = self.doc();
        let reached = dispatch!(self, cursor => cursor.next(), DocId::END);
        contract::check_next(before, reached);
        reached
    }
    #[inline]
    fn seek(&mut self, target: DocId) -> DocId {
        let before = self.doc();
        let reached = dispatch!(self, cursor => cursor.seek(target), DocId::END);
        contract::check_seek(before, target, reached);
        reached
    }
    fn cost(&self) -> u32 {
        dispatch!(self, cursor => cursor.cost(), 0)
    }
    fn take_error(&mut self) -> Option<IndexError> {
        dispatch!(self, cursor => cursor.take_error(), None)
    }
}

impl ScoredCursor for Cursor<'_> {
    #[inline]
    fn score(&mut self) -> f32 {
        let doc = self.doc();
        let score = dispatch!(self, cursor => cursor.score(), 0.0);
        contract::check_score(doc, score);
        score
    }
}

/// Opens `[required, optional, excluded]`; `None` if no document of the segment can match.
fn open_boolean<'a>(
    plan: &'a Plan,
    [required, optional, excluded]: [&'a [Node]; 3],
    segment: &'a Segment,
    stop: StopRef<'a>,
) -> Result<Option<BooleanCursor<'a, Cursor<'a>>>, IndexError> {
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
    let excluded = open_present(plan, excluded, segment, stop)?;
    Ok(Some(BooleanCursor::new([all, optional, excluded], stop)))
}

/// Returns the records of those required clauses that are terms, or `None` if one is missing from the
/// segment. It runs before any list is opened, since most queries without a match in a segment fail
/// here.
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
