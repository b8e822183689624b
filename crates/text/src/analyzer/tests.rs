//! Tests of the fast tokenizer against its slow twin, and the documented examples.
use super::*;
use proptest::prelude::*;
use rust_stemmers::{Algorithm, Stemmer};

/// Slow twin: splits, lower-cases every character, cuts and stems, without optimisation.
fn slow(analyzer: Analyzer, text: &str) -> Vec<(String, usize, usize)> {
    let mut tokens = Vec::new();
    for word in text.split(|character: char| !character.is_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let mut term: String = word.chars().flat_map(char::to_lowercase).collect();
        term.truncate(term.floor_char_boundary(TERM_BYTES_MAX));
        if analyzer == Analyzer::English {
            term = Stemmer::create(Algorithm::English).stem(&term).into_owned();
        }
        tokens.push((term, start, start + word.len()));
    }
    tokens
}

fn fast(analyzer: Analyzer, text: &str) -> Vec<(String, usize, usize)> {
    let mut tokens = Vec::new();
    analyzer.each_token(text, &mut "left over".to_owned(), |token| {
        tokens.push((token.term.to_owned(), token.start, token.end));
    });
    tokens
}

fn assert_equal(text: &str) {
    for analyzer in [Analyzer::Plain, Analyzer::English] {
        assert_eq!(fast(analyzer, text), slow(analyzer, text), "{text:?}");
    }
}

#[test]
fn examples() {
    assert_eq!(
        Analyzer::Plain.terms("Don’t PANIC: 42 cafés\u{a0}in Łódź, 2nd_try."),
        [
            "don", "t", "panic", "42", "cafés", "in", "łódź", "2nd", "try"
        ]
    );
    assert_eq!(
        Analyzer::Plain.terms("ΟΔΟΣ \u{212A}elvin İstanbul"),
        ["οδοσ", "kelvin", "i\u{307}stanbul"]
    );
    assert_eq!(
        Analyzer::Plain.terms("東京 2024年 ½ Ⅷ"),
        ["東京", "2024年", "½", "ⅷ"]
    );
    assert_eq!(
        Analyzer::English.terms("The Possibilities of dying happily"),
        ["the", "possibl", "of", "die", "happili"]
    );
    assert!(Analyzer::Plain.terms(" \0\u{301}—🦀…").is_empty());
}

#[test]
fn names_parse_back() {
    let standard: Analyzer = "standard2-en-ru".parse().expect("a name");
    let first: Analyzer = "standard-en-ru".parse().expect("a name");
    for analyzer in [Analyzer::Plain, Analyzer::English, standard, first] {
        assert_eq!(analyzer.name().parse(), Ok(analyzer));
    }
    assert_eq!(standard.name(), "standard2-en-ru");
    assert_eq!(first.name(), "standard-en-ru");
    // Existing indexes keep the terms of their name.
    let terms = |name: &str| {
        name.parse::<Analyzer>()
            .expect("a name")
            .terms("get_temp_dir")
    };
    assert_eq!(terms("standard"), ["gettempdir", "get", "temp", "dir"]);
    assert_eq!(terms("standard2").len(), 6);
    let error = "German".parse::<Analyzer>().unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no analyzer `German`: use `standard2`, followed by languages as in `standard2-en`, or `plain` or `english`"
    );
}

#[test]
fn long_words_are_cut_at_a_character() {
    for shift in 0..4 {
        for letter in ["a", "B", "é", "İ", "東", "𐐀"] {
            assert_equal(&format!(
                "{}{}",
                "x".repeat(shift),
                letter.repeat(TERM_BYTES_MAX)
            ));
        }
    }
}

#[test]
fn the_callback_may_tokenize() {
    let mut inner = Vec::new();
    Analyzer::English.each_token("walking dogs", &mut String::new(), |token| {
        inner.extend(Analyzer::English.terms(token.term));
    });
    assert_eq!(inner, ["walk", "dog"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn fast_equals_slow_on_any_text(text in any::<String>()) {
        assert_equal(&text);
    }

    #[test]
    fn fast_equals_slow_on_mixed_scripts(text in "([a-zA-Z0-9]{1,12}|[ -/]{1,3}|[\u{212A}İıſßΣσςΆАяéÉ東ー𐐀]{1,3}|[\u{300}-\u{303}’…🦀👍🏽\u{200D}]){0,30}") {
        assert_equal(&text);
    }

    #[test]
    fn fast_equals_slow_on_english(text in "((un|re|happ|pos|abl|y)?[a-z]{1,5}(y|ies|ing|ed|ational|ibility|ably|ization|fulness|ly|s|e)? ){1,20}") {
        assert_equal(&text);
    }
}
