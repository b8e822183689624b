//! Which algorithm runs a plan on a segment?
//!
//! ```text
//! all of some terms        conjunction       none skipped when counted
//! any of some terms        maxscore          and, when counted, union beside it
//! one term                 single            its count is in the dictionary
//! a phrase                 phrase
//! anything else            exhaustive
//! ```
//!
//! Each runs over a range of documents at a time, ranges in any order, with a threshold that may come
//! from outside and rise meanwhile. Each gives the hits, scores and counts of [`crate::exhaustive`].

use crate::conjunction::Conjunction;
use crate::cursor::Cursor;
use crate::list::List;
use crate::maxscore::MaxScore;
use crate::phrase::Phrase;
use crate::plan::{Node, PhraseNode};
use crate::profile::{self, Name};
use crate::union::Union;
use crate::{Plan, TopK, exhaustive, single};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Hits,
    HitsAndCount,
    Count,
}

impl Wanted {
    fn is_counted(self) -> bool {
        self != Wanted::Hits
    }
    fn has_hits(self) -> bool {
        self != Wanted::Count
    }
}

/// A plan opened on one segment: one look-up a term, whatever the ranges.
pub(crate) struct Algorithm<'a> {
    plan: &'a Plan,
    segment: &'a Segment,
    wanted: Wanted,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Single(Box<List<'a>>),
    All(Box<Conjunction<'a>>),
    Any {
        counting: Option<Box<Union<'a>>>,
        searching: Option<Box<MaxScore<'a>>>,
    },
    Phrase(Box<Phrase<'a>>),
    /// The cursor, and the end of the range that it walked last.
    Other(Box<Cursor<'a>>, u32),
}

impl<'a> Algorithm<'a> {
    /// Opens a plan; `None` where no document of the segment can match. Tells `top` what is known of its
    /// threshold before anything is read.
    pub(crate) fn open(
        plan: &'a Plan,
        segment: &'a Segment,
        top: &mut TopK<'a>,
        wanted: Wanted,
    ) -> Result<Option<Algorithm<'a>>, IndexError> {
        let kind = match shape(plan) {
            Shape::Term(node) => {
                List::open(plan, node, segment)?.map(|list| Kind::Single(Box::new(list)))
            }
            Shape::All(nodes) => open_all(plan, nodes, segment)?
                .map(|lists| Kind::All(Box::new(Conjunction::new(lists)))),
            Shape::Any(nodes) => Kind::open_any(plan, nodes, segment, top, wanted)?,
            Shape::Phrase(phrase) => {
                Phrase::open(plan, phrase, segment)?.map(|phrase| Kind::Phrase(Box::new(phrase)))
            }
            Shape::Other => {
                let cursor = Cursor::open(plan, &plan.root, segment)?;
                (!cursor.is_empty()).then(|| Kind::Other(Box::new(cursor), 0))
            }
        };
        if let Some(kind) = &kind {
            kind.tell();
        }
        Ok(kind.map(|kind| Algorithm {
            plan,
            segment,
            wanted,
            kind,
        }))
    }

    /// Keeps the best documents of a range in `top`, which entered the segment; how many match, where that
    /// is wanted.
    pub(crate) fn run(&mut self, range: Range<u32>, top: &mut TopK<'a>) -> Result<u64, IndexError> {
        let (segment, wanted) = (self.segment, self.wanted);
        match &mut self.kind {
            Kind::Single(list) => {
                if wanted.has_hits() {
                    single::search(list, range.clone(), segment, top)?;
                }
                match wanted.is_counted() {
                    true => single::count(list, range, segment, top.stop()),
                    false => Ok(0),
                }
            }
            Kind::All(both) if wanted == Wanted::Count => both.count(range, segment, top.stop()),
            Kind::All(both) => both.search(range, segment, top, wanted.is_counted()),
            Kind::Any {
                counting,
                searching,
            } => {
                // Hits first: of what time there is they need more than the count does.
                if let Some(searching) = searching {
                    searching.search(range.clone(), segment, top)?;
                }
                match counting {
                    Some(union) => union.count(range, segment, top.stop()),
                    None => Ok(0),
                }
            }
            Kind::Phrase(phrase) if wanted == Wanted::Count => phrase.count(range, segment, top),
            Kind::Phrase(phrase) => phrase.search(range, segment, top, wanted.is_counted()),
            Kind::Other(cursor, walked) => {
                if range.start < *walked {
                    // Cursors go forward only.
                    **cursor = Cursor::open(self.plan, &self.plan.root, segment)?;
                }
                *walked = range.end;
                exhaustive::search_range(cursor, range, segment, top, wanted.has_hits())
            }
        }
    }

    /// The most that a document of a range can score, as far as it is known without reading postings.
    pub(crate) fn bound(&mut self, range: &Range<u32>) -> f32 {
        let (base, end) = (DocId(range.start), DocId(range.end));
        match &mut self.kind {
            Kind::Single(list) => list.bound_in(base, end),
            Kind::All(both) => both.bound_in(base, end),
            Kind::Any {
                searching: Some(searching),
                ..
            } => searching.bound_in(base, end),
            Kind::Phrase(phrase) => phrase.bound_in(base, end),
            Kind::Any { .. } | Kind::Other(..) => f32::INFINITY,
        }
    }
}

impl<'a> Kind<'a> {
    /// Says what runs, to whoever profiles it.
    fn tell(&self) {
        match self {
            Kind::Single(_) => profile::runs(Name::Single),
            Kind::All(_) => profile::runs(Name::Conjunction),
            Kind::Any {
                counting,
                searching,
            } => {
                if searching.is_some() {
                    profile::runs(Name::MaxScore);
                }
                if counting.is_some() {
                    profile::runs(Name::Union);
                }
            }
            Kind::Phrase(_) => profile::runs(Name::Phrase),
            Kind::Other(..) => profile::runs(Name::Exhaustive),
        }
    }

    fn open_any(
        plan: &'a Plan,
        nodes: &'a [Node],
        segment: &'a Segment,
        top: &mut TopK<'a>,
        wanted: Wanted,
    ) -> Result<Option<Kind<'a>>, IndexError> {
        let lists = open_any(plan, nodes, segment)?;
        if lists.len() < 2 {
            let mut lists = lists.into_iter();
            return Ok(lists.next().map(|list| Kind::Single(Box::new(list))));
        }
        let counting = match wanted {
            Wanted::Hits => None,
            // Both read the lists in an order of their own, so each has its own.
            Wanted::HitsAndCount => Some(open_any(plan, nodes, segment)?),
            Wanted::Count => {
                return Ok(Some(Kind::Any {
                    counting: Some(Box::new(Union::new(lists))),
                    searching: None,
                }));
            }
        };
        Ok(Some(Kind::Any {
            counting: counting.map(|lists| Box::new(Union::new(lists))),
            searching: Some(Box::new(MaxScore::new(lists, segment, top))),
        }))
    }
}

/// What a plan is, as far as an algorithm is made for it.
enum Shape<'a> {
    Term(&'a Node),
    All(&'a [Node]),
    Any(&'a [Node]),
    Phrase(&'a PhraseNode),
    Other,
}

fn shape(plan: &Plan) -> Shape<'_> {
    let terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
    let words = |nodes: &[Node]| nodes.iter().all(|node| node.word().is_some());
    match &plan.root {
        node @ Node::Term(_) => Shape::Term(node),
        Node::Phrase(phrase) => Shape::Phrase(phrase),
        Node::Boolean {
            required,
            optional,
            excluded,
        } if excluded.is_empty() => match (required.as_slice(), optional.as_slice()) {
            ([node @ Node::Term(_)], []) | ([], [node @ Node::Term(_)]) => Shape::Term(node),
            (all, []) if words(all) => Shape::All(all),
            ([], any) if terms(any) => Shape::Any(any),
            _ => Shape::Other,
        },
        _ => Shape::Other,
    }
}

/// The lists of clauses that are all required; `None` where the segment lacks one.
fn open_all<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    segment: &'a Segment,
) -> Result<Option<Vec<List<'a>>>, IndexError> {
    let mut found = Vec::with_capacity(nodes.len());
    for node in nodes {
        // Before any list is opened: many segments lack one of the words.
        match node.word().map(|word| word.record(segment)).transpose()? {
            Some(Some(record)) => found.push((record, node)),
            _ => return Ok(None),
        }
    }
    // Records are moved more cheaply than lists.
    found.sort_by_key(|(record, _)| record.documents_count);
    let mut lists = Vec::with_capacity(found.len());
    for (record, node) in found {
        lists.push(List::of_node(plan, node, &record, segment)?);
    }
    Ok(Some(lists))
}

/// The lists of clauses of which any will do, those that the segment has.
fn open_any<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    segment: &'a Segment,
) -> Result<Vec<List<'a>>, IndexError> {
    let mut lists = Vec::with_capacity(nodes.len());
    for node in nodes {
        lists.extend(List::open(plan, node, segment)?);
    }
    Ok(lists)
}
