//! Unit tests of rules: what queries become.

use super::tests::shown;
use super::{Operator, QueryRules, ReadWith, Reading, URLS_MAX};
use fields::{Rules, Schema};
use text::Analyzer;

const RULES: &str = r#"{
    "stop_words": ["the", "of"],
    "synonyms": [
        "tv, telly",
        "big apple, nyc -> new york",
        "apple -> fruit",
        "of -> from",
        "e-mail, letter"
    ]
}"#;

fn read(json: &str) -> QueryRules {
    let rules = Rules::of_json(json.as_bytes()).unwrap();
    QueryRules::new(&rules, Analyzer::Plain, &Schema::default()).unwrap()
}

fn reading<'a>(rules: &'a QueryRules, schema: &'a Schema, operator: Operator) -> Reading<'a> {
    Reading {
        with: ReadWith {
            rules: Some(rules),
            is_explained: false,
        },
        ..Reading::new(Analyzer::Plain, schema, operator)
    }
}

/// Checks what a query becomes, and with [`Operator::Auto`] that for some of the words behind a `|`.
#[track_caller]
fn check_with(operator: Operator, typed: &str, expected: &str) {
    let (rules, schema) = (read(RULES), Schema::default());
    let parsed = reading(&rules, &schema, operator).parse(typed);
    let some_words = parsed.some_words.iter().map(shown);
    let all: Vec<String> = std::iter::once(shown(&parsed.query))
        .chain(some_words)
        .collect();
    assert_eq!(all.join(" | "), expected, "{typed}");
    assert!(parsed.warnings.is_empty(), "{typed}: {:?}", parsed.warnings);
}

#[track_caller]
fn check(typed: &str, expected: &str) {
    check_with(Operator::And, typed, expected);
}

#[test]
fn words_and_runs_of_words_have_synonyms() {
    check("tv", "best[tv telly^^0.8]");
    check("TV stand", "(+best[tv telly^^0.8] +stand)");
    check("telly", "best[telly tv^^0.8]");
    check("nyc", "best[nyc \"new york\"^^0.8]");
    check("new york", "(+new +york)");
    check(
        "old big apple pie",
        "(+old +best[(+big +apple) \"new york\"^^0.8] +pie)",
    );
    // The longest run holds; another place of its words has its own rule.
    check(
        "apple big/apple",
        "(+best[apple fruit^^0.8] +best[(+big +apple) \"new york\"^^0.8])",
    );
    check("letter", "best[letter \"e mail\"^^0.8]");
    check("e-mail", "best[(+e +mail) letter^^0.8]");
    check("tv^2", "best[tv^^2 telly^^1.6]");
    check("+tv", "best[tv telly^^0.8]");
    check("tv OR radio", "(best[tv telly^^0.8] radio)");
    check("(tv stand)", "(+best[tv telly^^0.8] +stand)");
}

#[test]
fn rules_are_not_about_what_is_typed_otherwise() {
    check("\"tv\"", "tv");
    check("\"big apple\"", "\"big apple\"");
    check("title:tv", "title:tv");
    check("x -tv", "(+x -tv)");
    check("x -(tv radio)", "(+x -(+tv +radio))");
    check("tv*", "tv*");
    check("t?v", "t?v");
    check("big OR apple", "(big best[apple fruit^^0.8])");
    check("big +apple", "(+big +best[apple fruit^^0.8])");
}

#[test]
fn a_group_is_one_word_for_every_operator() {
    let most = Operator::Most("50%".parse().unwrap());
    check_with(
        most,
        "big apple pie x",
        "1 of[best[(+big +apple) \"new york\"^^0.8] pie x]",
    );
    check_with(
        Operator::Or,
        "big apple pie",
        "(best[(big apple) \"new york\"^^0.8] pie)",
    );
    check_with(
        Operator::Auto,
        "big apple pie",
        "all[best[(+big +apple) \"new york\"^^0.8] pie] | any[best[any[big apple] \"new york\"^^0.8] pie]",
    );
    check_with(
        Operator::Auto,
        "big apple",
        "best[(+big +apple) \"new york\"^^0.8] | any[best[any[big apple] \"new york\"^^0.8]]",
    );
    check_with(Operator::Auto, "tv", "best[tv telly^^0.8]");
}

#[test]
fn stop_words_are_dropped_beside_others() {
    check("the tv stand", "(+best[tv telly^^0.8] +stand)");
    check("the stand", "stand");
    check("the/stand", "stand");
    check("the", "the");
    check("the THE", "the^2");
    check("+the stand", "(+the +stand)");
    check("\"the stand\"", "\"the stand\"");
    check("the -stand", "(+the -stand)");
    check("the site:\"a.test\"", "(+the +site:a.test)");
    check("the OR stand", "(the stand)");
    check("title:the stand", "(+title:the +stand)");
    // A word with synonyms is one that counts.
    check("the of", "best[of from^^0.8]");
}

#[test]
fn words_without_syntax_are_read_by_the_rules() {
    let (rules, schema) = (read(RULES), Schema::default());
    let reading = reading(&rules, &schema, Operator::And);
    let parsed = reading.words("the -tv \"stand\"");
    assert_eq!(shown(&parsed.query), "(+best[tv telly^^0.8] +stand)");
    assert_eq!(parsed.rules, ["synonym: tv -> telly", "stop word: the"]);
}

#[test]
fn words_that_are_typed_have_synonyms_as_they_stand() {
    let (rules, schema) = (read(RULES), Schema::default());
    let reading = reading(&rules, &schema, Operator::And);
    let parsed = reading.parse_as_you_type("big apple");
    assert_eq!(
        shown(&parsed.query),
        "best[(+big +best[apple apple*~1]) \"new york\"^^0.8]"
    );
    let parsed = reading.parse_as_you_type("stand tv");
    assert_eq!(shown(&parsed.query), "(+stand +best[tv tv*~0 telly^^0.8])");
    // It may become another word.
    let parsed = reading.parse_as_you_type("stand the");
    assert_eq!(shown(&parsed.query), "(+stand +best[the the*~0])");
    let parsed = reading.parse_as_you_type("stand the ");
    assert_eq!(shown(&parsed.query), "stand");
    let words = reading.words_as_you_type("stand tv");
    assert_eq!(shown(&words.query), "(+stand +best[tv tv*~0 telly^^0.8])");
}

#[test]
fn the_analyzer_of_the_index_tells_which_words_are_the_same() {
    let rules = Rules::of_json(br#"{"synonyms": ["cars, sailing boats"]}"#).unwrap();
    let schema = Schema::default();
    let rules = QueryRules::new(&rules, Analyzer::English, &Schema::default()).unwrap();
    let reading = Reading {
        analyzer: Analyzer::English,
        ..reading(&rules, &schema, Operator::And)
    };
    let parsed = reading.parse("sailed boat");
    assert_eq!(shown(&parsed.query), "best[(+sail +boat) car^^0.8]");
    let parsed = reading.parse("car");
    assert_eq!(shown(&parsed.query), "best[car \"sail boat\"^^0.8]");
}

#[test]
fn synonyms_of_a_query_are_bounded() {
    let all: Vec<String> = (0..30).map(|number| format!("w{number}")).collect();
    let rules = read(&format!("{{\"synonyms\": [\"{}\"]}}", all.join(", ")));
    let schema = Schema::default();
    let reading = reading(&rules, &schema, Operator::And);
    assert!(reading.parse("w0").warnings.is_empty());
    let parsed = reading.parse("w0 w1");
    assert!(
        parsed.warnings[0].contains("more than 32 synonyms"),
        "{parsed:?}"
    );
    assert_eq!(parsed.rules.len(), 32);
    // The limits of a tree hold, too.
    for text in ["w0 w1", &"w0 ".repeat(1100)] {
        assert_eq!(reading.parse(text).query.check(), Ok(()), "{text:.20}");
    }
}

#[test]
fn no_rules_read_nothing() {
    assert_eq!(
        QueryRules::new(&Rules::default(), Analyzer::Plain, &Schema::default()),
        None
    );
}

#[test]
fn the_documents_that_rules_name_for_a_query_are_bounded() {
    let pins = |number: usize| {
        let urls = |kind: &str| -> String {
            let urls = (0..100).map(|url| format!("\"{kind}:{number}/{url}\""));
            urls.collect::<Vec<_>>().join(",")
        };
        let (first, hidden) = (urls("first"), urls("hidden"));
        format!(r#"{{"queries": ["tv"], "first": [{first}], "hidden": [{hidden}]}}"#)
    };
    let pins: Vec<String> = (0..8).map(pins).collect();
    let ruled = read(&format!(r#"{{"pins": [{}]}}"#, pins.join(","))).ruled("TV", 0);
    assert_eq!((ruled.first.len(), ruled.hidden.len()), (500, 500));
    assert_eq!(ruled.rules.len(), URLS_MAX);
}
