//! Scores of words beyond the text: the same words and phrases in the fields that weigh more.
//!
//! ```text
//! +a +b            =  +a +b  title:a^2 title:b^2            the title weighs 3
//! a b              =  +(a b) title:a^2 title:b^2
//! (+a -x) b        =  +((+a -x title:a^2) b) title:b^2      a word counts only where its clause matches
//! best of a, b     =  best of (+a title:a^2), (+b title:b^2)
//! ```
//!
//! A clause of a field matches only documents that the clause of the text matches, since the words of the field belong to
//! the text. So it adds to their scores and changes no match, and it may stand among the optional clauses of any
//! combination that matches whenever its word counts.

use crate::plan::node::Node;
use crate::plan::planner::Planner;
use crate::plan::rewrite::boolean;
use crate::query::parse::{BOOST_MAX, BOOST_MIN};
use crate::query::tree::Query;
use index::{Field, IndexError};

/// Number of alternatives from which phrases are looked up by their longest word first.
const FEW: usize = 3;

impl Planner<'_> {
    /// Plans optional clauses. What words score beyond the text stays with a clause that other words decide about.
    pub(super) fn alternatives(&mut self, queries: &[Query]) -> Result<Vec<Node>, IndexError> {
        self.prefetch_all(queries);
        let mut nodes = Vec::with_capacity(queries.len());
        for query in queries {
            if queries.len() > FEW && self.is_nowhere(query)? {
                nodes.push(Node::Nothing);
                continue;
            }
            let before = self.beyond_text.len();
            let node = self.scored(query)?;
            nodes.push(match counts_alone(query) {
                true => node,
                false => self.with_beyond_text(node, before),
            });
        }
        Ok(nodes)
    }

    /// Plans clauses of which the best counts: what the words of each score beyond the text stays with it. A match needs no word
    /// of the others, so it lacks none.
    pub(super) fn each_apart(&mut self, queries: &[Query]) -> Result<Vec<Node>, IndexError> {
        let telling_count = self.telling.words.len();
        self.prefetch_all(queries);
        let mut nodes = Vec::with_capacity(queries.len());
        for query in queries {
            let before = self.beyond_text.len();
            let node = self.scored(query)?;
            nodes.push(self.with_beyond_text(node, before));
        }
        self.telling.words.truncate(telling_count);
        Ok(nodes)
    }

    /// Returns whether the longest word of a phrase is in no document. Most ways of writing a phrase have a word that
    /// is never written.
    fn is_nowhere(&self, query: &Query) -> Result<bool, IndexError> {
        let Query::Phrase { field, terms, .. } = query else {
            return Ok(false);
        };
        let longest = terms.iter().max_by_key(|term| term.len());
        match longest {
            Some(term) => Ok(self.statistics.term(*field, term)?.is_none()),
            None => Ok(true),
        }
    }

    /// Returns a clause together with the clauses from `first` on, which score its words beyond the text.
    pub(super) fn with_beyond_text(&mut self, node: Node, first: usize) -> Node {
        if self.beyond_text.len() == first {
            return node;
        }
        let beyond = self.beyond_text.split_off(first);
        let is_phrase = |node: &Node| matches!(node, Node::Phrase(_));
        match node {
            // Alternatives of phrases are searched in parts; whatever is beyond the text matches with one of them.
            Node::Boolean {
                required,
                mut optional,
                excluded,
            } if required.is_empty() && optional.iter().chain(&beyond).any(is_phrase) => {
                optional.extend(beyond);
                boolean(required, optional, excluded)
            }
            node => boolean(vec![node], beyond, Vec::new()),
        }
    }

    /// Plans the word or phrase of the text that `plan` plans in each field that weighs more.
    pub(super) fn add_beyond_text(
        &mut self,
        plan: impl Fn(&mut Self, Field) -> Result<Node, IndexError>,
    ) -> Result<(), IndexError> {
        let statistics = self.statistics;
        let (boost, name) = (self.boost, self.name.take());
        for settings in statistics.text_fields().weighted() {
            let more = boost * settings.weight_beyond_text();
            self.boost = more.clamp(BOOST_MIN, BOOST_MAX);
            let node = plan(self, Field::of_number(settings.number))?;
            if !matches!(node, Node::Nothing) {
                self.beyond_text.push(node);
            }
        }
        (self.boost, self.name) = (boost, name);
        Ok(())
    }
}

/// Returns whether each scored word of a clause counts wherever it matches: none is required or excluded beside it.
fn counts_alone(query: &Query) -> bool {
    match query {
        Query::Boolean {
            required, excluded, ..
        } => required.is_empty() && excluded.is_empty(),
        Query::Boosted { clause, .. }
        | Query::Ruled { clause, .. }
        | Query::Named { clause, .. } => counts_alone(clause),
        Query::AnyTelling(_) | Query::AllTelling(_) | Query::AtLeast { .. } => false,
        // They keep what their words score beyond the text.
        Query::BestOf { .. } | Query::Constant { .. } => true,
        Query::Nothing
        | Query::All
        | Query::Term { .. }
        | Query::Pattern { .. }
        | Query::TitleStart { .. }
        | Query::Value { .. }
        | Query::Urls(_)
        | Query::Phrase { .. }
        | Query::Filter(_) => true,
    }
}
