//! JSON Merge Patch (RFC 7396) of a document.

use document::Document;
use json::{Map, Value};

/// Returns the document after a patch; fails with the reason where the result is no document.
pub(crate) fn patched(document: &Document, patch: &Map<String, Value>) -> Result<Document, String> {
    let mut whole = document.fields.clone();
    let texts = [
        ("url", Some(&document.url)),
        ("id", document.id.as_ref()),
        ("title", Some(&document.title)),
        ("body", Some(&document.body)),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            whole.insert(name.to_owned(), text.clone().into());
        }
    }
    let patch = patch.iter().filter(|(name, _)| *name != "url");
    for (name, value) in patch {
        apply(&mut whole, name, value);
    }
    // The rules of documents that arrive hold for the result.
    let line = serde_json::to_vec(&whole).map_err(|error| error.to_string())?;
    Document::from_json_line(&line).map_err(|error| error.to_string())
}

fn apply(target: &mut Map<String, Value>, name: &str, value: &Value) {
    match value {
        Value::Null => {
            target.remove(name);
        }
        Value::Object(patch) => {
            let member = target
                .entry(name.to_owned())
                .or_insert_with(|| Map::new().into());
            if !member.is_object() {
                *member = Map::new().into();
            }
            if let Value::Object(member) = member {
                for (name, value) in patch {
                    apply(member, name, value);
                }
            }
        }
        other => {
            target.insert(name.to_owned(), other.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: serde_json::Value) -> Map<String, Value> {
        Value::from(value).as_object().cloned().unwrap_or_default()
    }

    /// The cases of RFC 7396, appendix A, whose target and patch are objects.
    #[test]
    fn the_cases_of_the_standard() {
        for (target, patch, expected) in [
            (json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"b"}), json!({"b":"c"}), json!({"a":"b","b":"c"})),
            (json!({"a":"b"}), json!({"a":null}), json!({})),
            (
                json!({"a":"b","b":"c"}),
                json!({"a":null}),
                json!({"b":"c"}),
            ),
            (json!({"a":["b"]}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"c"}), json!({"a":["b"]}), json!({"a":["b"]})),
            (
                json!({"a":{"b":"c"}}),
                json!({"a":{"b":"d","c":null}}),
                json!({"a":{"b":"d"}}),
            ),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"e":null,"a":1})),
            (
                json!({}),
                json!({"a":{"bb":{"ccc":null}}}),
                json!({"a":{"bb":{}}}),
            ),
        ] {
            let mut found = object(target);
            for (name, value) in &object(patch) {
                apply(&mut found, name, value);
            }
            assert_eq!(found, object(expected));
        }
    }

    #[test]
    fn the_result_is_a_document_of_the_same_url() {
        let document = Document {
            url: "u".into(),
            title: "t".into(),
            body: "b".into(),
            fields: object(json!({"n": 1, "o": {"x": 1}})),
            ..Document::default()
        };
        let patch = object(json!({"url": "v", "title": "T", "n": null, "o": {"y": 2}, "id": "7"}));
        let found = patched(&document, &patch).unwrap();
        assert_eq!(
            (&*found.url, &*found.title, &*found.body, found.id()),
            ("u", "T", "b", "7")
        );
        assert_eq!(found.fields, object(json!({"o": {"x": 1, "y": 2}})));
        let none = patched(&document, &object(json!({"title": null, "body": null})));
        assert!(none.unwrap_err().contains("neither"));
        let wrong = patched(&document, &object(json!({"body": 3})));
        assert!(wrong.unwrap_err().contains("`body` must be"));
    }
}
