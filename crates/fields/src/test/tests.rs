//! Tests of what tests of values pass, and of what they refuse.

use super::*;

fn passing(kind: FieldType, test: &str, values: &[&str]) -> Vec<String> {
    let parsed = Test::parse(kind, test).unwrap();
    let of = |text: &&&str| match kind {
        FieldType::Keyword => Value::keyword(text),
        _ => Value::of(kind, &serde_json::from_str(text).unwrap()),
    };
    let passes = |text: &&&str| parsed.passes(&of(text).unwrap());
    values
        .iter()
        .filter(passes)
        .map(|text| (*text).to_owned())
        .collect()
}

#[test]
fn numbers_and_words_are_compared() {
    let numbers = ["-3", "0", "5", "10"];
    let of = |test| passing(FieldType::Integer, test, &numbers);
    assert_eq!(of(">=0"), ["0", "5", "10"]);
    assert_eq!(of(">0"), ["5", "10"]);
    assert_eq!(of("<5"), ["-3", "0"]);
    assert_eq!(of("<=5"), ["-3", "0", "5"]);
    assert_eq!(of("0..5"), ["0", "5"]);
    assert_eq!(of("..0"), ["-3", "0"]);
    assert_eq!(of("5.."), ["5", "10"]);
    assert_eq!(of("5"), ["5"]);
    assert_eq!(of("*"), numbers);
    assert_eq!(passing(FieldType::Float, "..1.5", &["1.5", "1.6"]), ["1.5"]);
    assert_eq!(
        passing(FieldType::Bool, "true", &["true", "false"]),
        ["true"]
    );
    let words = ["cs", "cs.LG", "cs.AI", "math", ".."];
    let of = |test| passing(FieldType::Keyword, test, &words);
    assert_eq!(of("cs"), ["cs"]);
    assert_eq!(of("cs*"), ["cs", "cs.LG", "cs.AI"]);
    assert_eq!(of("cs.B..math"), ["cs.LG", "math"]);
    assert_eq!(of(".."), [".."]);
}

#[test]
fn numbers_between_values_are_compared_exactly() {
    let wide = [
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
    ];
    let of = |test| passing(FieldType::Integer, test, &wide).len();
    assert_eq!(of("9007199254740993"), 1);
    assert_eq!(of(">9007199254740992.5"), 2);
    assert_eq!(of("<=9007199254740992.5"), 1);
    assert_eq!(
        (of(">18446744073709551614"), of("<18446744073709551614")),
        (0, 3)
    );
    assert_eq!((of(">=-1e30"), of("<-1e30"), of("<=1e30")), (3, 0, 3));
    assert_eq!((of("18446744073709551614"), of("-1e30")), (0, 0));
    assert_eq!((of("0..1e30"), of("-1e30..1e30")), (3, 3));
    let floats = ["9007199254740992", "9007199254740994", "0.1"];
    let of = |test| passing(FieldType::Float, test, &floats).len();
    assert_eq!((of("9007199254740993"), of("9007199254740992.0")), (0, 1));
    assert_eq!((of(">9007199254740993"), of(">=9007199254740993")), (1, 1));
    assert_eq!((of("<9007199254740993"), of("<=9007199254740993")), (2, 2));
    assert_eq!((of("0.1"), of("1E-1")), (1, 1));
    let ends = [
        "\"9999-12-31\"",
        "\"9999-12-31T23:59:59.999999Z\"",
        "\"2024-01-01\"",
    ];
    let of = |test| passing(FieldType::Date, test, &ends).len();
    assert_eq!(
        (of("9999"), of("9999-12-31"), of(">9999"), of("<=9999")),
        (2, 2, 0, 3)
    );
    let shown = Test::parse(FieldType::Date, "9999").unwrap().to_string();
    assert_eq!(of(&shown), 2, "{shown}");
}

#[test]
fn dates_are_periods() {
    let days = [
        "\"2023-12-31\"",
        "\"2024-01-01\"",
        "\"2024-12-31T23:59:59.999999Z\"",
        "\"2025-01-01\"",
    ];
    let of = |test| passing(FieldType::Date, test, &days).len();
    assert_eq!(of("2024"), 2);
    assert_eq!(of(">2024"), 1);
    assert_eq!(of(">=2024"), 3);
    assert_eq!(of("<2024"), 1);
    assert_eq!(of("<=2024"), 3);
    assert_eq!(of("2023..2024-01"), 2);
    assert_eq!(of("2024-12-31"), 1);
}

#[test]
fn ranges_in_brackets() {
    let end = |text: &'static str, inclusive| (text != "*").then_some(RangeEnd { text, inclusive });
    let between = |kind, low: (&'static str, bool), high: (&'static str, bool)| {
        Test::between(kind, end(low.0, low.1), end(high.0, high.1))
    };
    let shown = |kind, low, high| between(kind, low, high).unwrap().to_string();
    let (with, without) = (true, false);
    let number = FieldType::Integer;
    assert_eq!(shown(number, ("1", with), ("5", with)), "1..5");
    assert_eq!(shown(number, ("1", without), ("5", with)), ">1 <=5");
    assert_eq!(shown(number, ("*", with), ("5", without)), "<5");
    assert_eq!(shown(number, ("5", with), ("5", with)), "5");
    assert_eq!(shown(number, ("*", with), ("*", without)), "*");
    let date = FieldType::Date;
    let all_of_2025 = ">=2025-01-01 <2026-01-01";
    assert_eq!(
        shown(date, ("2024", without), ("2026", without)),
        all_of_2025
    );
    assert_eq!(shown(date, ("2025", with), ("2025", with)), all_of_2025);
    assert_eq!(
        shown(FieldType::Keyword, ("a", with), ("a*", with)),
        "a..a*"
    );
    for (kind, low, high, said) in [
        (number, ("5", with), ("4", with), "nothing lies between"),
        (number, ("5", with), ("5", without), "nothing lies between"),
        (
            date,
            ("2024", without),
            ("2024", with),
            "nothing lies between",
        ),
        (number, ("x", with), ("5", with), "no whole number"),
        (FieldType::Text, ("a", with), ("b", with), "long"),
    ] {
        let error = between(kind, low, high).unwrap_err();
        assert!(error.reason.contains(said), "{error}");
    }
}

#[test]
fn what_cannot_be_read_is_explained() {
    for (kind, text, said) in [
        (FieldType::Integer, "many", "no whole number"),
        (FieldType::Integer, "1.5", "no whole number"),
        (FieldType::Float, "NaN", "no number"),
        (FieldType::Bool, "maybe", "neither true nor false"),
        (FieldType::Date, ">=yesterday", "no date"),
        (FieldType::Date, "2024..soon", "no date"),
        (FieldType::Text, "x", "long"),
        (FieldType::Integer, "5..3", "nothing lies between"),
        (FieldType::Date, "2025..2024", "nothing lies between"),
        (FieldType::Keyword, "b..a", "nothing lies between"),
    ] {
        let error = Test::parse(kind, text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn tests_are_shown_as_they_are_written() {
    for text in ["5", ">=5", ">5", "<5", "<=5", "1..5", "*"] {
        let test = Test::parse(FieldType::Integer, text).unwrap();
        assert_eq!(test.to_string(), text);
    }
    let year = Test::parse(FieldType::Date, "2024").unwrap();
    assert_eq!(year.to_string(), ">=2024-01-01 <2025-01-01");
    assert_eq!(
        Test::parse(FieldType::Keyword, "a*").unwrap().to_string(),
        "a*"
    );
}
