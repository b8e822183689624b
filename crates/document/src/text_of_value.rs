//! Texts of JSON values.

use crate::LineError;
use json::{Map, Value};

/// Returns the value of a field, or of `a.b` within an object.
pub(crate) fn get<'a>(record: &'a Map, name: &str) -> Option<&'a Value> {
    if let Some(value) = record.get(name) {
        return Some(value);
    }
    let (outer, inner) = name.split_once('.')?;
    get(record.get(outer)?.as_object()?, inner)
}

pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the text of a value: a string, a number, a truth value, or a list of strings and numbers, one a line.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            let texts: Vec<String> = items.map(scalar).collect::<Option<_>>()?;
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Bool(truth) => Some(truth.to_string()),
        other => scalar(other),
    }
}

/// Refuses a part with NUL.
pub(crate) fn without_nul(part: &'static str, text: &str) -> Result<(), LineError> {
    match memchr::memchr(0, text.as_bytes()) {
        Some(_) => Err(LineError::Nul { field: part }),
        None => Ok(()),
    }
}

/// Returns the texts of fields, one after the other; those without a text are left out.
pub(crate) fn text_of_fields<'n>(fields: &Map, names: impl Iterator<Item = &'n str>) -> String {
    let texts = names.filter_map(|name| get(fields, name).and_then(text));
    texts.collect::<Vec<_>>().join("\n")
}
