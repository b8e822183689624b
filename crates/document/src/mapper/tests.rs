//! Tests of records that are documents, of those that are none, and of the reasons.

use super::*;
use crate::record::record;
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
fn any_field_may_be_missing_but_the_address() {
    let document = Document::from_json_line(br#"{"url":"u","title":"t"}"#).unwrap();
    assert_eq!((document.title.as_str(), document.body.as_str()), ("t", ""));
    assert_eq!(document.id(), "u");
    let document = Document::from_json_line(br#"{"url":"u","title":null,"body":"","id":""}"#);
    assert_eq!(document.unwrap().id(), "u");
    let document = Document::from_json_line(br#"{"url":"u","n":3}"#).unwrap();
    assert_eq!((&*document.title, &*document.body), ("", ""));
    assert_eq!(document.fields["n"], 3);
    let document = Document::from_json_line(br#"{"id":5}"#).unwrap();
    assert_eq!((&*document.url, document.id()), ("id:5", "5"));
    check_reason("{}", "the object is empty");
    check_reason(r#"{"title":"t","body":"b"}"#, "no `url`");
}

#[test]
fn documents_without_text_are_counted() {
    let mut mapper = Mapper::default();
    for line in [r#"{"id":1,"n":2}"#, r#"{"id":2,"text":"a"}"#, r#"{"id":3}"#] {
        let record = record(line.as_bytes()).unwrap();
        mapper.document(record, Origin::Request).unwrap();
    }
    assert_eq!(mapper.without_text(), 2);
}

#[test]
fn a_part_of_another_type_is_read_or_stays_a_field() {
    let read = |line: &str| Document::from_json_line(line.as_bytes()).unwrap();
    let numbers = read(r#"{"url":5,"id":7,"title":1.10,"body":["a",2,null]}"#);
    assert_eq!(
        (&*numbers.url, numbers.id(), &*numbers.title, &*numbers.body),
        ("5", "7", "1.10", "a\n2")
    );
    assert!(numbers.fields.is_empty());
    let objects = read(r#"{"url":"u","title":{"en":"x"},"body":[{"y":1}],"id":true}"#);
    assert_eq!(
        (&*objects.title, &*objects.body, objects.id()),
        ("", "", "u")
    );
    let fields = r#"{"body":[{"y":1}],"id":true,"title":{"en":"x"}}"#;
    assert_eq!(Value::from(objects.fields).to_string(), fields);
}

#[test]
fn names_are_kept_and_told_apart() {
    let line = r#"{"url":"u","headline":"T","message":"m","more":"n"}"#;
    let document = Document::from_json_line(line.as_bytes()).unwrap();
    assert_eq!((&*document.title, &*document.body), ("T", "m"));
    let names = PartNames::of(&document.fields);
    assert!(names.has("headline") && names.has("message") && !names.has("more"));
    let mut shown = document.fields;
    PartNames::hide_in(&mut shown);
    assert_eq!(
        Value::from(shown).to_string(),
        r#"{"headline":"T","message":"m","more":"n"}"#
    );
    let own = Document::from_json_line(br#"{"url":"u","title":"t","body":"b"}"#).unwrap();
    assert!(own.fields.is_empty());
    check_reason(r#"{"url":"u","_names":{"body":["x"]}}"#, "`_names`");
}

#[test]
fn a_text_without_a_known_name_is_the_body_and_an_address_is_not() {
    let line = r#"{"url":"u","title":"t","picture":"https://a.test/a/long/address.png","notes":"long enough to be a text"}"#;
    let document = Document::from_json_line(line.as_bytes()).unwrap();
    assert_eq!(document.body, "long enough to be a text");
    let own = r#"{"url":"u","title":"t","body":"","notes":"long enough to be a text"}"#;
    assert_eq!(Document::from_json_line(own.as_bytes()).unwrap().body, "");
}

#[test]
fn bad_lines_say_why() {
    check_reason(r#"{"url":"","body":"b"}"#, "`url` is empty");
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
    let long = format!(r#"{{"url":"u","id":"{}"}}"#, "x".repeat(ID_BYTES_MAX + 1));
    check_reason(&long, "`id` is 2049 bytes long");
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

/// Slow twin for records whose parts have their own names: the same rules over a parsed tree.
fn by_tree(line: &str) -> Option<Document> {
    let tree: serde_json::Value = serde_json::from_str(line).ok()?;
    let Value::Object(mut tree) = tree.into() else {
        return None;
    };
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let text = |value: &Value| match value {
        Value::Bool(true) => Some("true".to_owned()),
        Value::Bool(false) => Some("false".to_owned()),
        Value::Array(items) => {
            let texts: Vec<_> = items.iter().filter(|item| !item.is_null()).collect();
            let all = texts
                .iter()
                .map(|item| scalar(item))
                .collect::<Option<Vec<_>>>()?;
            (!all.is_empty()).then(|| all.join("\n"))
        }
        other => scalar(other),
    };
    let mut take = |name: &str, read: &dyn Fn(&Value) -> Option<String>| {
        let found = tree.get(name).and_then(read);
        if found.is_some() {
            tree.remove(name);
        }
        found
    };
    let (url, id) = (take("url", &scalar), take("id", &scalar));
    let (title, body) = (take("title", &text), take("body", &text));
    let parts = [&url, &id, &title, &body];
    let id = id.clone().filter(|id| !id.is_empty());
    let address = url
        .clone()
        .or_else(|| Some(format!("id:{}", id.as_ref()?)))?;
    if parts
        .iter()
        .any(|part| part.as_ref().is_some_and(|text| text.contains('\0')))
        || url.as_deref() == Some("")
        || address.len() > URL_BYTES_MAX
    {
        return None;
    }
    tree.retain(|_, value| !value.is_null());
    Some(Document {
        url: address,
        id,
        title: title.unwrap_or_default(),
        body: body.unwrap_or_default(),
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
        fields in prop::collection::btree_map("url|url|title|body|id|x|[^a-zA-Z]{0,3}", any_value(), 0..6)
    ) {
        // A long text would be guessed to be the body.
        let is_guess = |value: &Value| value.as_str().is_some_and(is_long_text);
        let has_body = fields.get("body").is_some_and(|body| text(body).is_some());
        prop_assume!(has_body || !fields.values().any(is_guess));
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
