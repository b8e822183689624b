//! Tests of records of any shape.

use crate::{ReadOptions, Reader, Source};
use document::{FieldNames, PartNames};
use json::Value;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

struct Read {
    documents: Vec<document::Document>,
    bad: Vec<String>,
    found: Vec<String>,
}

fn read_named(file: &str, content: &[u8], names: FieldNames) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(file);
    std::fs::write(&path, content).unwrap();
    let source = Source::parse(path.to_str().unwrap()).unwrap();
    let options = ReadOptions {
        names,
        ..ReadOptions::default()
    };
    let mut reader = Reader::open(vec![source], options).unwrap();
    let mut documents = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        documents.push(document);
    }
    let bad = reader.bad_documents().iter();
    let start = format!("{}/", folder.path().display());
    Read {
        documents,
        bad: bad.map(|bad| bad.to_string().replace(&start, "")).collect(),
        found: reader.fields_found().map(str::to_owned).collect(),
    }
}

fn read(file: &str, content: &str) -> Read {
    read_named(file, content.as_bytes(), FieldNames::default())
}

#[test]
fn the_usual_names_are_understood_and_told() {
    let all = read(
        "posts.jsonl",
        r#"{"_id": 7, "headline": "One", "contents": "first", "year": 1910}
{"slug": "two", "Name": "Two", "text": ["a", "b"]}
{"permalink": "http://x.test/3", "question": "Three?", "body": ""}
"#,
    );
    assert!(all.bad.is_empty(), "{:?}", all.bad);
    let shown: Vec<_> = all
        .documents
        .iter()
        .map(|one| (&*one.url, &*one.title, &*one.body))
        .collect();
    assert_eq!(
        shown,
        [
            ("id:7", "One", "first"),
            ("id:two", "Two", "a\nb"),
            ("http://x.test/3", "Three?", "")
        ]
    );
    assert_eq!(all.documents[0].fields["year"], 1910);
    assert_eq!(
        all.found,
        [
            "body = contents",
            "body = text",
            "id = _id",
            "id = slug",
            "title = Name",
            "title = headline",
            "title = question",
            "url = permalink",
        ]
    );
}

#[test]
fn named_fields_are_taken() {
    let names = FieldNames {
        id: Some("ref".into()),
        title: Some("meta.head".into()),
        body: vec!["intro".into(), "rest".into()],
        ..FieldNames::default()
    };
    let line =
        br#"{"ref": "a-1", "meta": {"head": "H"}, "title": "no", "intro": "i", "rest": "r"}"#;
    let one = read_named("x.json", line, names);
    let document = &one.documents[0];
    assert_eq!(
        (&*document.url, &*document.title, &*document.body),
        ("id:a-1", "H", "i\nr")
    );
}

#[test]
fn arrays_and_printed_objects_are_read() {
    let array = r#"[{"url":"u:1","body":"a ] } \" {"},
  {"url":"u:2","body":"b"}]"#;
    let printed =
        "{\n  \"url\": \"u:1\",\n  \"body\": \"a\"\n}\n{\n  \"url\": \"u:2\", \"body\": \"b\"}\n";
    for content in [array, printed] {
        let all = read("x.json", content);
        assert!(all.bad.is_empty(), "{:?}", all.bad);
        let urls: Vec<&str> = all.documents.iter().map(|one| &*one.url).collect();
        assert_eq!(urls, ["u:1", "u:2"], "{content}");
    }
    let stray = read("x.json", "[{\"url\":\"u:1\",\"body\":\"a\"}, 7, {}]");
    assert_eq!(stray.documents.len(), 1);
    assert!(
        stray.bad[0].starts_with("x.json:1: neither a JSON object"),
        "{:?}",
        stray.bad
    );
    let cut = read("x.json", "[{\"url\":\"u:1\",\"body\":\"a\"}, {\"url\":");
    assert_eq!(
        (cut.documents.len(), &*cut.bad[0]),
        (1, "x.json:1: the file ends within an object")
    );
}

#[test]
fn exports_of_elasticsearch_are_unwrapped() {
    let one = read(
        "x.jsonl",
        r#"{"_index":"i","_id":"9","_source":{"title":"T","text":"t"}}"#,
    );
    let document = &one.documents[0];
    assert_eq!(
        (&*document.url, &*document.title, &*document.body),
        ("id:9", "T", "t")
    );
}

#[test]
fn tables_are_read() {
    let table = "id;Title;Text;n\n1;One;\"a;\nb\";5\n2;Two;caf\u{e9};\n3;short\n";
    for (content, file) in [
        (table.as_bytes().to_vec(), "x.csv"),
        (table.replace(';', "\t").into_bytes(), "x.tsv"),
    ] {
        let all = read_named(file, &content, FieldNames::default());
        assert_eq!(all.documents.len(), 2, "{:?}", all.bad);
        let one = &all.documents[0];
        assert_eq!((&*one.url, &*one.title), ("id:1", "One"));
        assert!(one.body.starts_with('a') && one.body.ends_with('b'));
        assert_eq!(one.fields["n"], "5");
        assert_eq!(all.documents[1].body, "café");
        assert_eq!(
            all.bad,
            [format!(
                "{file}:5: the row has 2 fields, the first row names 4"
            )]
        );
    }
}

#[test]
fn rows_end_as_any_system_ends_lines() {
    let table = "title,body,n\nOne,\"first\nrow\",1\n\nTwo,second row,2\nshort\nThree,third row,3";
    for end in ["\n", "\r\n", "\r"] {
        let all = read("x.csv", &table.replace('\n', end));
        let titles: Vec<&str> = all.documents.iter().map(|one| &*one.title).collect();
        assert_eq!(titles, ["One", "Two", "Three"], "{end:?}");
        let urls: BTreeSet<&str> = all.documents.iter().map(|one| &*one.url).collect();
        assert_eq!(urls.len(), 3, "{end:?}: {urls:?}");
        let reason = "x.csv:6: the row has 1 fields, the first row names 3";
        assert_eq!(all.bad, [reason], "{end:?}");
    }
    // Ends of several systems in one table.
    let all = read("x.csv", "title,body\r\nOne,a\rTwo,b\nThree,c\r\nFour,d\r");
    let urls: Vec<_> = all
        .documents
        .iter()
        .map(|one| &one.url[one.url.len() - 6..])
        .collect();
    assert_eq!(urls, [".csv#2", ".csv#3", ".csv#4", ".csv#5"]);
}

#[test]
fn columns_of_one_name_are_lists() {
    let all = read(
        "x.csv",
        "title,body,tag, tag ,,\na,text,x,y,p,q\nb,text,,z,,\n",
    );
    assert!(all.bad.is_empty(), "{:?}", all.bad);
    let shown: Vec<_> = all
        .documents
        .iter()
        .map(|one| Value::from(one.fields.clone()).to_string())
        .collect();
    assert_eq!(
        shown,
        [
            r#"{"column 5":"p","column 6":"q","tag":["x","y"]}"#,
            r#"{"tag":"z"}"#
        ]
    );
}

#[test]
fn tables_are_decoded_as_a_whole() {
    let table = "title;body;price\ncaf\u{e9};it\u{2019}s \u{201c}strong\u{201d};5 \u{20ac}\n";
    let windows: Vec<u8> = table
        .chars()
        .map(|c| match c {
            '\u{2019}' => 0x92,
            '\u{201c}' => 0x93,
            '\u{201d}' => 0x94,
            '\u{20ac}' => 0x80,
            other => u32::from(other) as u8,
        })
        .collect();
    let utf16: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(table.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let utf8 = ["\u{feff}", table].concat().into_bytes();
    for content in [windows, utf16, utf8] {
        let all = read_named("x.csv", &content, FieldNames::default());
        let one = &all.documents[0];
        assert_eq!(
            (&*one.title, &*one.body),
            ("caf\u{e9}", "it\u{2019}s \u{201c}strong\u{201d}")
        );
        assert_eq!(one.fields["price"], "5 \u{20ac}");
    }
    let json: Vec<u8> = "\u{feff}{\"url\":\"u:1\",\"body\":\"\u{20ac}\"}\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(
        read_named("x.jsonl", &json, FieldNames::default()).documents[0].body,
        "\u{20ac}"
    );
}

#[test]
fn fields_keep_their_names() {
    let sent = r#"{"headline":"T","n":1.10,"tag":"T","text":"b"}"#;
    let one = read("x.jsonl", sent);
    let document = &one.documents[0];
    assert_eq!((&*document.title, &*document.body), ("T", "b"));
    let mut fields = document.fields.clone();
    let names = PartNames::of(&fields);
    assert_eq!(
        (names.title(), names.body()),
        (Some("headline"), &["text".to_owned()][..])
    );
    PartNames::hide_in(&mut fields);
    assert_eq!(Value::from(fields).to_string(), sent);
}

#[test]
fn a_record_without_an_address_is_bad_where_others_have_one() {
    let all = read(
        "x.jsonl",
        "{\"url\":\"u:1\",\"body\":\"a\"}\n{\"body\":\"b\"}\n",
    );
    assert_eq!((all.documents.len(), all.bad.len()), (1, 1));
    let none = read("x.jsonl", "{\"body\":\"a\"}\n{\"body\":\"b\"}\n");
    assert!(none.documents[1].url.ends_with("x.jsonl#2"));
    assert!(none.bad.is_empty());
}

proptest! {
    #[test]
    fn any_bytes_end(content in proptest::collection::vec(any::<u8>(), 0..400), array: bool) {
        let mut content = content;
        if array {
            content.splice(0..0, *b"[{");
        }
        for file in ["x.json", "x.csv"] {
            let all = read_named(file, &content, FieldNames::default());
            prop_assert!(all.documents.iter().all(|one| !one.url.is_empty()));
        }
    }

    /// An array, printed or not, holds what its lines hold.
    #[test]
    fn an_array_is_its_elements(bodies in proptest::collection::vec(".{0,20}[\\]}{\"\\\\]?", 0..6), pretty: bool) {
        let documents: Vec<_> = bodies.iter().enumerate().map(|(n, body)| serde_json::json!({
            "url": format!("u:{n}"), "title": "t", "body": body.replace('\0', ""), "more": {"a": [1, {"b": "}]"}]},
        })).collect();
        let lines: String = documents.iter().map(|one| format!("{one}\n")).collect();
        let array = match pretty {
            true => serde_json::to_string_pretty(&documents).unwrap(),
            false => serde_json::to_string(&documents).unwrap(),
        };
        let (lines, array) = (read("x.jsonl", &lines), read("x.json", &array));
        prop_assert!(lines.bad.is_empty() && array.bad.is_empty(), "{:?}", array.bad);
        prop_assert_eq!(lines.documents, array.documents);
    }
}

#[test]
fn bodies_of_bulk_are_documents() {
    let body = r#"{"index": {"_index": "news", "_id": "7"}}
{"title": "Owls", "body": "They fly.", "views": 3}
{"create": {"_id": 8}}
{"title": "Mice", "text": "They run.", "url": "http://a.test/mice"}
{"delete": {"_id": "7"}}
{"update": {"_id": "9"}}
{"doc": {"title": "changed"}}
{"update": {"_id": "10"}}
{"doc": {"title": "Whole", "body": "x", "url": "http://a.test/whole"}, "doc_as_upsert": true}
{"index": {}}
not JSON
"#;
    for name in ["bulk.ndjson", "bulk.json"] {
        let found = read(name, body);
        let shown: Vec<_> = found
            .documents
            .iter()
            .map(|one| (&*one.url, one.id.as_deref(), &*one.title, &*one.body))
            .collect();
        assert_eq!(
            shown,
            [
                ("id:7", Some("7"), "Owls", "They fly."),
                ("http://a.test/mice", Some("8"), "Mice", "They run."),
                ("http://a.test/whole", Some("10"), "Whole", "x"),
            ]
        );
        assert_eq!(found.documents[0].fields["views"], 3);
        assert_eq!(found.bad.len(), 1, "{:?}", found.bad);
        assert!(found.bad[0].starts_with(&format!("{name}:11: not a JSON object")));
    }
}
