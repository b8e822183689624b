//! Fields that hold a term of the text, for explanations.

use crate::plan::node::{Node, Scoring};
use crate::plan::planner::Plan;
use index::{DocId, Field, IndexError, Postings, Segment};

/// Lists of a term of the text under the title and the further fields whose words belong to the text, with their names.
#[derive(Default)]
pub(super) struct FieldsOfTerm<'a>(Vec<(String, Postings<'a>)>);

impl<'a> FieldsOfTerm<'a> {
    /// Opens the lists of a clause; there are none unless it is a scored term of the text.
    pub(super) fn open(
        plan: &Plan,
        node: &Node,
        segment: &'a Segment,
    ) -> Result<FieldsOfTerm<'a>, IndexError> {
        let term = match node {
            Node::Term(term) if term.scoring == Scoring::Ranked => term,
            _ => return Ok(FieldsOfTerm::default()),
        };
        if term.word.field != Field::Text {
            return Ok(FieldsOfTerm::default());
        }
        let mut lists = Vec::new();
        // Other analyzers have other terms.
        let further = plan.text_fields.further();
        let further = further.filter(|(_, own)| own.is_in_text() && own.analyzer.is_none());
        let further = further.map(|(name, own)| (name, Field::Further(own.number)));
        for (name, field) in [("title", Field::Title)].into_iter().chain(further) {
            if let Some(record) = segment.term(field, &term.word.term)? {
                lists.push((name.to_owned(), segment.postings(&record)?));
            }
        }
        Ok(FieldsOfTerm(lists))
    }

    /// Returns the names of the fields of a document that hold the term, as ` (title, brand)`. Documents increase.
    pub(super) fn place(&mut self, doc: DocId) -> Result<String, IndexError> {
        let mut names = Vec::new();
        for (name, postings) in &mut self.0 {
            if postings.seek(doc) == doc {
                names.push(name.as_str());
            }
            postings.take_error().map_or(Ok(()), Err)?;
        }
        Ok(match names.is_empty() {
            true => String::new(),
            false => format!(" ({})", names.join(", ")),
        })
    }
}
