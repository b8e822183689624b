//! The lenient parser: anything typed becomes a query and warnings; it never fails.
//!
//! ```text
//! query   := clause { [AND | OR] clause }       a b = a AND b, or a OR b with Operator::Or
//! clause  := { + | - | NOT } [field:] ( words | words* | "phrase"[~slop] | (query) )
//! field   := title | site
//! ```
//!
//! - A word is what the analyzer says: `foo-bar` is two words, both wanted like any others.
//!   `+` and `-` mean something only at the start of a clause; `AND OR NOT` only in capitals.
//! - `OR` binds tighter than its neighbours, as in web search: `a OR b c` is `(a OR b) AND c`.
//! - With [`Operator::Or`] bare words are optional; `+word`, the sides of an `AND` and `site:`
//!   stay required.
//! - `site:` takes a whole name, filters, and adds nothing to the score.
//! - Words said again merge into one clause of that weight; prefixes said again into one.
//!
//! Limits keep evaluation bounded whatever is typed: see the constants. The parser keeps its own
//! stack of open parentheses, so no input can overflow the program's.
mod clauses;
mod parser;
mod scan;
#[cfg(test)]
mod tests;

use crate::Query;
use index::Field;
use text::Analyzer;

/// Longest query, in bytes; what follows is cut off.
pub const QUERY_BYTES_MAX: usize = 16 << 10;
/// Deepest nesting of parentheses; deeper ones are ignored.
pub const DEPTH_MAX: usize = 32;
/// Most words, phrases' words included; further ones are ignored.
pub const CLAUSES_MAX: usize = 1024;
/// Most words of a phrase; further ones are ignored.
pub const PHRASE_WORDS_MAX: usize = 64;
/// Most different prefixes, since each stands for thousands of words; further ones are ignored.
pub const PREFIXES_MAX: usize = 16;
/// Greatest slop; a greater one counts as this.
pub const SLOP_MAX: u32 = 64;
/// Most warnings given.
pub const WARNINGS_MAX: usize = 16;

/// How words stand to each other when the query does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Operator {
    /// All words are required.
    #[default]
    And,
    /// Any word will do.
    Or,
}

/// A parsed query.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What it asks for.
    pub query: Query,
    /// What was ignored or changed.
    pub warnings: Vec<String>,
}

/// Parses what a person typed.
pub fn parse(text: &str, analyzer: Analyzer, operator: Operator) -> Parsed {
    let mut warnings = Warnings::default();
    let mut text = text;
    if text.len() > QUERY_BYTES_MAX {
        let end = (0..=QUERY_BYTES_MAX)
            .rev()
            .find(|&end| text.is_char_boundary(end));
        text = &text[..end.unwrap_or(0)];
        warnings.add(format!(
            "The query is longer than {QUERY_BYTES_MAX} bytes; the rest was ignored."
        ));
    }
    let query = parser::Parser::new(analyzer, operator, &mut warnings).parse(text);
    Parsed {
        query,
        warnings: warnings.list,
    }
}

/// A query of the words of `text` alone, without any syntax: for benchmarks and topics. Words said
/// again add to the weight; past [`CLAUSES_MAX`] distinct words the rest is left out.
pub fn bag_of_words(text: &str, analyzer: Analyzer, operator: Operator) -> Query {
    let mut clauses = analyzer
        .terms(text)
        .into_iter()
        .map(|term| term_query(Field::Text, term))
        .collect();
    clauses::merge_repeated(&mut clauses);
    clauses.truncate(CLAUSES_MAX);
    let (required, optional) = match operator {
        Operator::And => (clauses, Vec::new()),
        Operator::Or => (Vec::new(), clauses),
    };
    clauses::simplified(required, optional, Vec::new())
}

/// All words of `text` as one phrase, at most [`PHRASE_WORDS_MAX`]; one word is that word.
pub fn phrase_of(text: &str, analyzer: Analyzer) -> Query {
    let mut terms = analyzer.terms(text);
    terms.truncate(PHRASE_WORDS_MAX);
    phrase_query(Field::Text, terms, 0).unwrap_or(Query::Nothing)
}

fn term_query(field: Field, term: String) -> Query {
    Query::Term {
        field,
        term,
        weight: 1,
    }
}

fn phrase_query(field: Field, mut terms: Vec<String>, slop: u32) -> Option<Query> {
    match terms.len() {
        0 => None,
        1 => terms.pop().map(|term| term_query(field, term)),
        _ => Some(Query::Phrase { field, terms, slop }),
    }
}

/// Warnings, each said once.
#[derive(Debug, Default)]
struct Warnings {
    list: Vec<String>,
}

impl Warnings {
    fn add(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if self.list.len() < WARNINGS_MAX && !self.list.contains(&warning) {
            self.list.push(warning);
        }
    }
}

/// The start of what was typed, for a warning.
fn shortened(typed: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    match typed.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &typed[..end]),
        None => typed.to_owned(),
    }
}
