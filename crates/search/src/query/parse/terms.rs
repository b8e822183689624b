//! Queries of one clause, and the operator between bare words.

use crate::query::tree::Query;
use index::Field;
use serde::{Deserialize, Serialize};
use text::{Pattern, QueryWord, Way, Ways};

/// The operator between words where the query has none. Serialized as text: `"all"`, `"any"`, `"auto"`, or the number or share
/// of the words, `"3"`, `"75%"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Operator {
    /// All words are required.
    And,
    /// Any word will do.
    Or,
    /// Documents with all words first, then those with some of them.
    #[default]
    Auto,
    /// A number or a share of the words is required.
    Most(Least),
}

/// Minimum number or share of the words that a document must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Least {
    /// A number of words, from 1; all of them where there are fewer.
    Words(u16),
    /// Percent of the words, 1 to 100, rounded down, but at least one word.
    Percent(u8),
}

impl Least {
    /// Returns the least number of words of a query of `count`.
    pub(super) fn of(self, count: usize) -> usize {
        let least = match self {
            Least::Words(words) => usize::from(words),
            Least::Percent(percent) => count * usize::from(percent) / 100,
        };
        least.clamp(1, count.max(1))
    }
}

impl std::str::FromStr for Least {
    type Err = UnknownLeast;

    /// Reads `3` or `75%`.
    fn from_str(text: &str) -> Result<Least, UnknownLeast> {
        let least = match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().map(Least::Percent),
            None => text.parse().ok().map(Least::Words),
        };
        least
            .filter(|least| !matches!(least, Least::Words(0) | Least::Percent(0 | 101..)))
            .ok_or(UnknownLeast)
    }
}

impl std::fmt::Display for Least {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Least::Words(words) => write!(f, "{words}"),
            Least::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// Error of a text that is no part of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownLeast;

impl std::fmt::Display for UnknownLeast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "give a number of words from 1, as 3, or a share of them from 1% to 100%, as 75%",
        )
    }
}

impl std::error::Error for UnknownLeast {}

impl Operator {
    /// Operators with the names that parameters use; [`Operator::Most`] has a parameter of its own.
    pub const NAMED: [(&'static str, Operator); 3] = [
        ("auto", Operator::Auto),
        ("all", Operator::And),
        ("any", Operator::Or),
    ];

    /// Returns the name that parameters use.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Auto => "auto",
            Operator::And => "all",
            Operator::Or => "any",
            Operator::Most(_) => "most",
        }
    }

    /// Returns the operator of a name; `None` for another one.
    pub fn named(name: &str) -> Option<Operator> {
        let named = Operator::NAMED.iter().find(|(known, _)| *known == name);
        named.map(|&(_, operator)| operator)
    }
}

impl From<Operator> for String {
    fn from(operator: Operator) -> String {
        match operator {
            Operator::Most(least) => least.to_string(),
            named => named.name().to_owned(),
        }
    }
}

impl TryFrom<String> for Operator {
    type Error = String;

    fn try_from(text: String) -> Result<Operator, String> {
        let named = Operator::named(&text);
        let operator = named.or_else(|| Some(Operator::Most(text.parse().ok()?)));
        operator.ok_or_else(|| {
            format!(
                "{text:?} is no way to match words; choose all, any or auto, a number of words, as 3, or a share of them, as 75%"
            )
        })
    }
}

/// Makes a query that any of some clauses will do for.
fn any_of(clauses: Vec<Query>) -> Query {
    Query::Boolean {
        required: Vec::new(),
        optional: clauses,
        excluded: Vec::new(),
    }
}

pub(crate) fn term_query(field: Field, term: String) -> Query {
    Query::Term {
        field,
        term,
        weight: 1,
    }
}

pub(crate) fn phrase_query(field: Field, mut terms: Way, slop: u32) -> Option<Query> {
    match terms.len() {
        0 => None,
        1 => terms.pop().map(|term| term_query(field, term)),
        _ => Some(Query::Phrase {
            field,
            terms: terms.into_vec(),
            slop,
        }),
    }
}

/// Makes a phrase that may stand in any of several ways; `None` without a word.
pub fn phrase_in_ways(field: Field, mut ways: Ways, slop: u32) -> Option<Query> {
    if ways.len() <= 1 {
        return ways.pop().and_then(|way| phrase_query(field, way, slop));
    }
    let mut queries: Vec<Query> = Vec::with_capacity(ways.len());
    for way in ways {
        let query = phrase_query(field, way, slop);
        queries.extend(query.filter(|query| !queries.contains(query)));
    }
    match queries.len() {
        0 | 1 => queries.pop(),
        _ => Some(any_of(queries)),
    }
}

/// Makes the clause of a word: a term, or any of its forms.
pub fn word_query(field: Field, mut word: QueryWord) -> Query {
    if word.is_prefix
        && let Some(prefix) = word.forms.pop().and_then(|mut form| form.pop())
    {
        let pattern = Pattern::Prefix(prefix);
        return Query::Pattern { field, pattern };
    }
    phrase_in_ways(field, word.forms, 0).unwrap_or(Query::Nothing)
}

/// Returns the clause of a word, and of those that differ from it in a few letters.
pub fn near_query(exact: Query, field: Field, pattern: Pattern) -> Query {
    Query::BestOf {
        clauses: vec![exact, Query::Pattern { field, pattern }],
        tie_breaker: 0.0,
    }
}

/// Returns whether clauses are those of [`near_query`].
fn is_near_query(clauses: &[Query]) -> bool {
    matches!(
        clauses,
        [exact, Query::Pattern { .. }] if !matches!(exact, Query::Pattern { .. })
    )
}

/// Returns the number of words of a clause, in all its forms. Of forms in several words the longest is counted by its words,
/// the others have the same ones and count once.
pub(super) fn words_count(query: &Query) -> usize {
    match query {
        Query::Phrase { terms, .. } => terms.len(),
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let phrases = optional
                .iter()
                .filter(|form| matches!(form, Query::Phrase { .. }));
            let longest = phrases.map(words_count).max().unwrap_or(0);
            let count = |form: &Query| match words_count(form) {
                count if count < longest => count.min(1),
                count => count,
            };
            let others = required.iter().chain(excluded).map(words_count);
            others.chain(optional.iter().map(count)).sum()
        }
        Query::Boosted { clause, .. } => words_count(clause),
        _ => 1,
    }
}

/// Adds the words that a word typed without quotes is made of, for a query of which any word will do: the forms of a
/// compound and its parts, the pairs of letters of a text without blanks. So `three-dimensional` finds what is
/// `dimensional` too, and a sentence in Chinese what holds some of it.
pub(crate) fn push_loose_words(query: Query, words: &mut Vec<Query>) {
    match query {
        Query::Boolean {
            required,
            optional,
            excluded,
        } if required.is_empty() && excluded.is_empty() => {
            // Of the forms in several words that with all parts apart is enough: the others have the same parts.
            let length_of = |form: &Query| match form {
                Query::Phrase { terms, .. } => terms.len(),
                _ => 0,
            };
            let most = optional.iter().map(length_of).max().unwrap_or(0);
            for form in optional {
                if [0, most].contains(&length_of(&form)) {
                    push_loose_words(form, words);
                }
            }
        }
        Query::Phrase {
            field,
            terms,
            slop: 0,
        } => words.extend(terms.into_iter().map(|term| term_query(field, term))),
        Query::Boosted { boost, clause } => {
            let mut loose = Vec::new();
            push_loose_words(*clause, &mut loose);
            let boosted = |clause| Query::Boosted {
                boost,
                clause: Box::new(clause),
            };
            words.extend(loose.into_iter().map(boosted));
        }
        Query::BestOf {
            clauses,
            tie_breaker,
        } if is_near_query(&clauses) => {
            let mut parts = Vec::new();
            push_loose_words(clauses[0].clone(), &mut parts);
            // A word of one part is in the clause.
            words.extend(parts.into_iter().filter(|part| *part != clauses[0]));
            words.push(Query::BestOf {
                clauses,
                tie_breaker,
            });
        }
        other => words.push(loosened(&other, any_of).unwrap_or(other)),
    }
}

/// Returns a group of words with synonyms of whose typed words, in their parts, `join` makes one clause. `None` for other
/// clauses.
pub(super) fn loosened(query: &Query, join: fn(Vec<Query>) -> Query) -> Option<Query> {
    let Query::BestOf {
        clauses,
        tie_breaker,
    } = query
    else {
        return None;
    };
    let (Some(typed), Some(Query::Boosted { .. } | Query::Named { .. })) =
        (clauses.first(), clauses.last())
    else {
        return None;
    };
    let mut words = Vec::new();
    match typed {
        Query::Boolean { required, .. } if !required.is_empty() => required
            .iter()
            .for_each(|word| push_loose_words(word.clone(), &mut words)),
        word => push_loose_words(word.clone(), &mut words),
    }
    let typed = match words.len() {
        1 => words.pop()?,
        _ => join(words),
    };
    Some(Query::BestOf {
        clauses: std::iter::once(typed)
            .chain(clauses[1..].iter().cloned())
            .collect(),
        tie_breaker: *tie_breaker,
    })
}

/// Returns the number of typed words of a group of words with synonyms; 1 for another clause.
pub(super) fn typed_words_count(query: &Query) -> usize {
    match query {
        Query::BestOf { clauses, .. } => match clauses.first() {
            Some(Query::Boolean { required, .. }) if !required.is_empty() => required.len(),
            _ => 1,
        },
        _ => 1,
    }
}
