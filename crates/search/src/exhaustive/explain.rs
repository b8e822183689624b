//! Explanation of a score: the values that it was made from.

use crate::context::cancel;
use crate::context::cancel::{Stop, StopRef};
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::exhaustive::explained_leaf::{explain_phrase, explain_term, phrase_name};
pub use crate::exhaustive::explanation::Explanation;
use crate::exhaustive::fields_of_term::FieldsOfTerm;
use crate::plan::best::Best;
use crate::plan::node::{ClauseName, ConstantNode, Node, PatternNode, Scoring};
use crate::plan::planner::Plan;
use crate::plan::priors::{ByValue, SegmentPrior, SegmentPriors};
use crate::plan::ranking::on_grid;
use fields::{Prior, Value, days_us};
use index::{DocId, IndexError, Segment};
use text::Pattern;

/// Explains the score of one document; `None` if it does not match. For many documents of a segment,
/// open an [`Explainer`] once.
pub fn explain(
    plan: &Plan,
    segment: &Segment,
    doc: DocId,
) -> Result<Option<Explanation>, IndexError> {
    let stop = Stop::default();
    Explainer::open(plan, segment, &stop)?.explain(doc)
}

/// Explainer of the scores of one segment's documents. The values are those of the cursors that search
/// uses, so the root's equals the hit's score bit by bit.
pub struct Explainer<'a> {
    plan: &'a Plan,
    segment: &'a Segment,
    stop: StopRef<'a>,
    root: Clause<'a>,
    priors: SegmentPriors<'a>,
    /// Document explained last.
    explained: DocId,
}

/// Clause of the plan, opened on the segment. Each word, phrase and prefix is opened once.
enum Clause<'a> {
    One(&'a Node, Box<Cursor<'a>>, FieldsOfTerm<'a>),
    Boolean {
        required: Vec<Clause<'a>>,
        optional: Vec<Clause<'a>>,
        excluded: Vec<Clause<'a>>,
    },
    AtLeast {
        least: usize,
        clauses: Vec<Clause<'a>>,
    },
    BestOf {
        tie_breaker: f32,
        clauses: Vec<Clause<'a>>,
    },
    Constant(&'a ConstantNode, Box<Clause<'a>>),
}

impl<'a> Explainer<'a> {
    /// Opens every clause of the plan on a segment. Explanations are void once `stop` is cancelled
    /// ([`Stop::is_cancelled`]).
    pub fn open(
        plan: &'a Plan,
        segment: &'a Segment,
        stop: &'a Stop<'a>,
    ) -> Result<Explainer<'a>, IndexError> {
        let stop = StopRef::new(stop);
        Ok(Explainer {
            plan,
            segment,
            stop,
            root: Clause::open(plan, &plan.root, segment, stop)?,
            priors: plan.priors.open(segment)?,
            explained: DocId(0),
        })
    }

    /// Explains the score of a document; `None` if it does not match. Documents in increasing order are
    /// explained in one pass over the lists; an earlier one opens them again.
    pub fn explain(&mut self, doc: DocId) -> Result<Option<Explanation>, IndexError> {
        if doc.0 >= self.segment.documents_count() || self.segment.is_deleted(doc) {
            return Ok(None);
        }
        if doc < self.explained {
            self.root = Clause::open(self.plan, &self.plan.root, self.segment, self.stop)?;
        }
        self.explained = doc;
        let id = self.segment.id();
        if let Some(pinned) = self
            .plan
            .pinned
            .iter()
            .find(|one| (one.segment, one.doc) == (id, doc))
        {
            let place = pinned.place + 1;
            return Ok(Some(Explanation::leaf(
                0.0,
                format!("pinned by a rule, in place {place}"),
            )));
        }
        let of_clauses = self.root.explain(self.plan, doc, self.stop)?;
        Ok(of_clauses.map(|why| self.with_priors(why, doc)))
    }

    /// Adds the priors of a document to the score of its clauses, where the segment has any.
    fn with_priors(&self, of_clauses: Explanation, doc: DocId) -> Explanation {
        let mut details = vec![of_clauses];
        details.extend(self.priors.each().map(|prior| explain_prior(prior, doc)));
        match details.len() {
            1 => details.remove(0),
            _ => sum("sum of the clauses and the priors".to_owned(), details),
        }
    }
}

impl<'a> Clause<'a> {
    fn open(
        plan: &'a Plan,
        node: &'a Node,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Clause<'a>, IndexError> {
        let open_all = |nodes: &'a [Node]| {
            let mut clauses = Vec::with_capacity(nodes.len());
            for node in nodes {
                if stop.aborts(1) {
                    break;
                }
                clauses.push(Clause::open(plan, node, segment, stop)?);
            }
            Ok::<_, IndexError>(clauses)
        };
        Ok(match node {
            Node::Boolean {
                required,
                optional,
                excluded,
            } => Clause::Boolean {
                required: open_all(required)?,
                optional: open_all(optional)?,
                excluded: open_all(excluded)?,
            },
            Node::AtLeast { least, clauses } => Clause::AtLeast {
                least: *least,
                clauses: open_all(clauses)?,
            },
            Node::BestOf {
                tie_breaker,
                clauses,
            } => Clause::BestOf {
                tie_breaker: *tie_breaker,
                clauses: open_all(clauses)?,
            },
            Node::Constant(constant) => {
                let clause = Clause::open(plan, &constant.clause, segment, stop)?;
                Clause::Constant(constant, Box::new(clause))
            }
            node => {
                let cursor = Cursor::open(plan, node, segment, stop)?;
                let fields = FieldsOfTerm::open(plan, node, segment)?;
                Clause::One(node, Box::new(cursor), fields)
            }
        })
    }

    fn explain(
        &mut self,
        plan: &Plan,
        doc: DocId,
        stop: StopRef<'_>,
    ) -> Result<Option<Explanation>, IndexError> {
        if stop.aborts(cancel::DOCUMENT) {
            return Ok(None);
        }
        match self {
            Clause::One(node, cursor, fields) => explain_one(plan, node, (cursor, fields), doc),
            Clause::Boolean {
                required,
                optional,
                excluded,
            } => {
                let mut details = Vec::new();
                for clause in &mut *required {
                    match clause.explain(plan, doc, stop)? {
                        Some(why) => details.push(why),
                        None => return Ok(None),
                    }
                }
                for clause in excluded {
                    if clause.explain(plan, doc, stop)?.is_some() {
                        return Ok(None);
                    }
                }
                for clause in optional {
                    details.extend(clause.explain(plan, doc, stop)?);
                }
                if details.is_empty() {
                    return Ok(None);
                }
                Ok(Some(sum("sum of the clauses that match".into(), details)))
            }
            Clause::AtLeast { least, clauses } => {
                let mut details = Vec::new();
                for clause in &mut *clauses {
                    details.extend(clause.explain(plan, doc, stop)?);
                }
                if details.len() < *least {
                    return Ok(None);
                }
                let (found, count) = (details.len(), clauses.len());
                let description =
                    format!("sum of the {found} of {count} clauses that match; {least} must");
                Ok(Some(sum(description, details)))
            }
            Clause::BestOf {
                tie_breaker,
                clauses,
            } => {
                let mut details = Vec::new();
                for clause in &mut *clauses {
                    details.extend(clause.explain(plan, doc, stop)?);
                }
                let best = Best::new(*tie_breaker, plan.grid);
                Ok((!details.is_empty()).then(|| best_of(best, *tie_breaker, details)))
            }
            Clause::Constant(constant, clause) => {
                let why = clause.explain(plan, doc, stop)?;
                Ok(why.map(|why| explain_constant(plan, constant.weight, why, &constant.name)))
            }
        }
    }
}

/// Explains the score of the best of the clauses that match.
fn best_of(best: Best, tie_breaker: f32, details: Vec<Explanation>) -> Explanation {
    let description = match tie_breaker {
        0.0 => "greatest of the clauses that match".to_owned(),
        _ => format!(
            "greatest of the clauses that match + tie breaker * sum of the others, tie breaker = {tie_breaker}"
        ),
    };
    Explanation {
        value: best.of_all(details.iter().map(|why| why.value)),
        name: None,
        description,
        details,
    }
}

/// Explains a clause whose matches score alike by what matches.
fn explain_constant(plan: &Plan, weight: f32, why: Explanation, name: &ClauseName) -> Explanation {
    let explanation = Explanation {
        value: on_grid(weight, plan.grid),
        name: None,
        description: format!("constant score: a document that matches counts {weight}"),
        details: vec![why],
    };
    explanation.named(name)
}

fn explain_prior(prior: &SegmentPrior<'_>, doc: DocId) -> Explanation {
    let description = match prior {
        SegmentPrior::Value(of) => match (of.value(doc), of.by) {
            (Some(value), ByValue::Saturating(Prior { weight, pivot })) => format!(
                "prior of {} = weight * value / (value + pivot), weight = {weight}, value = {value}, pivot = {pivot}",
                of.name
            ),
            (
                Some(value),
                ByValue::Age {
                    weight,
                    now_us,
                    half_us,
                },
            ) => format!(
                "prior of {} = weight * half / (half + age), weight = {weight}, half = {} days, age from {value} to {}",
                of.name,
                half_us / days_us(1.0),
                Value::Date(now_us)
            ),
            (None, _) => format!("prior of {}: the document has no value", of.name),
        },
        SegmentPrior::Passes { field, test, .. } => {
            format!("prior of {field}:{test}: its weight, where a value passes")
        }
        SegmentPrior::Site { site, .. } => {
            format!("prior of {site} and its subdomains: its weight, for their documents")
        }
    };
    Explanation::leaf(prior.of(doc), description)
}

/// Adds up the values of clauses. The sum is exact in any order, because the values lie on a grid.
fn sum(description: String, details: Vec<Explanation>) -> Explanation {
    Explanation {
        value: details.iter().map(|why| why.value).sum(),
        name: None,
        description,
        details,
    }
}

/// Explains a clause that is not a combination.
fn explain_one(
    plan: &Plan,
    node: &Node,
    (cursor, fields): (&mut Cursor<'_>, &mut FieldsOfTerm<'_>),
    doc: DocId,
) -> Result<Option<Explanation>, IndexError> {
    let matches = cursor.seek(doc) == doc;
    if let Some(error) = cursor.take_error() {
        return Err(error);
    }
    if !matches {
        return Ok(None);
    }
    let value = cursor.score();
    let explanation = match (node, &mut *cursor) {
        (Node::Term(term), _) if term.scoring != Scoring::Ranked => {
            let (word, name) = (&term.word, &term.word.name);
            let label = format!("{}{}", plan.label(word.field), word.term);
            let why = filter(&label, 0.0).named(name);
            explain_constant(plan, term.weight.weight, why, name)
        }
        (Node::Term(term), Cursor::Term(cursor)) => {
            let (frequency, length_byte) = (cursor.frequency(), cursor.length_byte());
            let place = fields.place(doc)?;
            explain_term(plan, term, value, (frequency, length_byte), place).named(&term.word.name)
        }
        (Node::Phrase(phrase), Cursor::Phrase(cursor)) if phrase.weight.weight > 0.0 => {
            let (frequency, length_byte) = (cursor.frequency(), cursor.length_byte());
            explain_phrase(plan, phrase, value, frequency, length_byte).named(&phrase.name)
        }
        (Node::Phrase(phrase), _) => filter(&phrase_name(plan, phrase), value).named(&phrase.name),
        (Node::Pattern(node), _) => {
            let name = format!(
                "{}{}{}",
                plan.label(node.field),
                node.pattern,
                as_written(node)
            );
            let why = match node.weight {
                0.0 => filter(&name, value),
                weight => Explanation::leaf(
                    value,
                    match node.pattern {
                        Pattern::Prefix(_) => {
                            format!("{name}: a word that starts so counts {weight}")
                        }
                        Pattern::Wildcard(_) | Pattern::Regex(_) => {
                            format!("{name}: a word of this form counts {weight}")
                        }
                        Pattern::Near { edits, .. } => {
                            format!("{name}: a word within {edits} edits of it counts {weight}")
                        }
                        Pattern::NearStart { edits, .. } => {
                            format!(
                                "{name}: a word that begins within {edits} edits of it counts {weight}"
                            )
                        }
                    },
                ),
            };
            why.named(&node.name)
        }
        (Node::TitleStart(node), _) => {
            let name = format!("title begins with \"{}\"", node.start.trim_end());
            match node.weight {
                0.0 => filter(&name, value),
                _ => Explanation::leaf(
                    value,
                    format!("{name}: 2, or 1 with errors, - characters / 256"),
                ),
            }
        }
        (Node::All, _) => filter("all documents", value),
        (Node::Value(node), _) => {
            filter(&format!("{}:{}", node.field, node.test), value).named(&node.name)
        }
        (Node::Urls(node), _) => {
            let name = match &node.urls[..] {
                [url] => format!("url:{url}"),
                urls => format!("documents of {} URLs", urls.len()),
            };
            filter(&name, value).named(&node.name)
        }
        (Node::Filter(word), _) => {
            let name = format!("{}{}", plan.label(word.field), word.term);
            filter(&name, value).named(&word.name)
        }
        _ => Explanation::leaf(value, "nothing"),
    };
    Ok(Some(explanation))
}

/// Names the first words as written for which a pattern stands beside its terms.
fn as_written(node: &PatternNode) -> String {
    const NAMED_MAX: usize = 5;
    let words = node.as_written.iter().map(|of| of.written.as_str());
    let named: Vec<&str> = words.take(NAMED_MAX).collect();
    match (named.is_empty(), node.as_written.len() > NAMED_MAX) {
        (true, _) => String::new(),
        (false, true) => format!(" (written {}, …)", named.join(", ")),
        (false, false) => format!(" (written {})", named.join(", ")),
    }
}

/// Explains a clause that only filters.
fn filter(name: &str, value: f32) -> Explanation {
    Explanation::leaf(value, format!("{name}: a filter adds nothing"))
}
