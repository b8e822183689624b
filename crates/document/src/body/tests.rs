use super::*;
use proptest::prelude::*;
use std::io::Read;

/// Reader that gives a few bytes at a time.
struct Dripping<'a>(&'a [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len()).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

type Split = (Vec<(u64, String)>, Option<(u64, u64)>);

/// Returns the lines and texts of the entries, and the place of the damage.
fn split_as(form: BodyForm, body: &[u8], drip: usize) -> Split {
    let mut entries = BodyEntries::new(Dripping(body, drip), form, 1000);
    let mut found = Vec::new();
    loop {
        match entries.next_entry() {
            Ok(Some(BodyEntry { line, text })) => found.push((
                line,
                match text {
                    EntryText::Json(text) => String::from_utf8(text).unwrap(),
                    EntryText::JsonLine(text) => String::from_utf8_lossy(&text).into_owned(),
                    EntryText::Plain(text) => format!("plain {}", String::from_utf8_lossy(&text)),
                    EntryText::TooLong { bytes } => format!("{bytes} bytes"),
                },
            )),
            Ok(None) => return (found, None),
            Err(BodyError::Damaged { line, offset, .. }) => return (found, Some((line, offset))),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[track_caller]
fn check(body: &str, entries: &[(u64, &str)], damage: Option<(u64, u64)>) {
    let expected: Vec<(u64, String)> = entries
        .iter()
        .map(|(line, text)| (*line, (*text).to_owned()))
        .collect();
    for drip in [1, 2, 7, 1000] {
        let found = split_as(BodyForm::ByFirstByte, body.as_bytes(), drip);
        assert_eq!(found, (expected.clone(), damage), "{body} by {drip}");
    }
}

#[test]
fn lines_arrays_and_printed_objects_are_split() {
    let (a, b) = (r#"{"a":1}"#, r#"{"b":"}\"]"}"#);
    check(&format!("{a}\n\n{b}\n"), &[(1, a), (3, b)], None);
    check(&format!("[{a},{b}]"), &[(1, a), (1, b)], None);
    check(&format!(" [\n{a},\n\n{b}\n]\n "), &[(2, a), (4, b)], None);
    check(
        &format!("{{\n\"a\":1}}\n{b}"),
        &[(1, "{\n\"a\":1}"), (3, b)],
        None,
    );
    check(
        r#"["x", 7,null ,[1] ]"#,
        &[(1, "\"x\""), (1, "7"), (1, "null"), (1, "[1]")],
        None,
    );
    check("x:1\n {y\n", &[(1, "plain x:1"), (2, "plain {y")], None);
    check("\"x\"\r\ny\r\n", &[(1, "\"x\""), (2, "y")], None);
    for empty in ["", " \n\t\n", "[]", " [ ] \n"] {
        check(empty, &[], None);
    }
    // A bad line spoils no other.
    check(
        &format!("{a}\n{{\"a\n{b}"),
        &[(1, a), (2, "{\"a"), (3, b)],
        None,
    );
    let long = "x".repeat(1001);
    check(
        &format!("{long}\ny"),
        &[(1, "1001 bytes"), (2, "plain y")],
        None,
    );
    check(
        &format!("[\"{long}\",7]"),
        &[(1, "1003 bytes"), (1, "7")],
        None,
    );
}

#[test]
fn what_is_no_array_to_its_end_is_damaged_with_its_place() {
    let a = r#"{"a":1}"#;
    for (body, whole, damage) in [
        ("[", 0, (1, 1)),
        (r#"["a""#, 1, (1, 4)),
        (r#"["a","b",]"#, 2, (1, 9)),
        (r#"["a",,"b"]"#, 1, (1, 5)),
        (r#"[,"a"]"#, 0, (1, 1)),
        ("['a']", 0, (1, 1)),
        ("[\"a\"\n\"b\"]", 1, (2, 5)),
        (r#"["a"]]"#, 1, (1, 5)),
        ("[\"a\"]\n[\"b\"]", 1, (2, 6)),
        (r#"["a"}"#, 1, (1, 4)),
        ("[{\"a\":1},\n{\"b\"", 1, (2, 14)),
        ("[{\"a\":1},\n{\"b\":1,}]", 1, (2, 17)),
        (r#"[{"a":[1}]]"#, 0, (1, 8)),
        (r#"[tru]"#, 0, (1, 3)),
        ("{\n\"a\":1}\nx", 1, (3, 9)),
    ] {
        for drip in [1, 3, 1000] {
            let (found, place) = split_as(BodyForm::ByFirstByte, body.as_bytes(), drip);
            assert_eq!((found.len(), place), (whole, Some(damage)), "{body}");
        }
    }
    let bytes = [&b"["[..], a.as_bytes(), b",\"\xff\"]"].concat();
    let (found, place) = split_as(BodyForm::ByFirstByte, &bytes, 1000);
    assert_eq!((found.len(), place), (1, Some((1, 10))));
}

#[test]
fn a_content_type_decides_where_it_names_a_form() {
    for (content_type, form) in [
        ("application/json; charset=utf-8", BodyForm::Json),
        ("Application/X-NDJSON", BodyForm::JsonLines),
        ("application/x-www-form-urlencoded", BodyForm::ByFirstByte),
        ("text/plain", BodyForm::ByFirstByte),
        ("", BodyForm::ByFirstByte),
    ] {
        assert_eq!(
            BodyForm::of_content_type(content_type),
            form,
            "{content_type}"
        );
    }
    let split = |form, body: &str| split_as(form, body.as_bytes(), 5).0;
    assert_eq!(split(BodyForm::Json, "x:1"), [(1, "x:1".to_owned())]);
    assert_eq!(
        split(BodyForm::JsonLines, "[1]\n2"),
        [(1, "[1]".to_owned()), (2, "2".to_owned())]
    );
}

proptest! {
    /// Slow twin: the whole body parsed at once.
    #[test]
    fn an_array_has_the_entries_that_a_parser_finds(
        body in "\\[?([\\[\\]{},:\"'\\\\ \n1a-]|\\{\"a\": ?\"[a}\\]]?\"\\}|\"b,\"|null|,){0,8}\\]?",
        drip in 1usize..9,
    ) {
        let body = format!("[{body}");
        let (found, damage) = split_as(BodyForm::ByFirstByte, body.as_bytes(), drip);
        match serde_json::from_str::<Vec<serde_json::Value>>(&body) {
            Ok(values) => {
                prop_assert_eq!(damage, None);
                let found: Vec<serde_json::Value> =
                    found.iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect();
                prop_assert_eq!(found, values);
            }
            Err(_) => prop_assert!(damage.is_some(), "{}", body),
        }
    }
}
