//! Unit tests of the parser: ordinary, odd and hostile queries.
use super::*;
use crate::query::tree::Query;
use fields::Schema;
use index::Field;
use text::Analyzer;

/// Returns a short form that shows structure: `+a` required, `a` optional, `-a` excluded.
pub(super) fn shown(query: &Query) -> String {
    let label = |field: &Field| match field {
        Field::Text => "",
        Field::Title => "title:",
        Field::Site => "site:",
        Field::Further(_) => "further:",
    };
    match query {
        Query::Nothing => "nothing".to_owned(),
        Query::All => "all".to_owned(),
        Query::Term {
            field,
            term,
            weight: 1,
        } => format!("{}{term}", label(field)),
        Query::Term {
            field,
            term,
            weight,
        } => format!("{}{term}^{weight}", label(field)),
        Query::Pattern { field, pattern } => format!("{}{pattern}", label(field)),
        Query::TitleStart { start, .. } => format!("begins:{start}"),
        Query::Urls(urls) => format!("urls:{}", urls.join(",")),
        Query::Ruled { clause, .. } => format!("ruled {}", shown(clause)),
        Query::Value { field, test } => format!("{field}:{test}"),
        Query::Phrase {
            field,
            terms,
            slop: 0,
        } => format!("{}\"{}\"", label(field), terms.join(" ")),
        Query::Phrase { field, terms, slop } => {
            format!("{}\"{}\"~{slop}", label(field), terms.join(" "))
        }
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let part = |sign: &'static str, list: &[Query]| -> Vec<String> {
                list.iter().map(|q| format!("{sign}{}", shown(q))).collect()
            };
            let mut all = part("+", required);
            all.extend(part("", optional));
            all.extend(part("-", excluded));
            format!("({})", all.join(" "))
        }
        Query::AnyTelling(words) | Query::AllTelling(words) => {
            let least = match query {
                Query::AnyTelling(_) => "any",
                _ => "all",
            };
            let words: Vec<_> = words.iter().map(shown).collect();
            format!("{least}[{}]", words.join(" "))
        }
        Query::AtLeast { least, clauses } => {
            let clauses: Vec<_> = clauses.iter().map(shown).collect();
            format!("{least} of[{}]", clauses.join(" "))
        }
        Query::Boosted { boost, clause } => format!("{}^^{boost}", shown(clause)),
        Query::Filter(clause) => format!("={}", shown(clause)),
        Query::BestOf { clauses, .. } => {
            let clauses: Vec<_> = clauses.iter().map(shown).collect();
            format!("best[{}]", clauses.join(" "))
        }
        Query::Named { name, clause } => format!("{}={name:?}", shown(clause)),
        Query::Constant { .. } => {
            panic!("no text makes {query:?}")
        }
    }
}

#[track_caller]
fn check_with(operator: Operator, typed: &str, expected: &str, warnings: usize) {
    let parsed = parse(typed, Analyzer::Plain, operator);
    assert_eq!(shown(&parsed.query), expected, "{typed:?}");
    assert_eq!(
        parsed.warnings.len(),
        warnings,
        "{typed:?} {:?}",
        parsed.warnings
    );
}

#[track_caller]
pub(super) fn check(typed: &str, expected: &str) {
    check_with(Operator::And, typed, expected, 0);
}

#[track_caller]
pub(super) fn check_warned(typed: &str, expected: &str) {
    check_with(Operator::And, typed, expected, 1);
}

#[track_caller]
fn check_any(typed: &str, expected: &str) {
    check_with(Operator::Or, typed, expected, 0);
}

#[test]
fn weights_are_those_typed() {
    let check = |typed, expected, warnings| check_with(Operator::And, typed, expected, warnings);
    check("a^2", "a^^2", 0);
    check("a^2 b", "(+a^^2 +b)", 0);
    check("foo/bar^.5", "(+foo^^0.5 +bar^^0.5)", 0);
    check("\"a b\"^2 c", "(+\"a b\"^^2 +c)", 0);
    check("(a OR b)^2 c", "(+(a b)^^2 +c)", 0);
    check("a^2.5.1", "a", 1);
    check("a^9999999", "a^^1000000", 1);
    check("a^0", "a^^0.000001", 1);
    check("a^b", "(+a +b)", 0);
    check("^2", "2", 0);
    check_with(Operator::Or, "a^2 b", "(a^^2 b)", 0);
}

#[test]
fn nearly_right_words_and_wildcards() {
    let check = |typed, expected, warnings| check_with(Operator::And, typed, expected, warnings);
    check("moon~", "best[moon moon~1]", 0);
    check("moonlight~", "best[moonlight moonlight~2]", 0);
    check("Moon~2 a", "(+best[moon moon~2] +a)", 0);
    check("moon~0", "moon", 0);
    check("moon~3", "best[moon moon~2]", 1);
    check("moon~1^2", "best[moon moon~1]^^2", 0);
    check("-moon~1 a", "(+a -best[moon moon~1])", 0);
    check("title:mo?n", "title:mo?n", 0);
    check("W?RD", "w?rd", 0);
    check("w*d b", "(+w*d +b)", 0);
    check("*a", "*a", 0);
    check("a*b*", "a*b*", 0);
    check("why?", "why", 0);
    check("a.php?id=3", "(+a +php +id +3)", 0);
    check("[a TO b]", "(+a +to +b)", 1);
    check("~user", "user", 0);
    let many: Vec<String> = ('a'..='z').map(|letter| format!("?{letter}")).collect();
    let kept: Vec<String> = many
        .iter()
        .take(PATTERNS_MAX)
        .map(|one| format!("+{one}"))
        .collect();
    check(&many.join(" "), &format!("({})", kept.join(" ")), 1);
}

#[test]
fn texts_that_are_being_typed() {
    let check = |typed: &str, expected: &str, with_errors: Option<&str>| {
        let none = &Schema::default();
        let parsed = parse_as_you_type(typed, Analyzer::Plain, none, Operator::Auto);
        assert_eq!(shown(&parsed.query), expected, "{typed:?}");
        let shown = parsed.some_words.as_ref().map(shown);
        assert_eq!(shown.as_deref(), with_errors, "{typed:?}");
        assert_eq!(parsed.warnings, [""; 0]);
    };
    check("ho", "best[ho ho*~0]", None);
    check("Make", "best[make make*~1]", None);
    check("lighthous", "best[lighthous lighthous*~2]", None);
    check("ho ", "ho", None);
    check("make ", "make", Some("best[make make~1]"));
    check(
        "make lo",
        "(+make +best[lo lo*~0])",
        Some("(+best[make make~1] +best[lo lo*~0])"),
    );
    check("a -make x/lo", "(+a +x +best[lo lo*~0] -make)", None);
    // More would be left out than was meant.
    check("a -(b make)", "(+a -(+b +make))", None);
    check("a -mak", "(+a -mak)", None);
    // What has signs is as typed.
    check("lo*", "lo*", None);
    check("\"make\"", "make", None);
    check("title:make", "best[title:make title:make*~1]", None);
}

#[test]
fn a_star_is_all_documents() {
    for operator in [Operator::And, Operator::Or, Operator::Auto] {
        for (typed, expected, warnings_count) in [
            ("*", "all", 0),
            ("*:*", "all", 0),
            ("* -a", "(+all -a)", 0),
            ("(* -a) -b", "(+all -a -b)", 0),
            ("* site:a.com", "(+all +=(site:a.com site:*.a.com))", 0),
            ("* *", "all", 1),
            // Of pasted text, where it is no word.
            ("* a", "a", 1),
            ("a OR *", "a", 1),
            ("(a *)", "a", 1),
            ("a -*", "a", 1),
            ("-*", "nothing", 2),
            ("title:*", "nothing", 3),
        ] {
            check_with(operator, typed, expected, warnings_count);
        }
    }
    let many = "* ".repeat(CLAUSES_MAX + 1);
    check_with(Operator::And, &many, "all", 2);
}

#[test]
fn repeated_prefixes_are_one() {
    check_warned("t* t*", "t*");
    check_warned("t* a t* t*", "(+t* +a)");
    check_warned("a -t* -t*", "(+a -t*)");
    check_with(Operator::Or, "t* t* tea", "(t* tea)", 1);
    check("t* title:t*", "(+t* +title:t*)");
    check("(t* a) OR (t* b)", "((+t* +a) (+t* +b))");
    let many = format!("{}last", "t* ".repeat(CLAUSES_MAX - 1));
    check_warned(&many, "(+t* +last)");
    let different: Vec<String> = ('a'..='z').map(|letter| format!("{letter}*")).collect();
    let expected = different[..PATTERNS_MAX].join(" ");
    check_with(
        Operator::Or,
        &different.join(" "),
        &format!("({expected})"),
        1,
    );
}

#[test]
fn words() {
    check("hello", "hello");
    check("Hello World", "(+hello +world)");
    check("foo-bar it's C++", "(+foo +bar +it +s +c)");
    check("a b a A", "(+a^3 +b)");
    check("foo & bar", "(+foo +bar)");
    check(
        "12:30 http://example.com/x",
        "(+12 +30 +http +example +com +x)",
    );
    check("or and not", "(+or +and +not)");
}

#[test]
fn alternatives_bind_tighter_than_their_neighbours() {
    check("a OR b", "(a b)");
    check("a OR b c", "(+(a b) +c)");
    check("c a OR b", "(+c +(a b))");
    check("a OR b AND c OR d", "(+(a b) +(c d))");
    check("a AND b", "(+a +b)");
    check("a OR (b c)", "(a (+b +c))");
    check("a OR foo-bar", "(a (+foo +bar))");
    check("a OR (b OR c)", "(a b c)");
    check("(a OR b) -c", "(a b -c)");
    check("a OR a", "a^2");
}

#[test]
fn exclusion() {
    check("a -b", "(+a -b)");
    check("a NOT b", "(+a -b)");
    check("-b a", "(+a -b)");
    check("a -\"b c\"", "(+a -\"b c\")");
    check("a -(b c)", "(+a -(+b +c))");
    check("a -foo-bar", "(+a -(+foo +bar))");
    check("a -title:b", "(+a -title:b)");
    check("a (-b)", "(+a -b)");
    check("a (b -c)", "(+a +b -c)");
    check("a OR (b -c)", "(a (+b -c))");
    check("\"a\"-b", "(+a +b)");
    check_warned("-a", "nothing");
    check_warned("-(a b)", "nothing");
    check_warned("a OR -b", "(+a -b)");
    check_warned("a -(-b)", "a");
    check_with(Operator::And, "a OR (-b)", "a", 2);
}

#[test]
fn fields_phrases_prefixes() {
    check("title:Word", "title:word");
    check("TITLE:word", "title:word");
    check("title:\"two words\"", "title:\"two words\"");
    check("title:(a b) c", "(+title:a +title:b +c)");
    check("title:(a OR b)", "(title:a title:b)");
    check("title:a-b", "(+title:a +title:b)");
    check(
        "title:(a site:X.com)",
        "(+title:a +=(site:x.com site:*.x.com))",
    );
    check(
        "site:Example.COM news",
        "(+=(site:example.com site:*.example.com) +news)",
    );
    check(
        "site:https://Example.com/a/b?c",
        "=(site:example.com site:*.example.com)",
    );
    check(
        "a site:*.Example.com",
        "(+a +=(site:example.com site:*.example.com))",
    );
    check("site:\"a b\"", "site:a b");
    check("site:Example.COM:8080", "site:example.com:8080");
    check("site:/usr/share/R", "site:/usr/share/R");
    check("site:\"man:Xorg(1)\"", "site:man:Xorg(1)");
    check("\"a phrase\"", "\"a phrase\"");
    check("“a phrase”", "\"a phrase\"");
    check("\"one\"", "one");
    check("\"a b\"~2", "\"a b\"~2");
    check("\"a b\"~2x", "(+\"a b\"~2 +x)");
    check("Wor*", "wor*");
    check("foo-bar* baz", "(+foo +bar* +baz)");
    check("title:wor*", "title:wor*");
    check("wor**", "wor*");
    check("f(x)", "(+f +x)");
}

#[test]
fn what_is_ignored_is_said() {
    for (typed, expected) in [
        ("", "nothing"),
        ("   ", "nothing"),
        ("!!!", "nothing"),
        ("a \"b", "(+a +b)"),
        ("(a b", "(+a +b)"),
        ("a) b", "(+a +b)"),
        ("a () b", "(+a +b)"),
        ("a \"\" b", "(+a +b)"),
        ("OR a", "a"),
        ("a OR", "a"),
        ("a AND", "a"),
        ("a OR OR b", "(a b)"),
        ("a NOT", "a"),
        ("a - b", "(+a +b)"),
        ("a + b", "(+a +b)"),
        ("cargo --release", "(+cargo +release)"),
        ("a * b", "(+a +b)"),
        ("a*? **", "a*"),
        ("foo:bar", "(+foo +bar)"),
        ("foo:\"a b\"", "(+foo +\"a b\")"),
        ("title: a", "(+title +a)"),
        ("a title:", "(+a +title)"),
        ("site:exa*", "=(site:exa site:*.exa)"),
        ("site:*.exa*", "=(site:exa site:*.exa)"),
        ("\"a b\"~999", "\"a b\"~64"),
        ("\"a b\"~99999999999999999999", "\"a b\"~64"),
    ] {
        check_warned(typed, expected);
    }
    let long = parse(&"é".repeat(QUERY_BYTES_MAX), Analyzer::Plain, Operator::And);
    assert_eq!(long.warnings.len(), 1);
}

#[test]
fn any_word_will_do() {
    check_any("a b", "(a b)");
    check_any("a b a", "(a^2 b)");
    check_any("a +b -c", "(+b a -c)");
    check_any("a AND b c", "(+a +b c)");
    check_any("a OR b c", "(a b c)");
    check_any("foo-bar a", "(foo bar a)");
    check_any("a (b AND c)", "(a (+b +c))");
    check_any("a OR foo-bar", "(a (+foo +bar))");
    check_any("a site:x.com", "(+=(site:x.com site:*.x.com) a)");
    check_any("a OR site:x.com", "(a =(site:x.com site:*.x.com))");
    check_any("a (b c)", "(a b c)");
}

#[test]
fn limits_hold() {
    let words: Vec<String> = (0..2000).map(|word| format!("w{word}")).collect();
    let many = parse(&words.join(" "), Analyzer::Plain, Operator::And);
    let Query::Boolean { required, .. } = &many.query else {
        panic!("{:?}", many.query);
    };
    assert_eq!(required.len(), CLAUSES_MAX);
    assert_eq!(many.warnings.len(), 1);

    let phrase = format!("\"{}\"", words[..100].join(" "));
    let phrase = parse(&phrase, Analyzer::Plain, Operator::And);
    let Query::Phrase { terms, .. } = &phrase.query else {
        panic!("{:?}", phrase.query);
    };
    assert_eq!(terms.len(), PHRASE_WORDS_MAX);

    let (open, close) = ("(".repeat(100_000), ")".repeat(100_000));
    for typed in [
        open.clone(),
        close.clone(),
        format!("{open}a{close}"),
        format!("{}a{}", "(".repeat(8000), ")".repeat(8000)),
        "\"".repeat(100_001),
        "-(".repeat(50_000),
        "a OR (".repeat(50_000),
        "title:".repeat(50_000),
    ] {
        let parsed = parse(&typed, Analyzer::Plain, Operator::And);
        assert!(depth(&parsed.query) <= 2 * DEPTH_MAX + 2);
        assert!(parsed.warnings.len() <= WARNINGS_MAX);
    }
}

#[test]
fn words_without_syntax() {
    let bag = |text, operator| shown(&bag_of_words(text, Analyzer::Plain, operator));
    assert_eq!(bag("a OR -b a", Operator::And), "(+a^2 +or +b)");
    assert_eq!(bag("a \"b\" title:c", Operator::Or), "(a b title c)");
    assert_eq!(bag("a", Operator::Or), "a");
    assert_eq!(bag("...", Operator::And), "nothing");
    assert_eq!(
        shown(&phrase_of("The, cat!", Analyzer::Plain)),
        "\"the cat\""
    );
    assert_eq!(shown(&phrase_of("cat", Analyzer::Plain)), "cat");
    assert_eq!(shown(&phrase_of("", Analyzer::Plain)), "nothing");
}

fn depth(query: &Query) -> usize {
    match query {
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let all = required.iter().chain(optional).chain(excluded);
            1 + all.map(depth).max().unwrap_or(0)
        }
        _ => 1,
    }
}

#[test]
fn bare_words_are_relaxed_and_nothing_else() {
    let cases = [
        ("moon base", "any[moon base]"),
        ("foo-bar", "any[foo bar]"),
        ("moon moon base", "any[moon^2 base]"),
        ("moon", "-"),
        ("moon moon", "-"),
        ("moon \"lunar base\"", "-"),
        (
            "moon base \"apollo 11\"",
            "(+\"apollo 11\" +any[moon base])",
        ),
        ("moon base +apollo", "(+apollo +any[moon base])"),
        ("moon base -apollo", "(+any[moon base] -apollo)"),
        (
            "moon base site:nasa.gov",
            "(+=(site:nasa.gov site:*.nasa.gov) +any[moon base])",
        ),
        ("moon base title:apollo", "(+title:apollo +any[moon base])"),
        ("moon AND base apollo", "-"),
        (
            "moon AND base apollo eagle",
            "(+moon +base +any[apollo eagle])",
        ),
        ("moon OR luna base", "any[(moon luna) base]"),
        ("(moon luna) base", "any[(+moon +luna) base]"),
        ("moo* base", "any[moo* base]"),
        ("(a OR b) AND c d e", "(+(a b) +c +any[d e])"),
    ];
    for (typed, expected) in cases {
        let parsed = parse(typed, Analyzer::Plain, Operator::Auto);
        let some = parsed.some_words.as_ref().map_or("-".to_owned(), shown);
        assert_eq!(some, expected, "{typed}");
        if parsed.some_words.is_none() {
            let all = parse(typed, Analyzer::Plain, Operator::And).query;
            assert_eq!(parsed.query, all, "{typed}");
        }
        for operator in [Operator::And, Operator::Or] {
            assert_eq!(parse(typed, Analyzer::Plain, operator).some_words, None);
        }
    }
}
