//! Bodies of Elasticsearch's `_bulk`: lines that say what to do, each before the line that it is done with.
//!
//! ```text
//! {"index": {"_index": "news", "_id": "7"}}
//! {"title": "Owls", "body": "…"}
//! {"delete": {"_id": "8"}}
//! {"update": {"_id": "9"}}
//! {"doc": {"title": "Mice"}, "doc_as_upsert": true}
//! ```

use crate::LineError;
use crate::record::record;
use json::{Map, Value};

/// What a line says to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Something with the next line.
    Next(NextLine),
    /// A deletion; no line follows.
    Delete(Option<String>),
}

/// Meaning of the line after an action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NextLine {
    /// A document, with this id perhaps.
    Document(Option<String>),
    /// Changes of the document with this id.
    Update(Option<String>),
}

impl Action {
    /// Reads a line: an object whose only field is the name of an action and has an object.
    pub(crate) fn of(line: &[u8]) -> Option<Action> {
        // Documents are longer, and most begin otherwise.
        let line = line.trim_ascii();
        let named = line
            .strip_prefix(b"{")?
            .trim_ascii_start()
            .strip_prefix(b"\"")?;
        let known = ["index\"", "create\"", "update\"", "delete\""];
        if !known.iter().any(|name| named.starts_with(name.as_bytes())) {
            return None;
        }
        let object = record(line).ok()?;
        let mut entries = object.iter();
        let (Some((name, Value::Object(about))), None) = (entries.next(), entries.next()) else {
            return None;
        };
        // What else stands there says where and how, never more.
        let is_about = |key: &String| {
            key.starts_with('_')
                || matches!(
                    &**key,
                    "routing" | "version" | "version_type" | "pipeline" | "op_type"
                )
                || matches!(
                    &**key,
                    "retry_on_conflict"
                        | "require_alias"
                        | "if_seq_no"
                        | "if_primary_term"
                        | "dynamic_templates"
                )
        };
        if !about.keys().all(is_about) {
            return None;
        }
        let id = match about.get("_id") {
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        Some(match &**name {
            "update" => Action::Next(NextLine::Update(id)),
            "delete" => Action::Delete(id),
            _ => Action::Next(NextLine::Document(id)),
        })
    }
}

/// What the line after `update` says.
pub(crate) struct UpdateLine {
    /// Fields to change of the document that there is.
    pub(crate) patch: Map,
    /// Document to write where there is none.
    pub(crate) absent: Option<Map>,
}

impl UpdateLine {
    pub(crate) fn of(mut line: Map) -> Result<UpdateLine, LineError> {
        let Some(Value::Object(patch)) = line.remove("doc") else {
            return Err(LineError::NoPatch);
        };
        let absent = match line.remove("upsert") {
            Some(Value::Object(upsert)) => Some(upsert),
            _ if line.get("doc_as_upsert") == Some(&Value::Bool(true)) => Some(patch.clone()),
            _ => None,
        };
        Ok(UpdateLine { patch, absent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_known() {
        let id = |id: &str| Some(id.to_owned());
        for (line, expected) in [
            (
                r#"{"index":{"_index":"a","_id":"7"}}"#,
                Some(Action::Next(NextLine::Document(id("7")))),
            ),
            (
                r#" { "create" : { "_id" : 7 } } "#,
                Some(Action::Next(NextLine::Document(id("7")))),
            ),
            (
                r#"{"index":{}}"#,
                Some(Action::Next(NextLine::Document(None))),
            ),
            (
                r#"{"update":{"_id":"x","retry_on_conflict":3}}"#,
                Some(Action::Next(NextLine::Update(id("x")))),
            ),
            (r#"{"delete":{"_id":"x"}}"#, Some(Action::Delete(id("x")))),
            // Documents.
            (r#"{"index":{"title":"x"}}"#, None),
            (r#"{"index":"x"}"#, None),
            (r#"{"index":{},"body":"x"}"#, None),
            (r#"{"indexes":{}}"#, None),
            ("{", None),
            ("", None),
        ] {
            assert_eq!(Action::of(line.as_bytes()), expected, "{line}");
        }
    }
}
