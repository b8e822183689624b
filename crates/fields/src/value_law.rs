//! Law by which a column's values were made of JSON.
//!
//! A column is derived from stored documents once, so columns that earlier programs wrote have the values of their law until
//! they are derived again, and are checked by it.

use crate::dates;
use crate::field_type::FieldType;
use crate::value::Value;
use json::Value as Json;
use serde::{Deserialize, Serialize};

/// Law of the conversion of JSON to values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum ValueLaw {
    /// Texts are no numbers, integers beyond 64 bits are rounded in fields of floats, and dates end on 30 December 9999.
    #[default]
    First,
    /// Law of [`Value::of`].
    Second,
}

impl From<ValueLaw> for u8 {
    fn from(law: ValueLaw) -> u8 {
        match law {
            ValueLaw::First => 1,
            ValueLaw::Second => 2,
        }
    }
}

impl TryFrom<u8> for ValueLaw {
    type Error = String;

    fn try_from(number: u8) -> Result<ValueLaw, String> {
        match number {
            1 => Ok(ValueLaw::First),
            2 => Ok(ValueLaw::Second),
            _ => Err(format!(
                "values of law {number}; a later program wrote them"
            )),
        }
    }
}

impl ValueLaw {
    /// Returns whether this is the first law.
    pub fn is_first(&self) -> bool {
        *self == ValueLaw::First
    }

    /// Returns the value of a JSON leaf in a field of type `kind`; `None` where it does not fit.
    pub fn value(self, kind: FieldType, json: &Json) -> Option<Value> {
        match self {
            ValueLaw::First => first(kind, json),
            ValueLaw::Second => Value::of(kind, json),
        }
    }

    /// Returns whether the law makes the same value of a leaf as [`Value::of`] does. Cheap for most leaves.
    pub fn agrees(self, kind: FieldType, json: &Json) -> bool {
        let is_same = match (kind, json) {
            (FieldType::Keyword | FieldType::Text, _) => true,
            (FieldType::Integer, Json::Number(number)) => number.as_i64().is_some(),
            (_, Json::Number(_) | Json::String(_)) => false,
            _ => true,
        };
        is_same || self.value(kind, json) == Value::of(kind, json)
    }
}

fn first(kind: FieldType, json: &Json) -> Option<Value> {
    match (kind, json) {
        (FieldType::Integer, Json::Number(number)) if number.as_i64().is_none() => {
            let float = number.as_f64()?;
            let range = -(2f64.powi(63))..2f64.powi(63);
            let is_whole = float.fract() == 0.0 && range.contains(&float);
            is_whole.then_some(Value::Integer(float as i64))
        }
        (FieldType::Float, Json::Number(number)) => Value::float(number.as_f64()?),
        (FieldType::Integer | FieldType::Float | FieldType::Bool, Json::String(_)) => None,
        (FieldType::Date, Json::String(text)) => {
            let instant = dates::parse(text)?;
            dates::is_timestamp(instant).then_some(Value::Date(instant))
        }
        (FieldType::Date, Json::Number(number)) => {
            dates::of_epoch(number.as_i64()?).map(Value::Date)
        }
        _ => Value::of(kind, json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_differ_in_what_was_wrong() {
        let agrees = |kind, json: &str| ValueLaw::First.agrees(kind, &json::parse(json).unwrap());
        for (kind, json) in [
            (FieldType::Integer, "5"),
            (FieldType::Integer, "5.0"),
            (FieldType::Integer, "\"many\""),
            (FieldType::Float, "0.1"),
            (FieldType::Float, "18446744073709551616"),
            (FieldType::Date, "\"2024-05-06\""),
            (FieldType::Date, "\"soon\""),
            (FieldType::Date, "1700000000"),
            (FieldType::Bool, "true"),
            (FieldType::Keyword, "1.10"),
        ] {
            assert!(agrees(kind, json), "{kind} {json}");
        }
        for (kind, json) in [
            (FieldType::Integer, "\"5\""),
            (FieldType::Integer, "9007199254740993.0"),
            (FieldType::Float, "18446744073709551614"),
            (FieldType::Float, "1e-5000"),
            (FieldType::Bool, "\"true\""),
            (FieldType::Date, "\" 2024-05-06\""),
            (FieldType::Date, "\"9999-12-31\""),
            (FieldType::Date, "1949"),
        ] {
            assert!(!agrees(kind, json), "{kind} {json}");
        }
        assert_eq!(serde_json::to_string(&ValueLaw::Second).unwrap(), "2");
        assert!(serde_json::from_str::<ValueLaw>("3").is_err());
    }
}
