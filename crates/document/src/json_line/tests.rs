//! Tests of valid lines, invalid lines and their reasons.

use super::*;
use proptest::prelude::*;

fn reason(line: &[u8]) -> String {
    match Document::from_json_line(line) {
        Ok(document) => panic!("taken: {document:?}"),
        Err(error) => error.to_string(),
    }
}

fn check_reason(line: &str, expected: &str) {
    let reason = reason(line.as_bytes());
    assert!(
        reason.contains(expected),
        "{line:?}: {reason:?} does not contain {expected:?}"
    );
}

#[test]
fn a_document_with_everything() {
    let line = r#" {"url":"http:\/\/a/","id":7,"title":"T\n\"q\"","body":"b é \ud83d\ude00","year":1999,"score":-1.5,
        "date":"2020-01-02","ok":true,"none":null,"tags":["x",{"y":[1]}],"more":{"z":1}} "#;
    let document = Document::from_json_line(line.as_bytes()).unwrap();
    assert_eq!(document.url, "http://a/");
    assert_eq!(document.id(), "7");
    assert_eq!(document.title, "T\n\"q\"");
    assert_eq!(document.body, "b é 😀");
    let fields = serde_json::json!({
        "year": 1999, "score": -1.5, "date": "2020-01-02", "ok": true,
        "tags": ["x", {"y": [1]}], "more": {"z": 1},
    });
    assert_eq!(Value::Object(document.fields), fields);
}

#[test]
fn title_and_body_may_be_missing_but_not_both() {
    let document = Document::from_json_line(br#"{"url":"u","title":"t"}"#).unwrap();
    assert_eq!((document.title.as_str(), document.body.as_str()), ("t", ""));
    assert_eq!(document.id(), "u");
    let document = Document::from_json_line(br#"{"url":"u","title":null,"body":"","id":""}"#);
    assert_eq!(document.unwrap().id(), "u");
    check_reason(r#"{"url":"u"}"#, "neither `title` nor `body`");
    check_reason(
        r#"{"url":"u","title":null,"body":null}"#,
        "neither `title` nor `body`",
    );
}

#[test]
fn bad_lines_say_why() {
    check_reason(r#"{"title":"t","body":"b"}"#, "no `url`");
    check_reason(r#"{"url":"","body":"b"}"#, "`url` is empty");
    check_reason(
        r#"{"url":5,"body":"b"}"#,
        "`url` must be a string, not a number",
    );
    check_reason(
        r#"{"url":"u","body":["b"]}"#,
        "`body` must be a string, not a list",
    );
    check_reason(
        r#"{"url":"u","title":{},"body":"b"}"#,
        "`title` must be a string, not an object",
    );
    check_reason(
        r#"{"url":"u","body":"b","id":true}"#,
        "`id` must be a string or a number",
    );
    check_reason(r#"{"url":"u","body":"b","url":"v"}"#, "`url` occurs twice");
    check_reason(r#"{"url":"u","body":"b","x":1,"x":2}"#, "`x` occurs twice");
    check_reason(
        r#"{"url":"u\u0000","body":"b"}"#,
        "`url` holds the character NUL",
    );
    check_reason(
        r#"{"url":"u","body":"b\u0000"}"#,
        "`body` holds the character NUL",
    );
    check_reason("{\"url\":\"u\",\"body\":\"b\0\"}", "control character");
    check_reason(
        r#"{"url":"u","body":"\ud800"}"#,
        "not a JSON object at byte",
    );
    check_reason(r#"{"url":"u","body":"\ud800\u0041"}"#, "surrogate");
    check_reason(r#"{"url":"u","body":"b""#, "EOF while parsing");
    check_reason(r#"{"url":"u","body":"b"} x"#, "trailing characters");
    check_reason(r#"{"url":"u","body":"b","n":01}"#, "invalid number");
    check_reason("[1,2]", "expected a document");
    check_reason("\"text\"", "expected a document");
    check_reason("words", "expected value");
    let long = format!(
        r#"{{"url":"{}","body":"b"}}"#,
        "x".repeat(URL_BYTES_MAX + 1)
    );
    check_reason(&long, "`url` is 8193 bytes long");
    assert_eq!(
        reason(b"{\"url\":\"u\xff\",\"body\":\"b\"}"),
        "not UTF-8 at byte 9 of the line; save the file as UTF-8"
    );
}

#[test]
fn a_message_does_not_repeat_the_line() {
    let line = format!("\"{}\"", "x".repeat(100_000));
    assert!(reason(line.as_bytes()).len() < 400);
    let name = "x".repeat(100_000);
    let line = format!(r#"{{"{name}":1,"{name}":2}}"#);
    assert!(reason(line.as_bytes()).len() < 400);
}

#[test]
fn deep_nesting_costs_no_stack() {
    let depth = 2_000_000;
    let deep = "[".repeat(depth) + &"]".repeat(depth);
    let line = format!(r#"{{"url":"u","deep":{{"er":{deep}}},"body":"b"}}"#);
    check_reason(&line, "`deep.er` is nested deeper than 100 levels");
    let line = format!(r#"{{"url":{},"body":"b"}}"#, r#"{"a":"#.repeat(depth));
    assert!(Document::from_json_line(line.as_bytes()).is_err());
    assert!(Document::from_json_line(deep.as_bytes()).is_err());
}

#[test]
fn fields_are_kept_as_they_were_sent() {
    let sent = r#"{"a":12345678901234567890123,"b":1e-5000,"c":1.10,"d":-0,"e":1E5,"f":[1e999,{"g":0.30}]}"#;
    let line = format!(r#"{{"url":"u","body":"b",{}"#, &sent[1..]);
    let document = Document::from_json_line(line.as_bytes()).unwrap();
    assert_eq!(Value::Object(document.fields).to_string(), sent);
    for depth in [1, 33, 64, json::DEPTH_MAX] {
        let sent = format!(r#"{{"deep":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let line = format!(r#"{{"url":"u","body":"b",{}"#, &sent[1..]);
        let document = Document::from_json_line(line.as_bytes()).unwrap();
        assert_eq!(Value::Object(document.fields).to_string(), sent);
    }
    let line = r#"{"url":"u","body":"b","id":12345678901234567890123}"#;
    let document = Document::from_json_line(line.as_bytes()).unwrap();
    assert_eq!(document.id(), "12345678901234567890123");
    check_reason(
        r#"{"url":"u","body":"b","x":{"y":1,"y":2}}"#,
        "`x.y` occurs twice",
    );
}

/// Slow twin: the same rules over a parsed tree.
fn by_tree(line: &str) -> Option<Document> {
    let tree: serde_json::Value = serde_json::from_str(line).ok()?;
    let Value::Object(mut tree) = tree.into() else {
        return None;
    };
    let text = |value: Option<Value>| match value {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) if !text.contains('\0') => Some(Some(text)),
        _ => None,
    };
    let url = text(tree.remove("url"))??;
    let id = match tree.remove("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        other => text(other)?.filter(|id| !id.is_empty()),
    };
    let (title, body) = (text(tree.remove("title"))?, text(tree.remove("body"))?);
    if url.is_empty() || url.len() > URL_BYTES_MAX || (title.is_none() && body.is_none()) {
        return None;
    }
    tree.retain(|_, value| !value.is_null());
    let (title, body) = (title.unwrap_or_default(), body.unwrap_or_default());
    Some(Document {
        url,
        id,
        title,
        body,
        fields: tree,
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => any::<String>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<i32>().prop_map(|number| Value::from(f64::from(number) / 1000.0)),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => prop::collection::vec(any::<String>(), 0..3).prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn lines_are_read_as_a_tree_would_be(
        fields in prop::collection::btree_map("url|url|title|body|id|x|.{0,3}", any_value(), 0..6)
    ) {
        let line = serde_json::to_string(&fields).unwrap();
        prop_assert_eq!(Document::from_json_line(line.as_bytes()).ok(), by_tree(&line));
    }

    #[test]
    fn any_bytes_are_a_document_or_an_error(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::from_json_line(&line);
    }

    #[test]
    fn a_damaged_line_never_panics(at in 0usize..60, byte in any::<u8>()) {
        let mut line = br#"{"url":"http://a/","id":12,"title":"t\u00e9","body":"b\n","n":[1.5e3]}"#.to_vec();
        line[at] = byte;
        let _ = Document::from_json_line(&line);
    }
}
