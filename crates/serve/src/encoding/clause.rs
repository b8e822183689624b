//! Conversion of parsed queries to messages, and back within the limits of the parser.

use crate::encoding::values;
use fields::Searched;
use index::Field;
use search::Query;
use search::parse::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, DEPTH_MAX, NAME_BYTES_MAX, NAMES_MAX, PATTERNS_MAX,
    PHRASE_WORDS_MAX, SLOP_MAX,
};
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
    }
}

fn write(query: &Query, messages: &mut Vec<rpc::Clause>) {
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
        Query::Pattern { field, pattern } => pattern_message(*field, pattern),
        Query::Value { field, test } => Kind::Value(values::test_message(field, test)),
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
        Query::AtLeast { least, clauses } => Kind::AtLeast(rpc::AtLeast {
            least: *least,
            clauses: clauses.len() as u32,
        }),
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
        Query::AnyTelling(words) => words.iter().for_each(|word| write(word, messages)),
        Query::AtLeast { clauses, .. } => clauses.iter().for_each(|part| write(part, messages)),
        Query::Filter(clause) | Query::Boosted { clause, .. } | Query::Named { clause, .. } => {
            write(clause, messages);
        }
        Query::Nothing
        | Query::Term { .. }
        | Query::Pattern { .. }
        | Query::Value { .. }
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
            Kind::AtLeast(rpc::AtLeast { least, clauses }) => {
                let clauses = self.queries(clauses, depth)?;
                return Ok(Query::AtLeast { least, clauses });
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
mod tests {
    use super::*;
    use fields::{FieldType, Schema};
    use proptest::prelude::*;
    use search::{Least, Operator, parse, parse_with};
    use text::{Analyzer, Language, Languages};

    fn arrived(query_sent: &Query) -> Result<Query, String> {
        let sent = rpc::Query {
            clauses: messages(query_sent),
            ..rpc::Query::default()
        };
        let read = rpc::Query::decode(&*sent.encode_to_vec()).map_err(|error| error.to_string())?;
        query(read.clauses).map_err(|status| status.message().to_owned())
    }

    proptest! {
        /// Every query that can be typed arrives as it was parsed.
        #[test]
        fn parsed_queries_travel(text in r#"([a-c]{1,2}|[(+"*~2 -]|\)|"[a-c ]{1,9}"|title:|w:|site:a\.b|n:(3\.\.|<=|\.\.)[0-9]|k:[a-c]{1,2}\*?|[nkt]:[\[{](2|a|\*) TO (5|2026|c|\*)[\]}]|f:>1\.5|/[a-c]{1,2}[.][+*]?/|t:20[0-9]{2}|b:true|k:\*| |\^[0-9.]{1,3}|[A-Z'.é東京]|"[a-zA-Z-]{1,9}"){0,60}"#) {
            let standard = Analyzer::Standard(Languages::default().with(Language::French));
            let schema = [
                ("n", FieldType::Integer),
                ("k", FieldType::Keyword),
                ("f", FieldType::Float),
                ("t", FieldType::Date),
                ("b", FieldType::Bool),
                ("w", FieldType::Text),
            ];
            let mut schema: Schema = schema.into_iter().collect();
            prop_assert!(schema.search_words("w").is_some());
            for analyzer in [Analyzer::English, standard] {
                let most = Operator::Most(Least::Percent(60));
                for operator in [Operator::Or, Operator::Auto, most] {
                    let parsed = parse_with(&text, analyzer, &schema, operator);
                    for query in parsed.some_words.into_iter().chain([parsed.query]) {
                        prop_assert_eq!(arrived(&query), Ok(query));
                    }
                }
            }
        }
    }

    proptest! {
        /// So does every query that a program can make of one.
        #[test]
        fn modified_queries_travel(
            text in r#"([a-c]{1,2}|"a b"|b\*| ){1,20}"#,
            kinds in prop::collection::vec((0u8..4, prop::sample::select(vec![BOOST_MIN, 0.3, 7.0, BOOST_MAX]), ".{0,9}"), 0..9),
        ) {
            let mut query = parse(&text, Analyzer::English, Operator::And).query;
            for (kind, boost, name) in kinds {
                let clause = Box::new(query);
                query = match kind {
                    0 => Query::Filter(clause),
                    1 => Query::Boosted { boost, clause },
                    2 => Query::Named { name, clause },
                    _ => Query::Boolean {
                        required: vec![*clause, Query::Nothing],
                        optional: Vec::new(),
                        excluded: Vec::new(),
                    },
                };
            }
            prop_assert_eq!(arrived(&query), Ok(query));
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
            deep("(a-b^2 ", 60),
            words.join("-"),
            format!("\"{}\"", words.join("-")),
            "aB".repeat(5_000),
            "Ab".repeat(5_000) + " x",
            "東京".repeat(2_000),
            "東京".repeat(2_000) + " x",
            "東 ".repeat(2_000),
            format!("\"{}\"", "東京 ".repeat(1_000)),
        ] {
            let standard = Analyzer::Standard(Languages::default());
            for analyzer in [Analyzer::Plain, standard] {
                let most = Operator::Most(Least::Words(3));
                for operator in [Operator::And, Operator::Or, Operator::Auto, most] {
                    let parsed = parse(&text, analyzer, operator);
                    for query in parsed.some_words.iter().chain([&parsed.query]) {
                        assert_eq!(arrived(query).as_ref(), Ok(query), "{text}");
                    }
                }
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
        let prefix = Query::Pattern {
            field: Field::Text,
            pattern: Pattern::Prefix("a".into()),
        };
        let boosted = |boost| Query::Boosted {
            boost,
            clause: Box::new(term()),
        };
        let named = |bytes| Query::Named {
            name: "n".repeat(bytes),
            clause: Box::new(term()),
        };
        let mut filtered = term();
        for _ in 0..=NESTED_MAX {
            filtered = Query::Filter(Box::new(filtered));
        }
        for allowed in [
            boosted(BOOST_MIN),
            boosted(BOOST_MAX),
            named(NAME_BYTES_MAX),
        ] {
            assert_eq!(arrived(&allowed).as_ref(), Ok(&allowed));
        }
        let of_field = |number| Query::Term {
            field: Field::Further(number),
            term: "a".into(),
            weight: 1,
        };
        assert_eq!(arrived(&of_field(252)), Ok(of_field(252)));
        for refused in [
            of_field(253),
            filtered,
            boosted(0.0),
            boosted(-1.0),
            boosted(BOOST_MAX * 2.0),
            boosted(BOOST_MIN / 2.0),
            boosted(f32::NAN),
            boosted(f32::INFINITY),
            named(NAME_BYTES_MAX + 1),
            any_of(vec![named(1); NAMES_MAX + 1]),
            deep,
            any_of(vec![term(); CLAUSES_MAX + 1]),
            any_of(vec![prefix; PATTERNS_MAX + 1]),
            phrase(PHRASE_WORDS_MAX + 1, 0),
            phrase(1, 0),
            phrase(2, SLOP_MAX + 1),
        ] {
            assert!(arrived(&refused).is_err());
        }
        assert!(query(vec![rpc::Clause { kind: None }]).is_err());
        // Parts are missing, or a clause names more parts than the query has.
        let mut cut = messages(&any_of(vec![term(), term()]));
        assert!(query([cut.clone(), messages(&term())].concat()).is_err());
        cut.pop();
        assert!(query(cut).is_err());
        let mut cut = messages(&boosted(2.0));
        cut.pop();
        assert!(query(cut).is_err());
    }
}
