//! Schema: the fields of an index and their types.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Upper limit on the fields of a schema. Further fields are stored, and cannot be searched.
pub const FIELDS_MAX: usize = 1_000;
/// Upper limit on the name of a field, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Type of the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    /// Short text that is compared as a whole.
    Keyword,
    /// Integer of 64 bits.
    #[serde(rename = "i64")]
    Integer,
    /// Floating-point number of 64 bits.
    #[serde(rename = "f64")]
    Float,
    /// True or false.
    Bool,
    /// Instant, in microseconds since 1970 in UTC.
    Date,
    /// Long text. It is stored, and cannot be filtered, sorted or counted.
    Text,
}

impl FieldType {
    /// All types.
    pub const ALL: [FieldType; 6] = [
        FieldType::Keyword,
        FieldType::Integer,
        FieldType::Float,
        FieldType::Bool,
        FieldType::Date,
        FieldType::Text,
    ];

    /// Returns the name in schemas.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Keyword => "keyword",
            FieldType::Integer => "i64",
            FieldType::Float => "f64",
            FieldType::Bool => "bool",
            FieldType::Date => "date",
            FieldType::Text => "text",
        }
    }

    /// Returns the type with a name; `None` where there is none.
    pub fn of_name(name: &str) -> Option<FieldType> {
        FieldType::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether the field has a column.
    pub fn is_columnar(self) -> bool {
        self != FieldType::Text
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Fields of an index, by name. A type never changes once it is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(BTreeMap<String, FieldType>);

impl Schema {
    /// Returns whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the type of a field.
    pub fn get(&self, name: &str) -> Option<FieldType> {
        self.0.get(name).copied()
    }

    /// Sets the type of a field that is not in the schema yet, where there is room. Returns whether the field has that
    /// type now.
    pub fn add(&mut self, name: &str, kind: FieldType) -> bool {
        if let Some(known) = self.get(name) {
            return known == kind;
        }
        let has_room = self.0.len() < FIELDS_MAX && name.len() <= NAME_BYTES_MAX;
        if has_room {
            self.0.insert(name.to_owned(), kind);
        }
        has_room
    }

    /// Returns the fields in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FieldType)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), *kind))
    }

    /// Returns the fields that have columns, in the order of their names.
    pub fn columnar(&self) -> impl Iterator<Item = (&str, FieldType)> {
        self.iter().filter(|(_, kind)| kind.is_columnar())
    }
}

impl<S: Into<String>> FromIterator<(S, FieldType)> for Schema {
    fn from_iter<I: IntoIterator<Item = (S, FieldType)>>(fields: I) -> Schema {
        Schema(
            fields
                .into_iter()
                .map(|(name, kind)| (name.into(), kind))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_stay_and_names_are_limited() {
        let mut schema = Schema::default();
        assert!(schema.add("a", FieldType::Date));
        assert!(!schema.add("a", FieldType::Bool));
        assert_eq!(schema.get("a"), Some(FieldType::Date));
        assert!(!schema.add(&"n".repeat(NAME_BYTES_MAX + 1), FieldType::Bool));
        for number in 0..2 * FIELDS_MAX {
            schema.add(&format!("f{number}"), FieldType::Integer);
        }
        assert_eq!(schema.iter().count(), FIELDS_MAX);
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        assert!(json.contains("\"f1\":\"i64\""));
    }
}
