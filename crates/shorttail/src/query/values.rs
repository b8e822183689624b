//! Tests of the values of fields.

use crate::error::{Error, Result};
use fields::{FieldType, RangeEnd, Schema, Test, Value};

/// Value of a field in a query: a text, a number, a truth value. A date is a text: `2024`, `2024-05-06`,
/// `2024-05-06T12:30:00Z`.
///
/// ```
/// use shorttail::FieldValue;
///
/// assert_eq!(FieldValue::from(3), FieldValue::from("3"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldValue(String);

impl From<&str> for FieldValue {
    fn from(text: &str) -> FieldValue {
        FieldValue(text.to_owned())
    }
}

impl From<String> for FieldValue {
    fn from(text: String) -> FieldValue {
        FieldValue(text)
    }
}

impl FieldValue {
    pub(super) fn as_text(&self) -> &str {
        &self.0
    }
}

macro_rules! from_displayed {
    ($($kind:ty)*) => {$(
        impl From<$kind> for FieldValue {
            fn from(value: $kind) -> FieldValue {
                FieldValue(value.to_string())
            }
        }
    )*};
}

from_displayed!(i32 i64 u32 u64 f64 bool);

/// End of a range, and whether it is in the range.
type End = (FieldValue, bool);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueTest {
    Equals(FieldValue),
    Range { low: Option<End>, high: Option<End> },
    Prefix(String),
    Exists,
}

impl ValueTest {
    /// Returns the test for a field of a schema.
    pub(super) fn of(&self, field: &str, schema: &Schema) -> Result<Test> {
        let kind = schema.get(field).ok_or_else(|| unknown(field, schema))?;
        let refused = |reason: String| Error::query(format!("{field}: {reason}"));
        if !kind.is_columnar() {
            return Err(refused(
                "its texts are long: search for their words instead".to_owned(),
            ));
        }
        let between = |low: Option<&End>, high: Option<&End>| {
            Test::between(kind, low.map(range_end), high.map(range_end))
                .map_err(|bad| refused(bad.reason))
        };
        match self {
            ValueTest::Exists => Ok(Test::Exists),
            ValueTest::Prefix(start) if kind == FieldType::Keyword => {
                Ok(Test::Prefix(start.clone()))
            }
            ValueTest::Prefix(_) => Err(refused(format!(
                "a field of {kind} has no values that begin with a text"
            ))),
            ValueTest::Equals(FieldValue(text)) if kind == FieldType::Keyword => {
                let value = Value::keyword(text);
                value
                    .map(Test::equals)
                    .ok_or_else(|| refused("the value is longer than any in the field".to_owned()))
            }
            ValueTest::Equals(value) => {
                let end = (value.clone(), true);
                between(Some(&end), Some(&end))
            }
            ValueTest::Range { low, high } => between(low.as_ref(), high.as_ref()),
        }
    }
}

fn range_end((FieldValue(text), inclusive): &End) -> RangeEnd<'_> {
    RangeEnd {
        text,
        inclusive: *inclusive,
    }
}

/// Returns the refusal of a field that the schema lacks.
pub(super) fn unknown(field: &str, schema: &Schema) -> Error {
    let names: Vec<&str> = schema.iter().map(|(name, _)| name).collect();
    Error::query(match names.is_empty() {
        true => format!("there is no field {field:?}: no document has further fields"),
        false => format!(
            "there is no field {field:?}; the fields are {}",
            names.join(", ")
        ),
    })
}
