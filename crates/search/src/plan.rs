//! A query with the statistics of one snapshot: everything that scoring needs but the postings.
//!
//! Weights come from statistics of the whole index, so a document's score does not depend on the
//! segment, chunk or partition that holds it. Clauses are summed in the order of the plan, from
//! 0.0, in f32: the same bits everywhere.
use crate::{Query, Ranking};
use index::{Field, IndexError, Statistics};
use text::summary::SummaryTerm;

/// A query planned for one snapshot. Cheap to share; used for every segment of every partition.
#[derive(Debug)]
pub struct Plan {
    pub(crate) root: Node,
    pub(crate) ranking: Ranking,
    pub(crate) text_factors: Option<Box<[f32; 256]>>,
    pub(crate) title_factors: Option<Box<[f32; 256]>>,
    // For explanations.
    pub(crate) documents_count: u64,
    pub(crate) average_lengths: [f64; 2],
    summary_terms: Vec<SummaryTerm>,
}

/// One clause of a plan.
#[derive(Debug)]
pub(crate) enum Node {
    Nothing,
    Term(TermNode),
    /// A term that filters and adds nothing to the score.
    Filter {
        field: Field,
        term: String,
    },
    Prefix {
        field: Field,
        prefix: String,
    },
    Phrase(PhraseNode),
    Boolean {
        required: Vec<Node>,
        optional: Vec<Node>,
        excluded: Vec<Node>,
    },
}

impl Node {
    /// The field and term of a clause that is one term.
    pub(crate) fn term(&self) -> Option<(Field, &str)> {
        match self {
            Node::Term(term) => Some((term.field, &term.term)),
            Node::Filter { field, term } => Some((*field, term)),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct TermNode {
    pub(crate) field: Field,
    pub(crate) term: String,
    pub(crate) said: u32,
    pub(crate) document_frequency: u64,
    pub(crate) idf: f32,
    pub(crate) weight: f32,
}

#[derive(Debug)]
pub(crate) struct PhraseNode {
    pub(crate) field: Field,
    pub(crate) terms: Vec<String>,
    pub(crate) slop: u32,
    pub(crate) idf: f32,
    pub(crate) weight: f32,
}

impl Plan {
    /// Looks up statistics and fixes weights.
    pub fn new(
        query: &Query,
        ranking: Ranking,
        statistics: &Statistics,
    ) -> Result<Plan, IndexError> {
        let ranking = ranking.sanitized();
        let mut planner = Planner {
            ranking,
            statistics,
            documents_count: statistics.documents_count(),
            fields_used: [false; 2],
            summary_terms: Vec::new(),
        };
        let root = planner.scored(query)?;
        let average_lengths = Field::WITH_LENGTHS.map(|field| statistics.average_length(field));
        let factors =
            |at: usize| planner.fields_used[at].then(|| ranking.factors(average_lengths[at]));
        Ok(Plan {
            root,
            ranking,
            text_factors: factors(0),
            title_factors: factors(1),
            documents_count: planner.documents_count,
            average_lengths,
            summary_terms: planner.summary_terms,
        })
    }

    /// What summaries should look for: positive terms, phrases' words, prefixes.
    pub fn summary_terms(&self) -> Vec<SummaryTerm> {
        self.summary_terms.clone()
    }

    /// Whether the statistics alone show that no document matches, so no segment need be asked.
    pub fn matches_nothing(&self) -> bool {
        matches!(self.root, Node::Nothing)
    }
}

struct Planner<'a> {
    ranking: Ranking,
    statistics: &'a Statistics,
    documents_count: u64,
    fields_used: [bool; 2],
    summary_terms: Vec<SummaryTerm>,
}

impl Planner<'_> {
    /// Plans a clause that counts for the score.
    fn scored(&mut self, query: &Query) -> Result<Node, IndexError> {
        match query {
            Query::Nothing => Ok(Node::Nothing),
            Query::Term {
                field: Field::Site,
                term,
                ..
            } => self.filter(Field::Site, term),
            Query::Term {
                field,
                term,
                weight,
            } => self.term(*field, term, *weight),
            Query::Prefix { field, prefix } => {
                self.note(prefix, true, 1.0);
                Ok(prefix_node(*field, prefix))
            }
            Query::Phrase { field, terms, slop } => self.phrase(*field, terms, *slop),
            Query::Boolean {
                required,
                optional,
                excluded,
            } => {
                let required = self.all(required)?;
                let optional = self.all(optional)?;
                Ok(boolean(required, optional, unscored_all(excluded)))
            }
        }
    }

    fn all(&mut self, queries: &[Query]) -> Result<Vec<Node>, IndexError> {
        queries.iter().map(|query| self.scored(query)).collect()
    }

    fn term(&mut self, field: Field, term: &str, said: u32) -> Result<Node, IndexError> {
        let document_frequency = self.statistics.document_frequency(field, term)?;
        if document_frequency == 0 {
            return Ok(Node::Nothing);
        }
        let idf = self.idf(document_frequency);
        self.note(term, false, idf);
        self.use_lengths(field);
        Ok(Node::Term(TermNode {
            field,
            term: term.to_owned(),
            said,
            document_frequency,
            idf,
            weight: self.ranking.weight(said, idf),
        }))
    }

    fn filter(&mut self, field: Field, term: &str) -> Result<Node, IndexError> {
        if self.statistics.document_frequency(field, term)? == 0 {
            return Ok(Node::Nothing);
        }
        Ok(Node::Filter {
            field,
            term: term.to_owned(),
        })
    }

    fn phrase(&mut self, field: Field, terms: &[String], slop: u32) -> Result<Node, IndexError> {
        match terms {
            [] => return Ok(Node::Nothing),
            [term] => return self.term(field, term, 1),
            _ => {}
        }
        let mut idf = 0.0f32;
        for term in terms {
            let document_frequency = self.statistics.document_frequency(field, term)?;
            if document_frequency == 0 {
                return Ok(Node::Nothing);
            }
            let term_idf = self.idf(document_frequency);
            self.note(term, false, term_idf);
            idf += term_idf;
        }
        // Sites have no positions, so nothing follows anything there.
        if field == Field::Site {
            return Ok(Node::Nothing);
        }
        self.use_lengths(field);
        Ok(Node::Phrase(PhraseNode {
            field,
            terms: terms.to_vec(),
            slop,
            idf,
            weight: self.ranking.weight(1, idf),
        }))
    }

    fn idf(&self, document_frequency: u64) -> f32 {
        self.ranking
            .inverse_document_frequency(self.documents_count, document_frequency)
    }

    fn use_lengths(&mut self, field: Field) {
        if let Some(used) = self.fields_used.get_mut(field as usize) {
            *used = true;
        }
    }

    fn note(&mut self, term: &str, prefix: bool, weight: f32) {
        let known = self
            .summary_terms
            .iter()
            .any(|noted| noted.prefix == prefix && noted.term == term);
        if !known {
            self.summary_terms.push(SummaryTerm {
                term: term.to_owned(),
                prefix,
                weight,
            });
        }
    }
}

/// Plans a clause whose score nobody asks for: what is excluded. It needs no statistics.
fn unscored(query: &Query) -> Node {
    match query {
        Query::Nothing => Node::Nothing,
        Query::Term { field, term, .. } => Node::Filter {
            field: *field,
            term: term.clone(),
        },
        Query::Prefix { field, prefix } => prefix_node(*field, prefix),
        Query::Phrase { field, terms, slop } => match terms.as_slice() {
            [] => Node::Nothing,
            [term] => Node::Filter {
                field: *field,
                term: term.clone(),
            },
            _ if *field == Field::Site => Node::Nothing,
            _ => Node::Phrase(PhraseNode {
                field: *field,
                terms: terms.clone(),
                slop: *slop,
                idf: 0.0,
                weight: 0.0,
            }),
        },
        Query::Boolean {
            required,
            optional,
            excluded,
        } => boolean(
            unscored_all(required),
            unscored_all(optional),
            unscored_all(excluded),
        ),
    }
}

fn unscored_all(queries: &[Query]) -> Vec<Node> {
    queries.iter().map(unscored).collect()
}

fn prefix_node(field: Field, prefix: &str) -> Node {
    Node::Prefix {
        field,
        prefix: prefix.to_owned(),
    }
}

/// A combination, without the clauses that cannot match; `Nothing` where that decides it.
fn boolean(required: Vec<Node>, mut optional: Vec<Node>, mut excluded: Vec<Node>) -> Node {
    let can_match = |node: &Node| !matches!(node, Node::Nothing);
    if !required.iter().all(can_match) {
        return Node::Nothing;
    }
    optional.retain(can_match);
    excluded.retain(can_match);
    if required.is_empty() && optional.is_empty() {
        return Node::Nothing;
    }
    Node::Boolean {
        required,
        optional,
        excluded,
    }
}
