//! How a score came about.
use crate::Ranking;
use crate::cursor::{Cursor, DocCursor, ScoredCursor};
use crate::plan::{Node, PhraseNode, Plan, TermNode};
use index::{DocId, Field, IndexError, Segment};
use serde::Serialize;

/// A value and the values it was made from. The root's value equals the hit's score bit by bit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The value.
    pub value: f32,
    /// What it is, with the formula.
    pub description: String,
    /// What it was made from.
    pub details: Vec<Explanation>,
}

impl Explanation {
    fn leaf(value: f32, description: impl Into<String>) -> Explanation {
        Explanation {
            value,
            description: description.into(),
            details: Vec::new(),
        }
    }
}

impl std::fmt::Display for Explanation {
    /// One value a line, details indented below what they make up.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn write(
            explanation: &Explanation,
            depth: usize,
            f: &mut std::fmt::Formatter<'_>,
        ) -> std::fmt::Result {
            let (value, description) = (explanation.value, &explanation.description);
            writeln!(f, "{:indent$}{value} {description}", "", indent = 2 * depth)?;
            explanation
                .details
                .iter()
                .try_for_each(|detail| write(detail, depth + 1, f))
        }
        write(self, 0, f)
    }
}

/// Explains the score of one document, `None` when it does not match. The values are those of the
/// cursors that search uses, so the root's equals the hit's score bit by bit.
pub fn explain(
    plan: &Plan,
    segment: &Segment,
    doc: DocId,
) -> Result<Option<Explanation>, IndexError> {
    if doc.0 >= segment.documents_count() || segment.is_deleted(doc) {
        return Ok(None);
    }
    explain_clause(plan, &plan.root, segment, doc)
}

/// Explains one clause with a cursor of its own: slower than sharing one, and far simpler.
fn explain_clause(
    plan: &Plan,
    node: &Node,
    segment: &Segment,
    doc: DocId,
) -> Result<Option<Explanation>, IndexError> {
    let mut cursor = Cursor::open(plan, node, segment)?;
    let matches = cursor.seek(doc) == doc;
    if let Some(error) = cursor.take_error() {
        return Err(error);
    }
    if !matches {
        return Ok(None);
    }
    let value = cursor.score();
    let explanation = match (node, cursor) {
        (Node::Term(term), Cursor::Term(mut cursor)) => {
            let (frequency, length_byte) = (cursor.frequency(), cursor.length_byte());
            explain_term(plan, term, value, frequency, length_byte)
        }
        (Node::Phrase(phrase), Cursor::Phrase(cursor)) => explain_phrase(
            plan,
            phrase,
            value,
            cursor.frequency(),
            cursor.length_byte(),
        ),
        (Node::Prefix { field, prefix }, _) => Explanation::leaf(
            value,
            format!("{}{prefix}*: a word that starts so counts 1", label(*field)),
        ),
        (Node::Filter(word), _) => Explanation::leaf(
            value,
            format!("{}{}: a filter adds nothing", label(word.field), word.term),
        ),
        (
            Node::Boolean {
                required, optional, ..
            },
            _,
        ) => {
            let mut details = Vec::new();
            for clause in required.iter().chain(optional) {
                details.extend(explain_clause(plan, clause, segment, doc)?);
            }
            Explanation {
                value,
                description: "sum of the clauses that match".to_owned(),
                details,
            }
        }
        _ => Explanation::leaf(value, "nothing"),
    };
    Ok(Some(explanation))
}

fn explain_term(
    plan: &Plan,
    term: &TermNode,
    value: f32,
    frequency: u32,
    length_byte: u8,
) -> Explanation {
    let idf = Explanation::leaf(
        term.idf,
        format!(
            "idf = {}, N = {}, df = {}",
            idf_formula(plan.ranking),
            plan.documents_count,
            term.document_frequency
        ),
    );
    let said = Explanation::leaf(term.said as f32, "said: times in the query");
    let name = format!("{}{}", label(term.word.field), term.word.term);
    let weight = explain_weight(plan.ranking, term.weight, vec![said, idf]);
    explain_leaf(
        plan,
        term.word.field,
        &name,
        value,
        weight,
        frequency,
        length_byte,
    )
}

fn explain_phrase(
    plan: &Plan,
    phrase: &PhraseNode,
    value: f32,
    frequency: u32,
    length_byte: u8,
) -> Explanation {
    let idf = Explanation::leaf(phrase.idf, "idf = sum of the words' idf");
    let said = Explanation::leaf(1.0, "said: times in the query");
    let words: Vec<&str> = phrase.words.iter().map(|word| word.term.as_str()).collect();
    let words = words.join(" ");
    let name = match phrase.slop {
        0 => format!("{}\"{words}\"", label(phrase.field)),
        slop => format!("{}\"{words}\"~{slop}", label(phrase.field)),
    };
    let weight = explain_weight(plan.ranking, phrase.weight, vec![said, idf]);
    explain_leaf(
        plan,
        phrase.field,
        &name,
        value,
        weight,
        frequency,
        length_byte,
    )
}

fn explain_weight(ranking: Ranking, weight: f32, details: Vec<Explanation>) -> Explanation {
    let formula = match ranking {
        Ranking::Bm25 { .. } => "weight = said * idf",
        Ranking::TfIdf => "weight = said * idf * idf",
    };
    Explanation {
        value: weight,
        description: formula.to_owned(),
        details,
    }
}

fn explain_leaf(
    plan: &Plan,
    field: Field,
    name: &str,
    value: f32,
    weight: Explanation,
    frequency: u32,
    length_byte: u8,
) -> Explanation {
    let length = index::length::dequantize(length_byte);
    let average = plan.average_lengths.get(field as usize).copied();
    let average = average.unwrap_or_default() as f32;
    let (formula, factor_formula) = match plan.ranking {
        Ranking::Bm25 { k1, b } => (
            "BM25 = weight - weight / (1 + frequency * factor)",
            format!(
                "factor = 1 / (k1 * (1 - b + b * length / average)), \
                 k1 = {k1}, b = {b}, length = {length}, average = {average}"
            ),
        ),
        Ranking::TfIdf => (
            "tf-idf = weight * sqrt(frequency) * factor",
            format!("factor = 1 / sqrt(length), length = {length}"),
        ),
    };
    let factor = plan.ranking.factor(length, average);
    Explanation {
        value,
        description: format!("{name}: {formula}"),
        details: vec![
            weight,
            Explanation::leaf(frequency as f32, "frequency: times in the document"),
            Explanation::leaf(factor, factor_formula),
        ],
    }
}

fn idf_formula(ranking: Ranking) -> &'static str {
    match ranking {
        Ranking::Bm25 { .. } => "ln(1 + (N - df + 0.5) / (df + 0.5))",
        Ranking::TfIdf => "1 + ln(N / (df + 1))",
    }
}

fn label(field: Field) -> &'static str {
    match field {
        Field::Text => "",
        Field::Title => "title:",
        Field::Site => "site:",
    }
}
