//! Cost of a plan, as far as its statistics tell: what predicts the time of a search before any list is opened.

use crate::plan::node::{Node, Word};
use crate::plan::planner::Plan;
use index::TITLES_MAX;

/// Kind of a plan: kinds differ in the time of a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// One term.
    Term,
    /// All of some terms.
    All,
    /// Any of some terms.
    Any,
    /// A phrase.
    Phrase,
    /// Required clauses with optional or excluded ones, or alternatives with phrases.
    Mixed,
    /// Anything else: prefixes, nested alternatives, the best of some clauses.
    Other,
}

impl PlanKind {
    /// All kinds.
    pub const ALL: [PlanKind; 6] = [
        PlanKind::Term,
        PlanKind::All,
        PlanKind::Any,
        PlanKind::Phrase,
        PlanKind::Mixed,
        PlanKind::Other,
    ];
}

/// Cost of a plan in the whole index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanCost {
    /// Kind.
    pub kind: PlanKind,
    /// Postings of the lists that lead: the shortest of those required, all of those that are alternatives.
    pub postings: u64,
    /// Lists.
    pub lists: u32,
}

impl Plan {
    /// Returns the cost. Patterns count as one posting a document, for their terms are not known yet.
    pub fn cost(&self) -> PlanCost {
        let (mut lists, mut has_other) = (0, false);
        let postings = self.postings_of(&self.root, &mut lists, &mut has_other);
        PlanCost {
            kind: match has_other {
                true => PlanKind::Other,
                false => kind_of(&self.root),
            },
            postings,
            lists,
        }
    }

    fn postings_of(&self, node: &Node, lists: &mut u32, has_other: &mut bool) -> u64 {
        match node {
            Node::Nothing => 0,
            Node::Term(term) => {
                *lists += 1;
                // Words near another are counted as the commonest of them.
                self.documents_of(&term.word)
                    .min(term.counts.document_frequency)
            }
            Node::Filter(word) => {
                *lists += 1;
                self.documents_of(word)
            }
            Node::TitleStart(_) => {
                *has_other = true;
                *lists += 1;
                TITLES_MAX as u64
            }
            Node::Pattern(_) => {
                *has_other = true;
                *lists += 1;
                self.documents_count
            }
            Node::Urls(node) => {
                *lists += 1;
                node.documents_count()
            }
            // Probed, unless it stands alone.
            Node::All | Node::Value(_) => self.documents_count,
            Node::Phrase(phrase) => {
                *lists += phrase.words.len() as u32;
                let words = phrase.words.iter();
                words.map(|word| self.documents_of(word)).min().unwrap_or(0)
            }
            Node::Boolean {
                required,
                optional,
                excluded,
            } => {
                let mut of = |node| self.postings_of(node, lists, has_other);
                let least = required.iter().map(&mut of).min();
                let any: u64 = optional.iter().map(&mut of).sum();
                for node in excluded {
                    of(node);
                }
                least.unwrap_or(any)
            }
            Node::BestOf { clauses, .. } => {
                *has_other = true;
                let each = clauses
                    .iter()
                    .map(|node| self.postings_of(node, lists, has_other));
                each.sum()
            }
            Node::Constant(constant) => {
                *has_other = true;
                self.postings_of(&constant.clause, lists, has_other)
            }
            Node::AtLeast { least, clauses } => {
                let each = clauses
                    .iter()
                    .map(|node| self.postings_of(node, lists, has_other));
                let mut counts: Vec<u64> = each.collect();
                counts.sort_unstable();
                // The most frequent ones only follow.
                counts.iter().take(clauses.len() + 1 - least).sum()
            }
        }
    }

    /// Returns the documents that hold a word; all of them where planning did not look it up.
    fn documents_of(&self, word: &Word) -> u64 {
        word.documents_count().unwrap_or(self.documents_count)
    }
}

fn kind_of(root: &Node) -> PlanKind {
    let terms = |nodes: &[Node]| nodes.iter().all(|node| node.word().is_some());
    match root {
        Node::Term(_) | Node::Filter(_) | Node::Nothing => PlanKind::Term,
        Node::Phrase(_) => PlanKind::Phrase,
        Node::All
        | Node::Pattern(_)
        | Node::TitleStart(_)
        | Node::Value(_)
        | Node::Urls(_)
        | Node::BestOf { .. }
        | Node::Constant(_) => PlanKind::Other,
        Node::AtLeast { clauses, .. } => match terms(clauses) {
            true => PlanKind::Any,
            false => PlanKind::Other,
        },
        Node::Boolean {
            required,
            optional,
            excluded,
        } => match (
            required.as_slice(),
            optional.as_slice(),
            excluded.as_slice(),
        ) {
            ([], any, []) if terms(any) => PlanKind::Any,
            ([Node::Boolean { optional, .. }], others, []) if terms(optional) && terms(others) => {
                PlanKind::Any
            }
            (all, [], []) if terms(all) => PlanKind::All,
            ([Node::Phrase(_)], [], []) => PlanKind::Phrase,
            _ => PlanKind::Mixed,
        },
    }
}
