//! Queries from typed text: parsed, as a bag of words, or as a phrase.

use crate::query::parse::as_you_type::{Typing, typed_words};
use crate::query::parse::clauses;
use crate::query::parse::limits::{
    CLAUSES_MAX, PATTERNS_MAX, PHRASE_WORDS_MAX, QUERY_BYTES_MAX, Warnings,
};
use crate::query::parse::parser::Parser;
use crate::query::parse::rules::ReadWith;
use crate::query::parse::terms::{Operator, phrase_query, push_loose_words, word_query};
use crate::query::tree::Query;
use fields::Schema;
use index::Field;
use text::Analyzer;

/// Parsed query with its warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The query.
    pub query: Query,
    /// With [`Operator::Auto`], the query for documents with some of the words, of which `query` finds those with all telling
    /// ones. `None` where nothing can be relaxed.
    pub some_words: Option<Query>,
    /// Warnings of the parts that were ignored or changed.
    pub warnings: Vec<String>,
    /// Rules of the index that the query was read by.
    pub rules: Vec<String>,
}

impl Parsed {
    /// Returns a query that is not a text, of which nothing can be relaxed.
    pub fn of(query: Query) -> Parsed {
        Parsed {
            query,
            some_words: None,
            warnings: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// Parses a typed text for an index without fields.
pub fn parse(text: &str, analyzer: Analyzer, operator: Operator) -> Parsed {
    parse_with(text, analyzer, &Schema::default(), operator)
}

/// Parses a typed text, in which `name:` asks for the values of a field of `schema`.
pub fn parse_with(text: &str, analyzer: Analyzer, schema: &Schema, operator: Operator) -> Parsed {
    Reading::new(analyzer, schema, operator).parse(text)
}

/// Parses a text that is being typed: its last word may be a beginning, unless something follows it. The second query is that
/// for documents with typing errors, which follow the matches of the first, whatever the operator.
pub fn parse_as_you_type(
    text: &str,
    analyzer: Analyzer,
    schema: &Schema,
    operator: Operator,
) -> Parsed {
    Reading::new(analyzer, schema, operator).parse_as_you_type(text)
}

/// What texts of queries to an index are read with.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Analyzer of the index.
    pub analyzer: Analyzer,
    /// Its fields.
    pub schema: &'a Schema,
    /// Operator between words without one.
    pub operator: Operator,
    /// Its rules.
    pub with: ReadWith<'a>,
}

impl<'a> Reading<'a> {
    /// Returns the reading of texts by no rules.
    pub fn new(analyzer: Analyzer, schema: &'a Schema, operator: Operator) -> Reading<'a> {
        Reading {
            analyzer,
            schema,
            operator,
            with: ReadWith::default(),
        }
    }

    /// Parses a typed text.
    pub fn parse(self, text: &str) -> Parsed {
        parsed(text, |text, warnings| self.parser(warnings).parse(text))
    }

    /// Parses a text that is being typed, as [`parse_as_you_type`] does.
    pub fn parse_as_you_type(self, text: &str) -> Parsed {
        self.typed(text, |parser, text| parser.parse(text))
    }

    /// Makes the query of the words of `text` without any syntax, as [`words_with`] does.
    pub fn words(self, text: &str) -> Parsed {
        match self.with.rules {
            Some(_) => parsed(text, |text, warnings| {
                self.parser(warnings).words_alone(text)
            }),
            None => words_with(text, self.analyzer, self.operator),
        }
    }

    /// Makes the query of the words of `text` without any syntax, while it is typed, as [`words_as_you_type`] does.
    pub fn words_as_you_type(self, text: &str) -> Parsed {
        match self.with.rules {
            Some(_) => self.typed(text, |parser, text| parser.words_alone(text)),
            None => words_as_you_type(Field::Text, text, self.analyzer, self.operator),
        }
    }

    fn parser<'w>(self, warnings: &'w mut Warnings) -> Parser<'w>
    where
        'a: 'w,
    {
        Parser::new(self.analyzer, self.schema, self.operator, warnings).with_rules(self.with)
    }

    /// Reads a text that is being typed: as it stands, and with typing errors.
    fn typed(
        self,
        text: &str,
        parse: impl Fn(Parser<'_>, &str) -> (Query, Option<Query>),
    ) -> Parsed {
        parsed(text, |text, warnings| {
            let read = |tolerates, warnings: &mut Warnings| {
                let parser = self.parser(warnings).of_unfinished(text, tolerates);
                parse(parser, text).0
            };
            let query = read(false, warnings);
            let with_errors = read(true, &mut Warnings::default());
            let some_words = (with_errors != query).then_some(with_errors);
            (query, some_words)
        })
    }
}

fn parsed(text: &str, parse: impl FnOnce(&str, &mut Warnings) -> (Query, Option<Query>)) -> Parsed {
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
    let (query, some_words) = parse(text, &mut warnings);
    Parsed {
        query,
        some_words,
        warnings: warnings.list,
        rules: warnings.rules,
    }
}

/// Parses a filter, which adds nothing to scores. Where it only says what to leave out, it is a combination of excluded
/// clauses alone, for the caller to put beside clauses that match.
///
/// # Errors
/// What [`parse_with`] warns of, and a filter that selects nothing.
pub fn parse_filter(text: &str, analyzer: Analyzer, schema: &Schema) -> Result<Query, String> {
    let parsed = parsed(text, |text, warnings| {
        let parser = Parser::new(analyzer, schema, Operator::And, warnings);
        parser.of_filter().parse(text)
    });
    match (parsed.warnings.into_iter().next(), parsed.query) {
        (None, Query::Nothing) => Err("the filter is empty".to_owned()),
        (None, query) if query.only_excludes() => Ok(query),
        (None, query) => Ok(Query::Filter(Box::new(query))),
        // What is left out leaves further warnings behind.
        (Some(first), _) => Err(first),
    }
}

/// Makes a query of the words of `text` without any syntax, for benchmarks and topics. Repeated words add to the
/// weight; words past [`CLAUSES_MAX`] distinct ones are dropped.
pub fn bag_of_words(text: &str, analyzer: Analyzer, operator: Operator) -> Query {
    bag_of_words_in(Field::Text, text, analyzer, operator)
}

/// Does the same with the words of a field, which `analyzer` cuts.
pub fn bag_of_words_in(field: Field, text: &str, analyzer: Analyzer, operator: Operator) -> Query {
    let is_loose = operator == Operator::Or;
    all_words(words_of(field, text, analyzer, is_loose), operator)
}

/// Joins words by an operator.
fn all_words(words: Vec<Query>, operator: Operator) -> Query {
    let (required, optional) = match operator {
        Operator::Most(least) => {
            if words.len() > 1 {
                let least = least.of(words.len()) as u32;
                return Query::AtLeast {
                    least,
                    clauses: words,
                };
            }
            (words, Vec::new())
        }
        Operator::And | Operator::Auto => (words, Vec::new()),
        Operator::Or => (Vec::new(), words),
    };
    clauses::simplified(required, optional, Vec::new())
}

/// Makes the query of the words of `text` without any syntax, as [`bag_of_words`] does; with [`Operator::Auto`] also that for
/// documents with some of them.
pub fn words_with(text: &str, analyzer: Analyzer, operator: Operator) -> Parsed {
    if operator != Operator::Auto {
        return Parsed::of(bag_of_words(text, analyzer, operator));
    }
    let mut words = words_of(Field::Text, text, analyzer, false);
    let loose = words_of(Field::Text, text, analyzer, true);
    let all = match words.len() {
        0 | 1 => words.pop().unwrap_or(Query::Nothing),
        _ => Query::AllTelling(words),
    };
    Parsed {
        some_words: (loose.len() > 1).then_some(Query::AnyTelling(loose)),
        ..Parsed::of(all)
    }
}

/// Makes the query of the words of `text` without any syntax, of which the last may be a beginning. The second query of
/// [`Parsed`] is that for documents with typing errors.
pub fn words_as_you_type(
    field: Field,
    text: &str,
    analyzer: Analyzer,
    operator: Operator,
) -> Parsed {
    let query = being_typed(field, text, analyzer, operator, Typing::default());
    let tolerant = Typing {
        tolerates: true,
        ..Typing::default()
    };
    let with_errors = being_typed(field, text, analyzer, operator, tolerant);
    Parsed {
        some_words: (with_errors != query).then_some(with_errors),
        ..Parsed::of(query)
    }
}

/// Makes the query of all words of `text` without any syntax, of which the last may be a beginning, and none has errors.
pub fn words_begun(field: Field, text: &str, analyzer: Analyzer) -> Query {
    let exact = Typing {
        is_exact: true,
        ..Typing::default()
    };
    being_typed(field, text, analyzer, Operator::And, exact)
}

fn being_typed(
    field: Field,
    text: &str,
    analyzer: Analyzer,
    operator: Operator,
    typing: Typing,
) -> Query {
    let typing = Typing {
        is_unfinished: text.ends_with(char::is_alphanumeric),
        ..typing
    };
    let words = typed_words(field, analyzer, text, typing);
    let mut patterns_left = PATTERNS_MAX;
    let words = words.into_iter().take(CLAUSES_MAX);
    let mut words: Vec<Query> = words
        .map(|typed| match typed.more {
            Some(more) if patterns_left > 0 => {
                patterns_left -= 1;
                more
            }
            _ => typed.word,
        })
        .collect();
    clauses::merge_repeated(&mut words);
    all_words(words, operator)
}

/// Makes a query of the words of `text`, as [`bag_of_words`] does, of which a telling one must match.
pub fn some_of_words(text: &str, analyzer: Analyzer) -> Query {
    Query::AnyTelling(words_of(Field::Text, text, analyzer, true))
}

/// Returns the clauses of words; with `loose`, any of the words may match.
fn words_of(field: Field, text: &str, analyzer: Analyzer, loose: bool) -> Vec<Query> {
    let mut clauses = Vec::new();
    analyzer.each_query_word(text, |word| match (word_query(field, word), loose) {
        (query, true) => push_loose_words(query, &mut clauses),
        (query, false) => clauses.push(query),
    });
    clauses::merge_repeated(&mut clauses);
    clauses.truncate(CLAUSES_MAX);
    clauses
}

/// Makes one phrase of the words of `text`, at most [`PHRASE_WORDS_MAX`]; one word is that word.
pub fn phrase_of(text: &str, analyzer: Analyzer) -> Query {
    let mut terms = analyzer
        .phrase_ways(text)
        .into_iter()
        .next()
        .unwrap_or_default();
    terms.truncate(PHRASE_WORDS_MAX);
    phrase_query(Field::Text, terms, 0).unwrap_or(Query::Nothing)
}
