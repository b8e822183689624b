//! Terms of a plan that summaries mark.

use crate::plan::node::{Node, Scoring};
use crate::plan::planner::Plan;
use text::summary::{Marked, SummaryTerm};

impl Plan {
    /// Returns the terms that summaries should mark: positive terms, phrases' words, prefixes.
    pub fn summary_terms(&self) -> Vec<SummaryTerm> {
        let mut terms = Vec::new();
        note_terms(&self.root, &mut terms);
        for pattern in &self.patterns {
            note(Marked::Like(pattern.clone()), 1.0, &mut terms);
        }
        terms.retain(|term| match &term.marked {
            Marked::Term(word) => !self.telling.others.contains(word),
            Marked::Like(_) => true,
        });
        terms
    }
}

/// Notes the terms that summaries should mark in a scored clause, each once.
fn note_terms(node: &Node, terms: &mut Vec<SummaryTerm>) {
    let mut note = |marked: Marked, weight: f32| note(marked, weight, terms);
    match node {
        Node::Term(term) if term.is_marked => {
            let weight = match term.scoring {
                Scoring::Ranked => term.idf,
                Scoring::Constant => 1.0,
            };
            note(Marked::Term(term.word.term.clone()), weight);
        }
        Node::Pattern(pattern) if pattern.weight > 0.0 => {
            note(Marked::Like(pattern.pattern.clone()), 1.0);
        }
        Node::Phrase(phrase) if phrase.weight.weight > 0.0 => {
            for word in &phrase.words {
                note(Marked::Term(word.term.clone()), word.idf);
            }
        }
        Node::Boolean {
            required, optional, ..
        } => {
            for clause in required.iter().chain(optional) {
                note_terms(clause, terms);
            }
        }
        Node::AtLeast { clauses, .. } | Node::BestOf { clauses, .. } => {
            clauses.iter().for_each(|clause| note_terms(clause, terms));
        }
        Node::Constant(constant) => {
            let words = constant.marked.iter().cloned();
            words.for_each(|marked| note(marked, 1.0));
        }
        Node::Nothing
        | Node::All
        | Node::Term(_)
        | Node::Filter(_)
        | Node::Pattern(_)
        | Node::TitleStart(_)
        | Node::Value(_)
        | Node::Urls(_)
        | Node::Phrase(_) => {}
    }
}

/// Notes what summaries should mark, once.
fn note(marked: Marked, weight: f32, terms: &mut Vec<SummaryTerm>) {
    if !terms.iter().any(|noted| noted.marked == marked) {
        terms.push(SummaryTerm { marked, weight });
    }
}
