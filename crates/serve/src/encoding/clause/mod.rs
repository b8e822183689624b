//! Conversion of parsed queries to messages, and back within the limits of the parser.

mod ruling;

use crate::encoding::values;
use fields::Searched;
use index::Field;
use search::parse::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, DEPTH_MAX, NAME_BYTES_MAX, NAMES_MAX, PATTERNS_MAX,
    PHRASE_WORDS_MAX, SLOP_MAX, URLS_MAX,
};
use search::{Pinned, Query, Ruling};
use text::Pattern;
use tonic::Status;
use wire::rpc;
use wire::rpc::Message;
use wire::rpc::clause::Kind;

/// Upper limit on nested combinations in a parsed query: one level of parentheses can make three and a weight, and a
/// word within it two more.
const NESTED_MAX: usize = 5 * DEPTH_MAX;

/// Returns the messages of a query; each clause comes before its parts.
pub(crate) fn messages(query: &Query) -> Vec<rpc::Clause> {
    let mut messages = Vec::new();
    write(query, &mut messages);
    messages
}

/// Returns the bytes of a query. Two queries have the same bytes only if they are equal.
pub(crate) fn query_bytes(query: &Query) -> Vec<u8> {
    let clauses = messages(query);
    rpc::Query {
        clauses,
        ..rpc::Query::default()
    }
    .encode_to_vec()
}

fn pattern_message(of: Field, pattern: &Pattern) -> Kind {
    let field = field_message(of);
    match pattern.clone() {
        Pattern::Prefix(prefix) => Kind::Prefix(rpc::Prefix { field, prefix }),
        Pattern::Wildcard(signs) => Kind::Wildcard(rpc::Wildcard { field, signs }),
        Pattern::Regex(regex) => Kind::Regex(rpc::Regex {
            field,
            text: regex.as_str().to_owned(),
        }),
        Pattern::Near { term, edits, fixed } => Kind::Near(rpc::Near {
            field,
            term,
            edits: edits.into(),
            fixed: fixed.into(),
        }),
        Pattern::NearStart { start, edits } => Kind::NearStart(rpc::NearStart {
            field,
            start,
            edits: edits.into(),
        }),
    }
}

fn write(query: &Query, messages: &mut Vec<rpc::Clause>) {
    let kind = match query {
        Query::Nothing => Kind::Nothing(rpc::Nothing {}),
        Query::All => Kind::All(rpc::Nothing {}),
        Query::Term {
            field,
            term,
            weight,
        } => Kind::Term(rpc::Term {
            field: field_message(*field),
            term: term.clone(),
            weight: *weight,
        }),
        Query::Pattern { field, pattern } => pattern_message(*field, pattern),
        Query::TitleStart { start, edits } => Kind::TitleStart(rpc::TitleStart {
            start: start.clone(),
            edits: (*edits).into(),
        }),
        Query::Value { field, test } => Kind::Value(values::test_message(field, test)),
        Query::Urls(urls) => Kind::Urls(rpc::Urls { urls: urls.clone() }),
        Query::Ruled { by, .. } => Kind::Ruled(ruling::message(by)),
        Query::Phrase { field, terms, slop } => Kind::Phrase(rpc::Phrase {
            field: field_message(*field),
            terms: terms.clone(),
            slop: *slop,
        }),
        Query::Boolean {
            required,
            optional,
            excluded,
        } => Kind::Boolean(rpc::Boolean {
            required: required.len() as u32,
            optional: optional.len() as u32,
            excluded: excluded.len() as u32,
        }),
        Query::AnyTelling(words) => Kind::AnyTelling(rpc::AnyTelling {
            words: words.len() as u32,
        }),
        Query::AllTelling(words) => Kind::AllTelling(rpc::AllTelling {
            words: words.len() as u32,
        }),
        Query::AtLeast { least, clauses } => Kind::AtLeast(rpc::AtLeast {
            least: *least,
            clauses: clauses.len() as u32,
        }),
        Query::BestOf {
            clauses,
            tie_breaker,
        } => Kind::BestOf(rpc::BestOf {
            clauses: clauses.len() as u32,
            tie_breaker: *tie_breaker,
        }),
        Query::Constant { score, .. } => Kind::Constant(rpc::Constant { score: *score }),
        Query::Filter(_) => Kind::Filter(rpc::Filter {}),
        Query::Boosted { boost, .. } => Kind::Boosted(rpc::Boosted { boost: *boost }),
        Query::Named { name, .. } => Kind::Named(rpc::Named { name: name.clone() }),
    };
    messages.push(rpc::Clause { kind: Some(kind) });
    match query {
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let parts = required.iter().chain(optional).chain(excluded);
            parts.for_each(|part| write(part, messages));
        }
        Query::AnyTelling(words) | Query::AllTelling(words) => {
            words.iter().for_each(|word| write(word, messages))
        }
        Query::AtLeast { clauses, .. } | Query::BestOf { clauses, .. } => {
            clauses.iter().for_each(|part| write(part, messages));
        }
        Query::Constant { clause, .. }
        | Query::Filter(clause)
        | Query::Boosted { clause, .. }
        | Query::Named { clause, .. } => write(clause, messages),
        Query::Ruled { by, clause } => {
            if let Some(pinned) = &by.pinned {
                write(&pinned.clause, messages);
            }
            write(clause, messages);
        }
        Query::Nothing
        | Query::All
        | Query::Term { .. }
        | Query::Pattern { .. }
        | Query::TitleStart { .. }
        | Query::Value { .. }
        | Query::Urls(_)
        | Query::Phrase { .. } => {}
    }
}

/// Returns the query of messages; fails if it exceeds the limits of the parser or has a clause of
/// unknown kind.
pub(crate) fn query(messages: Vec<rpc::Clause>) -> Result<Query, Status> {
    let mut reader = Reader {
        messages: messages.into_iter(),
        clauses_left: CLAUSES_MAX,
        patterns_left: PATTERNS_MAX,
        names_left: NAMES_MAX,
    };
    let query = reader.query(0).map_err(Status::invalid_argument)?;
    match reader.messages.next() {
        None => Ok(query),
        Some(_) => Err(Status::invalid_argument("the query has clauses beside it")),
    }
}

/// Clauses still to be read, and the remaining limits of the query.
struct Reader {
    messages: std::vec::IntoIter<rpc::Clause>,
    clauses_left: usize,
    patterns_left: usize,
    names_left: usize,
}

impl Reader {
    /// Reads a pattern of terms.
    fn pattern(&mut self, of: i32, pattern: Pattern) -> Result<Query, &'static str> {
        if !pattern.is_valid() {
            return Err("the query has a pattern beyond the limits");
        }
        let field = field(of)?;
        // The parser does not count subdomains either: they are looked up and not looked for.
        if field != Field::Site {
            self.patterns_left = taken(self.patterns_left, "the query has too many patterns")?;
        }
        Ok(Query::Pattern { field, pattern })
    }

    fn query(&mut self, depth: usize) -> Result<Query, &'static str> {
        if depth > NESTED_MAX {
            return Err("the query is nested too deep");
        }
        let message = self
            .messages
            .next()
            .ok_or("the query ends within a clause")?;
        let query = match message
            .kind
            .ok_or("the query has a clause of unknown kind")?
        {
            Kind::Nothing(_) => Query::Nothing,
            Kind::All(_) => Query::All,
            Kind::Term(term) => Query::Term {
                field: field(term.field)?,
                term: term.term,
                weight: term.weight.max(1),
            },
            Kind::Prefix(prefix) => self.pattern(prefix.field, Pattern::Prefix(prefix.prefix))?,
            Kind::Wildcard(wildcard) => {
                self.pattern(wildcard.field, Pattern::Wildcard(wildcard.signs))?
            }
            Kind::Near(near) => {
                let edits = u8::try_from(near.edits).unwrap_or(u8::MAX);
                let term = near.term;
                let fixed = u8::try_from(near.fixed).unwrap_or(u8::MAX);
                self.pattern(near.field, Pattern::Near { term, edits, fixed })?
            }
            Kind::NearStart(near) => {
                let edits = u8::try_from(near.edits).unwrap_or(u8::MAX);
                let start = near.start;
                self.pattern(near.field, Pattern::NearStart { start, edits })?
            }
            Kind::TitleStart(rpc::TitleStart { start, edits }) => {
                let edits = u8::try_from(edits).unwrap_or(u8::MAX);
                let query = Query::TitleStart { start, edits };
                query
                    .check()
                    .map_err(|_| "the query has a beginning of titles beyond the limits")?;
                query
            }
            Kind::Regex(regex) => {
                let compiled = text::Regex::new(&regex.text)
                    .map_err(|_| "the query has a regular expression beyond the limits")?;
                self.pattern(regex.field, Pattern::Regex(compiled))?
            }
            Kind::Value(value) => {
                let field = value.field.clone();
                let test = values::test(value).ok_or("the query has a test that cannot be read")?;
                Query::Value { field, test }
            }
            // Rules add it to queries of any size.
            Kind::Urls(rpc::Urls { urls }) => {
                if urls.len() > URLS_MAX {
                    return Err("the query has more than 1,000 URLs in one clause");
                }
                return Ok(Query::Urls(urls));
            }
            Kind::Ruled(ruled) => {
                if depth > 0 {
                    return Err("the query has rules within a clause");
                }
                let (priors, urls) = ruling::read(ruled)?;
                let pinned = match urls.is_empty() {
                    true => None,
                    false => Some(Pinned {
                        clause: self.query(1)?,
                        urls,
                    }),
                };
                return Ok(Query::Ruled {
                    by: Box::new(Ruling { priors, pinned }),
                    clause: Box::new(self.query(1)?),
                });
            }
            Kind::Phrase(phrase) => {
                let count = phrase.terms.len();
                if !(2..=PHRASE_WORDS_MAX).contains(&count) || phrase.slop > SLOP_MAX {
                    return Err("the query has a phrase beyond the limits");
                }
                Query::Phrase {
                    field: field(phrase.field)?,
                    terms: phrase.terms,
                    slop: phrase.slop,
                }
            }
            Kind::Boolean(boolean) => {
                return Ok(Query::Boolean {
                    required: self.queries(boolean.required, depth)?,
                    optional: self.queries(boolean.optional, depth)?,
                    excluded: self.queries(boolean.excluded, depth)?,
                });
            }
            Kind::AnyTelling(rpc::AnyTelling { words }) => {
                return Ok(Query::AnyTelling(self.queries(words, depth)?));
            }
            Kind::AllTelling(rpc::AllTelling { words }) => {
                return Ok(Query::AllTelling(self.queries(words, depth)?));
            }
            Kind::AtLeast(rpc::AtLeast { least, clauses }) => {
                let clauses = self.queries(clauses, depth)?;
                return Ok(Query::AtLeast { least, clauses });
            }
            Kind::BestOf(rpc::BestOf {
                clauses,
                tie_breaker,
            }) => {
                if !(0.0..=1.0).contains(&tie_breaker) {
                    return Err("the query has a tie breaker beyond the limits");
                }
                let clauses = self.queries(clauses, depth)?;
                return Ok(Query::BestOf {
                    clauses,
                    tie_breaker,
                });
            }
            Kind::Constant(rpc::Constant { score }) => {
                if !(BOOST_MIN..=BOOST_MAX).contains(&score) {
                    return Err("the query has a constant score beyond the limits");
                }
                let clause = Box::new(self.query(depth + 1)?);
                return Ok(Query::Constant { score, clause });
            }
            Kind::Filter(_) => return Ok(Query::Filter(Box::new(self.query(depth + 1)?))),
            Kind::Boosted(rpc::Boosted { boost }) => {
                if !(BOOST_MIN..=BOOST_MAX).contains(&boost) {
                    return Err("the query has a boost beyond the limits");
                }
                let clause = Box::new(self.query(depth + 1)?);
                return Ok(Query::Boosted { boost, clause });
            }
            Kind::Named(rpc::Named { name }) => {
                self.names_left = taken(self.names_left, "the query has too many names")?;
                if name.len() > NAME_BYTES_MAX {
                    return Err("the query has a name that is too long");
                }
                let clause = Box::new(self.query(depth + 1)?);
                return Ok(Query::Named { name, clause });
            }
        };
        self.clauses_left = taken(self.clauses_left, "the query has too many clauses")?;
        Ok(query)
    }

    fn queries(&mut self, count: u32, depth: usize) -> Result<Vec<Query>, &'static str> {
        (0..count).map(|_| self.query(depth + 1)).collect()
    }
}

fn taken(room: usize, refusal: &'static str) -> Result<usize, &'static str> {
    room.checked_sub(1).ok_or(refusal)
}

fn field_message(field: Field) -> i32 {
    match field {
        Field::Text => rpc::Field::Text.into(),
        Field::Title => rpc::Field::Title.into(),
        Field::Site => rpc::Field::Site.into(),
        Field::Further(number) => number.into(),
    }
}

fn field(message: i32) -> Result<Field, &'static str> {
    if let Ok(known) = rpc::Field::try_from(message) {
        return Ok(match known {
            rpc::Field::Text => Field::Text,
            rpc::Field::Title => Field::Title,
            rpc::Field::Site => Field::Site,
        });
    }
    match u8::try_from(message) {
        Ok(number) if Searched::new(number).is_sound() => Ok(Field::of_number(number)),
        _ => Err("the query asks for an unknown field"),
    }
}

#[cfg(test)]
mod tests;
