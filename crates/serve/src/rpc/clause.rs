//! Parsed queries as messages, and back within the limits of the parser.

use index::Field;
use search::Query;
use search::parse::{CLAUSES_MAX, DEPTH_MAX, PHRASE_WORDS_MAX, PREFIXES_MAX, SLOP_MAX};
use tonic::Status;
use wire::rpc;
use wire::rpc::clause::Kind;

/// Nested combinations in a parsed query: a level of parentheses can be two.
const NESTED_MAX: usize = 2 * DEPTH_MAX;

/// The message of a query.
pub(super) fn message(query: &Query) -> rpc::Clause {
    let kind = match query {
        Query::Nothing => Kind::Nothing(rpc::Nothing {}),
        Query::Term {
            field,
            term,
            weight,
        } => Kind::Term(rpc::Term {
            field: field_message(*field),
            term: term.clone(),
            weight: *weight,
        }),
        Query::Prefix { field, prefix } => Kind::Prefix(rpc::Prefix {
            field: field_message(*field),
            prefix: prefix.clone(),
        }),
        Query::Phrase { field, terms, slop } => Kind::Phrase(rpc::Phrase {
            field: field_message(*field),
            terms: terms.clone(),
            slop: *slop,
        }),
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let messages = |clauses: &[Query]| clauses.iter().map(message).collect();
            Kind::Boolean(rpc::Boolean {
                required: messages(required),
                optional: messages(optional),
                excluded: messages(excluded),
            })
        }
    };
    rpc::Clause { kind: Some(kind) }
}

/// The query of a message; refused where no parser makes one of its size, or a clause is of an unknown kind.
pub(super) fn query(message: rpc::Clause) -> Result<Query, Status> {
    let mut room = Room {
        clauses: CLAUSES_MAX,
        prefixes: PREFIXES_MAX,
    };
    room.query(message, 0).map_err(Status::invalid_argument)
}

/// What a query may still have.
struct Room {
    clauses: usize,
    prefixes: usize,
}

impl Room {
    fn query(&mut self, message: rpc::Clause, depth: usize) -> Result<Query, &'static str> {
        let query = match message
            .kind
            .ok_or("the query has a clause of unknown kind")?
        {
            Kind::Nothing(_) => Query::Nothing,
            Kind::Term(term) => Query::Term {
                field: field(term.field)?,
                term: term.term,
                weight: term.weight.max(1),
            },
            Kind::Prefix(prefix) => {
                self.prefixes = taken(self.prefixes, "the query has too many prefixes")?;
                Query::Prefix {
                    field: field(prefix.field)?,
                    prefix: prefix.prefix,
                }
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
                if depth >= NESTED_MAX {
                    return Err("the query is nested too deep");
                }
                return Ok(Query::Boolean {
                    required: self.queries(boolean.required, depth)?,
                    optional: self.queries(boolean.optional, depth)?,
                    excluded: self.queries(boolean.excluded, depth)?,
                });
            }
        };
        self.clauses = taken(self.clauses, "the query has too many clauses")?;
        Ok(query)
    }

    fn queries(
        &mut self,
        messages: Vec<rpc::Clause>,
        depth: usize,
    ) -> Result<Vec<Query>, &'static str> {
        let messages = messages.into_iter();
        messages
            .map(|message| self.query(message, depth + 1))
            .collect()
    }
}

fn taken(room: usize, refusal: &'static str) -> Result<usize, &'static str> {
    room.checked_sub(1).ok_or(refusal)
}

fn field_message(field: Field) -> i32 {
    let field = match field {
        Field::Text => rpc::Field::Text,
        Field::Title => rpc::Field::Title,
        Field::Site => rpc::Field::Site,
    };
    field.into()
}

fn field(message: i32) -> Result<Field, &'static str> {
    match rpc::Field::try_from(message) {
        Ok(rpc::Field::Text) => Ok(Field::Text),
        Ok(rpc::Field::Title) => Ok(Field::Title),
        Ok(rpc::Field::Site) => Ok(Field::Site),
        Err(_) => Err("the query asks for an unknown field"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use search::{Operator, parse};
    use text::Analyzer;
    use wire::rpc::Message;

    fn arrived(query_sent: &Query) -> Result<Query, String> {
        let bytes = message(query_sent).encode_to_vec();
        let read = rpc::Clause::decode(&*bytes).map_err(|error| error.to_string())?;
        query(read).map_err(|status| status.message().to_owned())
    }

    proptest! {
        /// Every query that a person can type arrives as it was parsed.
        #[test]
        fn parsed_queries_travel(text in r#"([a-c]{1,2}|[(+"*~2 -]|\)|"[a-c ]{1,9}"|title:|site:a\.b| ){0,60}"#, any in any::<bool>()) {
            let operator = if any { Operator::Or } else { Operator::And };
            let parsed = parse(&text, Analyzer::English, operator).query;
            prop_assert_eq!(arrived(&parsed), Ok(parsed));
        }
    }

    #[test]
    fn the_largest_queries_travel() {
        let deep =
            |open: &str, times: usize| format!("{}a b{}", open.repeat(times), " c)".repeat(times));
        let words: Vec<String> = (0..2_000).map(|word| format!("w{word}")).collect();
        let prefixes: Vec<String> = (0..100).map(|word| format!("w{word}*")).collect();
        for text in [
            deep("(", 100),
            deep("(+x ", 100),
            deep("-(x ", 100),
            deep("x OR (y ", 60),
            words.join(" "),
            format!("\"{}\"", words.join(" ")),
            prefixes.join(" OR "),
        ] {
            for operator in [Operator::And, Operator::Or] {
                let parsed = parse(&text, Analyzer::Plain, operator).query;
                assert_eq!(arrived(&parsed).as_ref(), Ok(&parsed), "{text}");
            }
        }
    }

    #[test]
    fn what_no_parser_makes_is_refused() {
        let term = || Query::Term {
            field: Field::Text,
            term: "a".into(),
            weight: 1,
        };
        let any_of = |clauses: Vec<Query>| Query::Boolean {
            required: Vec::new(),
            optional: clauses,
            excluded: Vec::new(),
        };
        let mut deep = term();
        for _ in 0..=NESTED_MAX {
            deep = any_of(vec![deep]);
        }
        let phrase = |count: usize, slop| Query::Phrase {
            field: Field::Text,
            terms: vec!["a".into(); count],
            slop,
        };
        let prefix = Query::Prefix {
            field: Field::Text,
            prefix: "a".into(),
        };
        for refused in [
            deep,
            any_of(vec![term(); CLAUSES_MAX + 1]),
            any_of(vec![prefix; PREFIXES_MAX + 1]),
            phrase(PHRASE_WORDS_MAX + 1, 0),
            phrase(1, 0),
            phrase(2, SLOP_MAX + 1),
        ] {
            assert!(arrived(&refused).is_err());
        }
        assert!(query(rpc::Clause { kind: None }).is_err());
    }
}
