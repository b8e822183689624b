//! Every query that a program can make arrives as it was sent; others are refused.

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
        kinds in prop::collection::vec((0u8..6, prop::sample::select(vec![BOOST_MIN, 0.3, 7.0, BOOST_MAX]), ".{0,9}"), 0..9),
    ) {
        let mut query = parse(&text, Analyzer::English, Operator::And).query;
        for (kind, boost, name) in kinds {
            let clause = Box::new(query);
            query = match kind {
                0 => Query::Filter(clause),
                1 => Query::Boosted { boost, clause },
                2 => Query::Named { name, clause },
                3 => Query::Constant { score: boost, clause },
                4 => Query::BestOf {
                    tie_breaker: boost.min(1.0),
                    clauses: vec![Query::Nothing, *clause],
                },
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
    let constant = |score| Query::Constant {
        score,
        clause: Box::new(term()),
    };
    let best_of = |tie_breaker| Query::BestOf {
        tie_breaker,
        clauses: vec![term(), term()],
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
        constant(BOOST_MIN),
        constant(BOOST_MAX),
        best_of(0.0),
        best_of(1.0),
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
        constant(0.0),
        constant(BOOST_MAX * 2.0),
        constant(f32::NAN),
        best_of(-0.1),
        best_of(1.1),
        best_of(f32::NAN),
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

proptest! {
    /// What rules of an index say travels around a whole query, and nowhere else.
    #[test]
    fn ruled_queries_travel(
        query in testkit::ruled_queries(),
        urls in prop::collection::vec("[a-z:/.]{0,9}", 0..4),
    ) {
        let pinned = (!urls.is_empty()).then(|| Pinned {
            clause: Query::Boolean {
                required: vec![Query::Urls(urls.clone()), Query::All],
                optional: Vec::new(),
                excluded: Vec::new(),
            },
            urls,
        });
        let ruled = match query {
            Query::Ruled { by, clause } => Query::Ruled {
                by: Box::new(Ruling { pinned, ..*by }),
                clause,
            },
            clause => Query::Ruled {
                by: Box::new(Ruling { pinned, priors: Vec::new() }),
                clause: Box::new(clause),
            },
        };
        let read = arrived(&ruled);
        if let Ok(read) = &read {
            prop_assert_eq!(read, &ruled);
        } else {
            // The limits of queries hold within.
            let Query::Ruled { clause, .. } = &ruled else { unreachable!() };
            prop_assert!(clause.check().is_err(), "{:?}", read);
        }
        let within = Query::Filter(Box::new(ruled));
        prop_assert_eq!(arrived(&within), Err("the query has rules within a clause".to_owned()));
    }
}
