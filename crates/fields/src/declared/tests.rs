//! Tests of declarations: what they change, and what is refused.

use super::{Declaration, Declarations};
use crate::field_type::FieldType;
use crate::schema::Schema;

/// Reads declarations, which are the same when they are written and read again.
fn declared(json: &str) -> Result<Declarations, String> {
    let read = |json: &str| serde_json::from_str::<Declarations>(json);
    let declared = read(json).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&declared).unwrap();
    assert_eq!(read(&written).unwrap(), declared, "{written}");
    Ok(declared)
}

/// Applies declarations one after another; returns the schema as JSON, or the first refusal.
fn applied(all: &[&str]) -> Result<String, String> {
    let mut schema = Schema::default();
    for json in all {
        declared(json)?.apply(&mut schema)?;
    }
    assert!(schema.is_sound());
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    Ok(json)
}

#[test]
fn types_and_settings_are_declared() {
    let cases = [
        (r#"{"n":"i64"}"#, r#"{"n":{"type":"i64","in_text":{}}}"#),
        (r#"{"n":"bool"}"#, r#"{"n":"bool"}"#),
        (
            r#"{"n":{"type":"date","searchable":false}}"#,
            r#"{"n":"date"}"#,
        ),
        (
            r#"{"k":{"type":"keyword","weight":2}}"#,
            r#"{"k":{"type":"keyword","number":3,"weight":2.0}}"#,
        ),
        (
            r#"{"k":{"type":"keyword","searchable":false}}"#,
            r#"{"k":"keyword"}"#,
        ),
        (
            r#"{"a":"text"}"#,
            r#"{"a":{"type":"text","number":3,"weight":1.0}}"#,
        ),
        (
            r#"{"a":{"type":"text","weight":2,"b":0.5}}"#,
            r#"{"a":{"type":"text","number":3,"weight":2.0,"b":0.5}}"#,
        ),
        (
            r#"{"a":{"type":"text","searchable":false}}"#,
            r#"{"a":"text"}"#,
        ),
        (
            r#"{"a":{"type":"text","weight":0}}"#,
            r#"{"a":{"type":"text","number":3,"weight":0.0}}"#,
        ),
        (
            r#"{"a":{"type":"text","weight":0,"analyzer":"standard-de"}}"#,
            r#"{"a":{"type":"text","number":3,"words":{"weight":0.0,"analyzer":"standard-de"}}}"#,
        ),
        (
            r#"{"title":{"type":"text","weight":3}}"#,
            r#"{"title":{"type":"text","number":1,"weight":3.0}}"#,
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(applied(&[json]).as_deref(), Ok(expected), "{json}");
        assert_eq!(applied(&[json, json]).as_deref(), Ok(expected), "{json}");
    }
    let prior = r#"{"a":{"type":"i64","prior":{"weight":2,"pivot":50}}}"#;
    let written = r#"{"a":{"type":"i64","in_text":{"prior":{"weight":2.0,"pivot":50.0}}}}"#;
    let searched = r#"{"a":{"type":"i64","in_text":{}}}"#;
    let off = r#"{"a":{"type":"i64","prior":{"weight":0}}}"#;
    for (all, expected) in [
        (&[prior][..], written),
        (&[r#"{"a":"i64"}"#, prior, prior], written),
        (&[prior, r#"{"a":"i64"}"#], written),
        (&[prior, off], searched),
        (
            &[r#"{"a":{"type":"i64","searchable":false,"prior":{"weight":2,"pivot":50}}}"#],
            r#"{"a":{"type":"i64","prior":{"weight":2.0,"pivot":50.0}}}"#,
        ),
    ] {
        assert_eq!(applied(all).as_deref(), Ok(expected), "{all:?}");
    }
    let raised = [r#"{"a":"text"}"#, r#"{"a":{"type":"text","weight":4}}"#];
    assert!(applied(&raised).unwrap().contains("4.0"));
    let kept = [
        r#"{"a":{"type":"text","analyzer":"plain"}}"#,
        r#"{"a":{"type":"text","b":0.5}}"#,
    ];
    let words = r#"{"weight":1.0,"b":0.5,"analyzer":"plain"}"#;
    assert!(applied(&kept).unwrap().contains(words));
}

#[test]
fn what_does_not_fit_is_refused() {
    for (all, said) in [
        (&[r#"{"a":"words"}"#][..], "unknown variant"),
        (&[r#"{"a":7}"#], "a type, or a table"),
        (&[r#"{"a":{"weight":2}}"#], "missing field `type`"),
        (&[r#"{"a":{"type":"text","boost":2}}"#], "unknown field"),
        (&[r#"{"a":{"type":"i64","weight":2}}"#], "text and keyword"),
        (&[r#"{"a":{"type":"bool","searchable":true}}"#], "no words"),
        (
            &[
                r#"{"a":{"type":"i64","searchable":false}}"#,
                r#"{"a":{"type":"i64","searchable":true}}"#,
            ],
            "not searched here",
        ),
        (
            &[
                r#"{"a":"date"}"#,
                r#"{"a":{"type":"date","searchable":false}}"#,
            ],
            "are searched here",
        ),
        (&[r#"{"a":{"type":"text","weight":0.5}}"#], "1 to 100"),
        (&[r#"{"a":{"type":"text","weight":101}}"#], "1 to 100"),
        (&[r#"{"a":{"type":"text","b":2}}"#], "0 to 1"),
        (
            &[r#"{"a":{"type":"keyword","prior":{"weight":1,"pivot":1}}}"#],
            "i64 and f64, not of keyword",
        ),
        (
            &[r#"{"a":{"type":"f64","prior":{"weight":1}}}"#],
            "missing field `pivot`",
        ),
        (
            &[r#"{"a":{"type":"f64","prior":{"weight":101,"pivot":1}}}"#],
            "up to 100",
        ),
        (
            &[r#"{"a":{"type":"f64","prior":{"weight":1,"pivot":0}}}"#],
            "1e-9 to 1e15",
        ),
        (
            &[r#"{"a":{"type":"text","searchable":false,"b":1}}"#],
            "neither",
        ),
        (&[r#"{"a":{"type":"text","analyzer":"german"}}"#], "german"),
        (
            &[r#"{"a":{"type":"text","analyzer":"plain","weight":2}}"#],
            "a weight of 1 or 0",
        ),
        (
            &[
                r#"{"a":{"type":"text","analyzer":"plain"}}"#,
                r#"{"a":{"type":"text","weight":2}}"#,
            ],
            "the field a has an analyzer of its own",
        ),
        (
            &[
                r#"{"a":"text"}"#,
                r#"{"a":{"type":"text","analyzer":"plain"}}"#,
            ],
            "the analyzer of the index here",
        ),
        (
            &[
                r#"{"a":{"type":"text","analyzer":"english"}}"#,
                r#"{"a":{"type":"text","analyzer":"plain"}}"#,
            ],
            "the analyzer english here",
        ),
        (
            &[r#"{"title":{"type":"text","analyzer":"plain"}}"#],
            "analyzer of the index",
        ),
        (&[r#"{"title":"keyword"}"#], "always searched"),
        (&[r#"{"a":"i64"}"#, r#"{"a":"text"}"#], "has the type i64"),
        (
            &[
                r#"{"a":{"type":"text","searchable":false}}"#,
                r#"{"a":{"type":"text","weight":2}}"#,
            ],
            "not searched here",
        ),
        (
            &[
                r#"{"a":"text"}"#,
                r#"{"a":{"type":"text","searchable":false}}"#,
            ],
            "are searched here",
        ),
        (
            &[r#"{"a":"text"}"#, r#"{"a":{"type":"text","weight":0}}"#],
            "between weight 0",
        ),
        (
            &[r#"{"title":{"type":"text","weight":0}}"#],
            "between weight 0",
        ),
    ] {
        let refusal = applied(all).unwrap_err();
        assert!(refusal.contains(said), "{all:?}: {refusal}");
    }
}

#[test]
fn texts_past_the_limit_are_refused() {
    let mut schema = Schema::default();
    let text = Declaration::of(FieldType::Text);
    for number in 0..crate::TEXT_FIELDS_MAX {
        text.apply(&format!("f{number}"), &mut schema).unwrap();
    }
    assert!(schema.is_sound());
    assert!(
        text.apply("more", &mut schema)
            .unwrap_err()
            .contains("too many")
    );
}
