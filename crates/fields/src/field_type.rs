//! Types of the values of fields.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Type of the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    /// Short text that is compared as a whole. Its words are searched, too.
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
    /// Long text. Its words are searched, and it cannot be filtered, sorted or counted.
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

    /// Returns whether the values are numbers, which can have a prior.
    pub fn is_number(self) -> bool {
        matches!(self, FieldType::Integer | FieldType::Float)
    }

    /// Returns whether a field of the type has words of its own, which `name:word` finds.
    pub fn has_words(self) -> bool {
        matches!(self, FieldType::Text | FieldType::Keyword)
    }

    /// Returns whether values can belong to the text of the document alone.
    pub(crate) fn may_be_in_text(self) -> bool {
        !matches!(self, FieldType::Text | FieldType::Bool)
    }

    /// Returns whether the words of a value are the same under another type.
    pub(crate) fn is_cut_as(self, other: FieldType) -> bool {
        self.is_number() && other.is_number()
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
