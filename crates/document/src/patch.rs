//! JSON Merge Patch (RFC 7396) of a document.

use crate::part_names::PartNames;
use crate::text_of_value::{scalar, text, without_nul};
use crate::{Document, ID_BYTES_MAX, LineError, PART_NAMES};
use json::{Map, Value};

impl Document {
    /// Returns the document after a patch of its fields, of `id`, `title` and `body` among them. The URL stays. Title and body
    /// that are fields by other names change with those.
    ///
    /// # Errors
    /// The result is no document.
    pub fn patched(&self, patch: &Map) -> Result<Document, LineError> {
        if patch.contains_key(PART_NAMES) {
            return Err(LineError::Reserved);
        }
        let mut fields = self.fields.clone();
        let mut names = PartNames::of(&fields);
        for (name, value) in patch {
            if !matches!(&**name, "url" | "id" | "title" | "body") {
                apply(&mut fields, name, value);
            }
        }
        let id = match patch.get("id") {
            None => self.id.clone(),
            Some(id) => changed("id", id, scalar)?.filter(|id| !id.is_empty()),
        };
        if let Some(id) = id.as_ref().filter(|id| id.len() > ID_BYTES_MAX) {
            return Err(LineError::LongId { bytes: id.len() });
        }
        let title = match patch.get("title") {
            Some(title) => {
                names.forget_title();
                changed("title", title, text)?.unwrap_or_default()
            }
            None => names
                .title_in(&fields)
                .unwrap_or_else(|| self.title.clone()),
        };
        let body = match patch.get("body") {
            Some(body) => {
                names.forget_body();
                changed("body", body, text)?.unwrap_or_default()
            }
            None => names.body_in(&fields).unwrap_or_else(|| self.body.clone()),
        };
        without_nul("title", &title)?;
        without_nul("body", &body)?;
        names.note_in(&mut fields);
        Ok(Document {
            url: self.url.clone(),
            id,
            title,
            body,
            fields,
        })
    }
}

/// Reads the new value of a part; `None` for null.
fn changed(
    field: &'static str,
    value: &Value,
    read: fn(&Value) -> Option<String>,
) -> Result<Option<String>, LineError> {
    let text = match value {
        Value::Null => return Ok(None),
        value => read(value).ok_or(LineError::WrongType {
            field,
            expected: "text",
            found: value.kind(),
        })?,
    };
    without_nul(field, &text)?;
    Ok(Some(text))
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
    use crate::{Mapper, Origin};
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
        let found = document.patched(&patch).unwrap();
        assert_eq!(
            (&*found.url, &*found.title, &*found.body, found.id()),
            ("u", "T", "b", "7")
        );
        assert_eq!(found.fields, object(json!({"o": {"x": 1, "y": 2}})));
        let none = document.patched(&object(json!({"title": null, "body": null})));
        let none = none.unwrap();
        assert_eq!((&*none.title, &*none.body), ("", ""));
        let wrong = document.patched(&object(json!({"body": {"a": 3}})));
        assert!(wrong.unwrap_err().to_string().contains("`body` must be"));
    }

    #[test]
    fn parts_follow_the_fields_that_they_are() {
        let record = object(json!({"url": "u", "headline": "T", "message": "m", "n": 1}));
        let sent = Mapper::default().document(record, Origin::Request).unwrap();
        let patch = |document: &Document, patch| document.patched(&object(patch)).unwrap();
        let moved = patch(&sent, json!({"message": "changed", "headline": ["a", "b"]}));
        assert_eq!((&*moved.title, &*moved.body), ("a\nb", "changed"));
        let gone = patch(&moved, json!({"message": null}));
        assert_eq!((&*gone.title, &*gone.body), ("a\nb", ""));
        // A body of its own no longer follows.
        let own = patch(&moved, json!({"body": "own"}));
        let own = patch(&own, json!({"message": "other"}));
        assert_eq!(
            (&*own.body, own.fields["message"].as_str()),
            ("own", Some("other"))
        );
        // A field that repeats the body and is not it does not lead it.
        let repeated = object(json!({"url": "u", "body": "m", "summary": "m"}));
        let repeated = Mapper::default()
            .document(repeated, Origin::Request)
            .unwrap();
        assert_eq!(patch(&repeated, json!({"summary": "s"})).body, "m");
        let reserved = sent.patched(&object(json!({"_names": {"body": ["n"]}})));
        assert_eq!(reserved.unwrap_err(), LineError::Reserved);
    }
}
