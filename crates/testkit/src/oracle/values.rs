//! Words of the values of fields, by their definition.

use crate::places::Place;
use fields::{FieldType, Schema, Value};
use index::Field;

/// Returns the type of a field, and the text whose words are searched of one of its values: a text or a number as it was
/// written, of a date its day; `None` where there is none.
pub(super) fn words_of(
    schema: &Schema,
    path: &str,
    value: &json::Value,
) -> Option<(FieldType, String)> {
    let kind = schema.get(path).filter(|_| schema.is_searched(path))?;
    let text = match (value, value.as_str()) {
        (_, Some(text)) => text.to_owned(),
        (json::Value::Number(number), None) if kind != FieldType::Text => number.to_string(),
        _ => return None,
    };
    let is_date = kind == FieldType::Date && Value::of(kind, value).is_some();
    let day = || text.trim().chars().take("2024-05-06".len()).collect();
    Some((kind, if is_date { day() } else { text }))
}

/// Adds the places of a value to those of a field. A value that is compared as a whole stands apart: no phrase reaches into
/// it from outside.
pub(super) fn append(field: &mut Vec<Place>, kind: FieldType, value: Vec<Place>) {
    if kind != FieldType::Text && !value.is_empty() {
        field.push(Place::new());
    }
    field.extend(value);
}

/// Returns the number of words of a field. The empty places between values count in the text alone.
pub(super) fn words_count(field: Field, places: &[Place]) -> usize {
    match field {
        Field::Text => places.len(),
        _ => places.iter().filter(|place| !place.is_empty()).count(),
    }
}
