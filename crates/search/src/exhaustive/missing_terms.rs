//! Missing terms: telling words of a query that a document lacks.

use crate::context::cancel::StopRef;
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::cursor::walk::DocCursor;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use index::{DocId, IndexError, Segment};

/// The telling words of a plan ([`Query::AnyTelling`](crate::Query::AnyTelling)), open on one segment.
pub struct MissingTerms<'a> {
    /// Words with their lists; `None` where no document of the segment holds the word.
    words: Vec<(&'a str, Option<Box<Cursor<'a>>>)>,
}

impl<'a> MissingTerms<'a> {
    /// Opens the telling words of a plan on a segment; none where the plan has none.
    pub fn open(plan: &'a Plan, segment: &'a Segment) -> Result<MissingTerms<'a>, IndexError> {
        let mut words = Vec::with_capacity(plan.telling_words().len());
        for word in plan.telling_words() {
            let cursor = match scored_word(&plan.root, word) {
                Some(node) => Some(Cursor::open(plan, node, segment, StopRef::default())?),
                None => None,
            };
            words.push((word.as_str(), cursor.map(Box::new)));
        }
        Ok(MissingTerms { words })
    }

    /// Returns the words that a document lacks, in the order of the query. Documents must come in increasing order.
    pub fn of(&mut self, doc: DocId) -> Result<Vec<&'a str>, IndexError> {
        let mut lacked = Vec::new();
        for (word, cursor) in &mut self.words {
            let is_held = match cursor {
                Some(cursor) => {
                    let is_held = cursor.seek(doc) == doc;
                    cursor.take_error().map_or(Ok(()), Err)?;
                    is_held
                }
                None => false,
            };
            if !is_held {
                lacked.push(*word);
            }
        }
        Ok(lacked)
    }
}

/// Returns the clause of a word in the text of documents.
fn scored_word<'a>(node: &'a Node, word: &str) -> Option<&'a Node> {
    match node {
        Node::Term(term) if term.word.field == index::Field::Text && term.word.term == word => {
            Some(node)
        }
        Node::Boolean {
            required, optional, ..
        } => {
            let mut clauses = required.iter().chain(optional);
            clauses.find_map(|clause| scored_word(clause, word))
        }
        Node::AtLeast { clauses, .. } | Node::BestOf { clauses, .. } => {
            let mut clauses = clauses.iter();
            clauses.find_map(|clause| scored_word(clause, word))
        }
        _ => None,
    }
}
