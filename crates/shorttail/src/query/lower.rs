//! Lowering of typed queries: from clauses to the tree that the engine plans, with the analyzer and the fields of an index.
//!
//! Trees keep the limits of typed text, so that evaluation is bounded whatever a program makes.

use super::values::unknown;
use super::{Form, Node, Query, Words};
use crate::error::{Error, Result};
use fields::{Schema, TITLE};
use index::Field;
use search::parse::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, DEPTH_MAX, NAME_BYTES_MAX, NAMES_MAX, PATTERNS_MAX,
    PHRASE_WORDS_MAX, SLOP_MAX, URLS_MAX, bag_of_words_in, edits_of, near_query, phrase_in_ways,
    prefix_query, prefixes_of, simplified, site_query,
};
use search::{Least, Operator};
use text::{Analyzer, EDITS_MAX, Pattern};

/// Tree of a query, and the warnings of its texts.
pub(crate) struct Lowered {
    pub(crate) tree: search::Query,
    pub(crate) warnings: Vec<String>,
}

/// Lowers a query for an index; `operator` is that of the texts within it.
///
/// # Errors
/// Unknown fields, values that are none of their field, and a query over the limits.
pub(crate) fn lowered(query: &Query, index: &index::Index, operator: Operator) -> Result<Lowered> {
    let mut lowering = Lowering {
        analyzer: index.analyzer(),
        schema: index.fields(),
        operator,
        warnings: Vec::new(),
        clauses_left: CLAUSES_MAX,
        patterns_left: PATTERNS_MAX,
        names_left: NAMES_MAX,
    };
    let tree = lowering.tree(query, 0)?;
    Ok(Lowered {
        tree,
        warnings: lowering.warnings,
    })
}

struct Lowering<'i> {
    analyzer: Analyzer,
    schema: &'i Schema,
    operator: Operator,
    warnings: Vec<String>,
    clauses_left: usize,
    patterns_left: usize,
    names_left: usize,
}

impl Lowering<'_> {
    fn tree(&mut self, query: &Query, depth: usize) -> Result<search::Query> {
        if depth > DEPTH_MAX {
            return Err(over("nested deeper than", DEPTH_MAX, "levels"));
        }
        let inner = |lowering: &mut Self, clause: &Query| {
            let tree = lowering.tree(clause, depth + 1)?;
            Ok::<_, Error>(Box::new(tree))
        };
        Ok(match &query.0 {
            Node::Text(text) => self.text(text)?,
            Node::All {} => {
                take(&mut self.clauses_left, 1, CLAUSES_MAX, "clauses")?;
                search::Query::All
            }
            Node::Words(words) => self.words(words)?,
            Node::Value { field, test } => {
                take(&mut self.clauses_left, 1, CLAUSES_MAX, "clauses")?;
                search::Query::Value {
                    test: test.of(field, self.schema)?,
                    field: field.clone(),
                }
            }
            Node::Site {
                name,
                with_subdomains,
            } => {
                take(&mut self.clauses_left, 1, CLAUSES_MAX, "clauses")?;
                let site = site_query(name.trim(), *with_subdomains);
                site.ok_or_else(|| Error::query("the name of a site is empty"))?
            }
            Node::Urls(urls) => {
                take(&mut self.clauses_left, 1, CLAUSES_MAX, "clauses")?;
                if urls.len() > URLS_MAX {
                    let count = urls.len();
                    return Err(Error::query(format!(
                        "a clause has {count} URLs; {URLS_MAX} are allowed"
                    )));
                }
                search::Query::Urls(urls.clone())
            }
            Node::Boolean {
                required,
                optional,
                excluded,
            } => self.boolean([required, optional, excluded], depth)?,
            Node::AtLeast { least, clauses } => search::Query::AtLeast {
                least: *least,
                clauses: self.trees(clauses, depth)?,
            },
            Node::BestOf {
                clauses,
                tie_breaker,
            } => {
                within("a tie breaker", *tie_breaker, [0.0, 1.0])?;
                search::Query::BestOf {
                    clauses: self.trees(clauses, depth)?,
                    tie_breaker: *tie_breaker,
                }
            }
            Node::Constant { score, clause } => {
                within("a constant score", *score, [BOOST_MIN, BOOST_MAX])?;
                search::Query::Constant {
                    score: *score,
                    clause: inner(self, clause)?,
                }
            }
            Node::Filter(clause) => search::Query::Filter(inner(self, clause)?),
            Node::Boosted { boost, clause } => {
                within("a boost", *boost, [BOOST_MIN, BOOST_MAX])?;
                search::Query::Boosted {
                    boost: *boost,
                    clause: inner(self, clause)?,
                }
            }
            Node::Named { name, clause } => {
                take(&mut self.names_left, 1, NAMES_MAX, "names")?;
                if name.len() > NAME_BYTES_MAX {
                    return Err(over("has a name of more than", NAME_BYTES_MAX, "bytes"));
                }
                search::Query::Named {
                    name: name.clone(),
                    clause: inner(self, clause)?,
                }
            }
        })
    }

    fn trees(&mut self, clauses: &[Query], depth: usize) -> Result<Vec<search::Query>> {
        let trees = clauses.iter().map(|clause| self.tree(clause, depth + 1));
        trees.collect()
    }

    /// Combines clauses as typed ones are combined.
    fn boolean(
        &mut self,
        [required, optional, excluded]: [&Vec<Query>; 3],
        depth: usize,
    ) -> Result<search::Query> {
        if required.is_empty() && optional.is_empty() && !excluded.is_empty() {
            return Err(Error::query(
                "it only says what to leave out; add a clause to look for, or all documents",
            ));
        }
        let required = self.trees(required, depth)?;
        let optional = self.trees(optional, depth)?;
        let mut excluded = self.trees(excluded, depth)?;
        let mut flat = Vec::with_capacity(required.len());
        for clause in required {
            match clause {
                search::Query::Boolean {
                    required,
                    optional,
                    excluded: further,
                } if optional.is_empty() => {
                    flat.extend(required);
                    excluded.extend(further);
                }
                clause => flat.push(clause),
            }
        }
        Ok(simplified(flat, optional, excluded))
    }

    /// Parses a text within a query.
    fn text(&mut self, text: &str) -> Result<search::Query> {
        let parsed = search::parse_with(text, self.analyzer, self.schema, self.operator);
        self.warnings.extend(parsed.warnings);
        self.count(&parsed.query)?;
        Ok(parsed.query)
    }

    fn words(&mut self, words: &Words) -> Result<search::Query> {
        let (field, analyzer) = self.field_of(words.field.as_deref())?;
        let text = words.text.as_str();
        let bag = |operator| bag_of_words_in(field, text, analyzer, operator);
        let query = match words.form {
            Form::All => bag(Operator::And),
            Form::Any => bag(Operator::Or),
            Form::AtLeast(least) => bag(Operator::Most(Least::Words(least))),
            Form::Phrase { slop } => phrase(field, text, slop, analyzer)?,
            Form::Prefix => {
                let prefixes = prefixes_of(analyzer, text).into_iter();
                let patterns = prefixes
                    .map(|(prefix, word)| prefix_query(field, Pattern::Prefix(prefix), word));
                simplified(patterns.collect(), Vec::new(), Vec::new())
            }
            Form::Wildcard => {
                let pattern = analyzer.wildcard(text).ok_or_else(|| {
                    Error::query(format!("the pattern {text:?} has no letters of its own"))
                })?;
                search::Query::Pattern { field, pattern }
            }
            Form::Regex => {
                let regex = analyzer.regex(text).map_err(|error| {
                    Error::query(format!("the regular expression {text:?}: {error}"))
                })?;
                let pattern = Pattern::Regex(regex);
                search::Query::Pattern { field, pattern }
            }
            Form::Near(edits) => near(field, text, edits, analyzer)?,
        };
        self.count(&query)?;
        Ok(query)
    }

    /// Returns the field of a name, and the analyzer of its words.
    fn field_of(&self, name: Option<&str>) -> Result<(Field, Analyzer)> {
        let field = match name {
            None => Field::Text,
            Some(TITLE) => Field::Title,
            Some(name) => {
                let Some(kind) = self.schema.get(name) else {
                    return Err(unknown(name, self.schema));
                };
                let searched = self.schema.searched(name).ok_or_else(|| {
                    Error::query(format!(
                        "the words of {name:?}, a field of {kind}, are not searched; test its values"
                    ))
                })?;
                Field::of_number(searched.number)
            }
        };
        let own = match field {
            Field::Further(number) => self.schema.analyzer_of(number),
            _ => None,
        };
        Ok((field, own.unwrap_or(self.analyzer)))
    }

    /// Counts the clauses and patterns of a query against the limits.
    fn count(&mut self, query: &search::Query) -> Result<()> {
        match query {
            search::Query::Pattern { field, .. } => {
                take(&mut self.clauses_left, 1, CLAUSES_MAX, "clauses")?;
                // Subdomains are looked up and not looked for.
                match field {
                    Field::Site => Ok(()),
                    _ => take(&mut self.patterns_left, 1, PATTERNS_MAX, "patterns"),
                }
            }
            search::Query::Boolean {
                required,
                optional,
                excluded,
            } => {
                let mut all = required.iter().chain(optional).chain(excluded);
                all.try_for_each(|clause| self.count(clause))
            }
            search::Query::AnyTelling(clauses)
            | search::Query::AllTelling(clauses)
            | search::Query::AtLeast { clauses, .. }
            | search::Query::BestOf { clauses, .. } => {
                clauses.iter().try_for_each(|clause| self.count(clause))
            }
            search::Query::Constant { clause, .. }
            | search::Query::Filter(clause)
            | search::Query::Boosted { clause, .. }
            | search::Query::Named { clause, .. } => self.count(clause),
            search::Query::Nothing | search::Query::All => Ok(()),
            _ => take(&mut self.clauses_left, 1, CLAUSES_MAX, "clauses"),
        }
    }
}

fn phrase(field: Field, text: &str, slop: u32, analyzer: Analyzer) -> Result<search::Query> {
    if slop > SLOP_MAX {
        return Err(over(
            "has a phrase of more than",
            SLOP_MAX as usize,
            "moves",
        ));
    }
    let ways = analyzer.phrase_ways(text);
    if ways.iter().any(|way| way.len() > PHRASE_WORDS_MAX) {
        return Err(over("has a phrase of more than", PHRASE_WORDS_MAX, "words"));
    }
    Ok(phrase_in_ways(field, ways, slop).unwrap_or(search::Query::Nothing))
}

/// Returns the clause of a word that may differ in some letters.
fn near(field: Field, word: &str, edits: Option<u8>, analyzer: Analyzer) -> Result<search::Query> {
    let edits = edits.unwrap_or_else(|| edits_of(word));
    if edits > EDITS_MAX {
        return Err(over("allows more than", EDITS_MAX.into(), "other letters"));
    }
    let Some(term) = analyzer.terms(word).into_iter().next() else {
        return Ok(search::Query::Nothing);
    };
    let pattern = Pattern::near(&analyzer.prefixes(word).concat(), edits);
    let weight = 1;
    let exact = search::Query::Term {
        field,
        term,
        weight,
    };
    Ok(match edits {
        0 => exact,
        _ => near_query(exact, field, pattern),
    })
}

fn take(left: &mut usize, count: usize, max: usize, what: &str) -> Result<()> {
    *left = left
        .checked_sub(count)
        .ok_or_else(|| over("has more than", max, what))?;
    Ok(())
}

/// Checks that a number is within limits, which are allowed.
fn within(what: &str, number: f32, [least, most]: [f32; 2]) -> Result<()> {
    match (least..=most).contains(&number) {
        true => Ok(()),
        false => Err(Error::query(format!(
            "{what} of {number}: from {least} to {most} is allowed"
        ))),
    }
}

fn over(how: &str, max: usize, what: &str) -> Error {
    Error::query(format!("it {how} {max} {what}"))
}
