//! Cursors: a plan's clauses walking the postings of one segment.
//!
//! A ladder of two small traits; ask for the lowest rung you need. Every cursor stands on its
//! first document when made, moves forward only, and stays on `DocId::END` once exhausted.
//!
//! ```text
//! DocCursor    {doc, next, seek, cost, take_error}
//! ScoredCursor {score}                               of the current document
//! ```
//!
//! Deleted documents are not skipped here but by who walks the root: once a match, not once a
//! posting.
mod boolean;
mod phrase;
mod prefix;
mod term;

pub(crate) use boolean::BooleanCursor;
pub(crate) use phrase::{
    Numbers, PhraseCursor, distinct_records, positions_work, sloppy_frequency,
};
pub(crate) use prefix::PrefixCursor;
pub(crate) use term::{FilterCursor, TermCursor};

use crate::factors::Factors;
use crate::plan::{Node, PREFIX_SCORE, Plan};
use crate::profile;
use crate::stop::StopRef;
use index::{DocId, Field, Impact, IndexError, Segment, TermRecord};

/// Postings scored at once.
pub(crate) const BLOCK: usize = 256;
/// A frequency that stands for any, kept in what scores take.
const FREQUENCY_MAX: u32 = i32::MAX as u32;

/// Walks documents in increasing order.
pub(crate) trait DocCursor {
    /// The current document; `DocId::END` when exhausted.
    fn doc(&self) -> DocId;
    /// Moves to the next document and returns it.
    fn next(&mut self) -> DocId;
    /// Moves to the first document at or after `target`, never backwards, and returns it.
    fn seek(&mut self, target: DocId) -> DocId;
    /// About how many documents a walk visits.
    fn cost(&self) -> u32;
    /// Damage met on the way. A damaged list ends early, so whoever walked must ask.
    fn take_error(&mut self) -> Option<IndexError>;
}

/// Scores the current document.
pub(crate) trait ScoredCursor: DocCursor {
    /// The score of the current document; only on a document.
    fn score(&mut self) -> f32;
}

/// Any cursor, for clauses within clauses. An enum, because a call through a table for every
/// posting costs more than the posting.
#[derive(Debug)]
pub(crate) enum Cursor<'a> {
    Empty,
    Term(TermCursor<'a>),
    Filter(FilterCursor<'a>),
    Prefix(PrefixCursor),
    Phrase(Box<PhraseCursor<'a>>),
    Boolean(Box<BooleanCursor<'a>>),
}

impl<'a> Cursor<'a> {
    /// Opens a clause on one segment. Void where `stop` aborted, and exhausted early where it aborts later.
    pub(crate) fn open(
        plan: &'a Plan,
        node: &'a Node,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Cursor<'a>, IndexError> {
        Ok(match node {
            Node::Nothing => Cursor::Empty,
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
            Node::Prefix { field, prefix } => {
                let score = (PREFIX_SCORE + plan.grid) - plan.grid;
                PrefixCursor::open(segment, *field, prefix, score, stop)?
                    .map_or(Cursor::Empty, Cursor::Prefix)
            }
            Node::Phrase(phrase) => PhraseCursor::open(plan, phrase, segment, stop)?
                .map_or(Cursor::Empty, |cursor| Cursor::Phrase(Box::new(cursor))),
            Node::Boolean {
                required,
                optional,
                excluded,
            } => BooleanCursor::open(plan, [required, optional, excluded], segment, stop)?
                .map_or(Cursor::Empty, |cursor| Cursor::Boolean(Box::new(cursor))),
        })
    }

    /// Opens a clause that is one term, already looked up.
    pub(crate) fn open_record(
        plan: &'a Plan,
        node: &Node,
        segment: &'a Segment,
        record: &TermRecord,
    ) -> Result<Cursor<'a>, IndexError> {
        let postings = segment.postings(record)?;
        Ok(match node {
            Node::Term(term) => {
                let scorer = Scorer::new(plan, term.word.field, term.weight, segment);
                Cursor::Term(TermCursor::new(postings, scorer))
            }
            _ => Cursor::Filter(FilterCursor::new(postings)),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Cursor::Empty)
    }
}

/// Pairs that are scored side by side.
const BOUNDED: usize = 4;

/// Turns a frequency into a score: all that is the same for a whole list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scorer<'a> {
    pub(crate) ranking: crate::Ranking,
    pub(crate) weight: f32,
    pub(crate) grid: f32,
    /// `None` where nothing is scored.
    pub(crate) factors: Option<&'a Factors>,
    pub(crate) lengths: &'a [u8],
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        field: Field,
        weight: f32,
        segment: &'a Segment,
    ) -> Scorer<'a> {
        Scorer {
            ranking: plan.ranking,
            weight,
            grid: plan.grid,
            factors: match field {
                Field::Text => plan.text_factors.as_deref(),
                Field::Title => plan.title_factors.as_deref(),
                Field::Site => None,
            },
            lengths: segment.lengths(field),
        }
    }

    #[inline]
    pub(crate) fn score(&self, doc: DocId, frequency: u32) -> f32 {
        match self.factors {
            Some(factors) => {
                profile::scored(1);
                let factor = factors.by_length[self.length_byte(doc) as usize];
                self.ranking
                    .score(self.weight, frequency, factor, self.grid)
            }
            None => 0.0,
        }
    }

    /// The scores of some postings, as many as there are documents (256 at most).
    #[inline]
    pub(crate) fn score_many(&self, docs: &[u32], frequencies: &[u32], scores: &mut [f32]) {
        let Some(factors) = self.factors else {
            scores.fill(0.0);
            return;
        };
        profile::scored(docs.len());
        let mut factors_of = [0.0; BLOCK];
        for (factor, &doc) in factors_of.iter_mut().zip(docs) {
            *factor = factors.by_length[self.length_byte(DocId(doc)) as usize];
        }
        let factors_of = &factors_of[..docs.len().min(BLOCK)];
        self.ranking
            .score_many(self.weight, frequencies, factors_of, self.grid, scores);
    }

    /// Whether a score stays below the weight, however often the word is said.
    pub(crate) fn saturates(&self) -> bool {
        matches!(self.ranking, crate::Ranking::Bm25 { .. })
    }

    /// The most that a posting dominated by one of `impacts` can score. A score never falls when the
    /// frequency rises, and never rises with the length, so the maximum is at one of them.
    #[inline]
    pub(crate) fn bound(&self, impacts: &[Impact]) -> f32 {
        let Some(factors) = self.factors else {
            return 0.0;
        };
        // Four at a time, without a branch: one division of the processor's.
        let mut most = 0.0;
        for impacts in impacts.chunks(BOUNDED) {
            // Frequency 0, of a pair that is not used, scores 0.
            let (mut frequencies, mut of_lengths) = ([0; BOUNDED], [0.0; BOUNDED]);
            for (at, impact) in impacts.iter().enumerate() {
                frequencies[at] = impact.frequency & FREQUENCY_MAX;
                of_lengths[at] = factors.by_length[usize::from(impact.length)];
            }
            for score in self
                .ranking
                .score_four(self.weight, frequencies, of_lengths, self.grid)
            {
                most = if score > most { score } else { most };
            }
        }
        most
    }

    /// The quantised length of a document. A damaged list could name a document that the segment
    /// has not got; it counts as empty rather than ending the program.
    #[inline]
    pub(crate) fn length_byte(&self, doc: DocId) -> u8 {
        self.lengths.get(doc.0 as usize).copied().unwrap_or(0)
    }
}

/// Writes out a call on whatever cursor it is.
macro_rules! dispatch {
    ($cursor:expr, $inner:ident => $call:expr, $empty:expr) => {
        match $cursor {
            Cursor::Empty => $empty,
            Cursor::Term($inner) => $call,
            Cursor::Filter($inner) => $call,
            Cursor::Prefix($inner) => $call,
            Cursor::Phrase($inner) => $call,
            Cursor::Boolean($inner) => $call,
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
        dispatch!(self, cursor => cursor.next(), DocId::END)
    }
    #[inline]
    fn seek(&mut self, target: DocId) -> DocId {
        dispatch!(self, cursor => cursor.seek(target), DocId::END)
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
        dispatch!(self, cursor => cursor.score(), 0.0)
    }
}
