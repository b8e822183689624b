//! Values of the fields of made-up documents, by their definition.

use document::Document;
use fields::{FieldType, Value, each_leaf};

/// Types of the fields of made-up documents.
pub const FIELD_TYPES: [(&str, FieldType); 5] = [
    ("b", FieldType::Bool),
    ("f", FieldType::Float),
    ("k", FieldType::Keyword),
    ("n", FieldType::Integer),
    ("t", FieldType::Date),
];

/// Returns the values of a document's fields, by the types of made-up documents.
pub fn values_of(document: &Document) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    each_leaf(&document.fields, &mut |path, json| {
        let known = FIELD_TYPES.iter().find(|(name, _)| *name == path);
        let value = known.and_then(|(_, kind)| Value::of(*kind, json));
        values.extend(value.map(|value| (path.to_owned(), value)));
    });
    values
}
