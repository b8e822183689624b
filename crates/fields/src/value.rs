//! Values of fields, and keys that order them.

use crate::dates;
use crate::field_type::FieldType;
use json::Value as Json;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// Upper limit on a keyword, in bytes. Longer ones do not fit their field.
pub const KEYWORD_BYTES_MAX: usize = 1_024;

/// Value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Value of a keyword field.
    Keyword(String),
    /// Value of an integer field.
    Integer(i64),
    /// Value of a float field; finite, and never −0.
    Float(f64),
    /// Value of a bool field.
    Bool(bool),
    /// Value of a date field, in microseconds since 1970.
    Date(i64),
}

/// Numbers that stand for years where dates are meant, and not for seconds of the first hours of 1970.
const YEARS: std::ops::RangeInclusive<i64> = 1_000..=9_999;

/// Sign bit: flipped, it lets unsigned integers compare as the signed ones.
const SIGN: u64 = 1 << 63;

impl Value {
    /// Returns the value of a JSON leaf in a field of type `kind`; `None` where it does not fit.
    pub fn of(kind: FieldType, json: &Json) -> Option<Value> {
        Some(match (kind, json) {
            (FieldType::Keyword, Json::String(text)) => Value::keyword(text)?,
            (FieldType::Keyword, Json::Number(number)) => Value::keyword(&number.text())?,
            (FieldType::Keyword, Json::Bool(truth)) => Value::Keyword(truth.to_string()),
            (FieldType::Integer, Json::Number(number)) => match number.as_i64() {
                Some(integer) => Value::Integer(integer),
                None => Value::integer_of(&number.text())?,
            },
            (FieldType::Integer, Json::String(text)) => Value::integer_of(text)?,
            (FieldType::Float, Json::Number(number)) => Value::float_of(&number.text())?,
            (FieldType::Float, Json::String(text)) => Value::float_of(text)?,
            (FieldType::Bool, Json::Bool(truth)) => Value::Bool(*truth),
            (FieldType::Bool, Json::String(text)) => Value::Bool(truth(text)?),
            (FieldType::Date, Json::String(text)) => Value::Date(dates::parse(text.trim())?),
            (FieldType::Date, Json::Number(number)) => {
                let number = number.as_i64().filter(|number| !YEARS.contains(number))?;
                Value::Date(dates::of_epoch(number)?)
            }
            _ => return None,
        })
    }

    /// Returns a keyword; `None` where it is too long.
    pub fn keyword(text: &str) -> Option<Value> {
        (text.len() <= KEYWORD_BYTES_MAX).then(|| Value::Keyword(text.to_owned()))
    }

    /// Returns a float; `None` for infinities and NaN. −0 becomes 0.
    pub fn float(number: f64) -> Option<Value> {
        number.is_finite().then_some(Value::Float(number + 0.0))
    }

    /// Returns the key of a value that is no keyword: keys of one type are in the order of their values.
    pub fn key(&self) -> Option<u64> {
        Some(match self {
            Value::Keyword(_) => return None,
            Value::Integer(number) | Value::Date(number) => *number as u64 ^ SIGN,
            Value::Float(number) => {
                let bits = (number + 0.0).to_bits();
                match bits & SIGN {
                    0 => bits | SIGN,
                    _ => !bits,
                }
            }
            Value::Bool(truth) => u64::from(*truth),
        })
    }

    /// Returns the value of a key; `None` for keywords, and for keys that no value has.
    pub fn of_key(kind: FieldType, key: u64) -> Option<Value> {
        match kind {
            FieldType::Integer => Some(Value::Integer((key ^ SIGN) as i64)),
            FieldType::Date => Some(Value::Date((key ^ SIGN) as i64)),
            FieldType::Bool => (key <= 1).then_some(Value::Bool(key == 1)),
            FieldType::Float => {
                let bits = match key & SIGN {
                    0 => !key,
                    _ => key ^ SIGN,
                };
                Value::float(f64::from_bits(bits))
            }
            FieldType::Keyword | FieldType::Text => None,
        }
    }

    /// Returns the order of two values of one field: of numbers by size, of keywords by their bytes.
    pub fn order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Keyword(a), Value::Keyword(b)) => a.cmp(b),
            _ => self.key().cmp(&other.key()),
        }
    }

    /// Returns the JSON form: dates as text.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Keyword(text) => text.as_str().into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::Bool(truth) => (*truth).into(),
            Value::Date(micros) => dates::text(*micros).into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Keyword(text) => f.write_str(text),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => match number.abs() {
                0.0 | 1e-5..1e16 => write!(f, "{number}"),
                _ => write!(f, "{number:e}"),
            },
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Date(micros) => f.write_str(&dates::text(*micros)),
        }
    }
}

/// Returns the truth value that a text names, in any case of its letters.
fn truth(text: &str) -> Option<bool> {
    let is = |word: &str| text.trim().eq_ignore_ascii_case(word);
    match (is("true"), is("false")) {
        (false, false) => None,
        (truth, _) => Some(truth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(kind: FieldType, json: &str) -> Option<Value> {
        Value::of(kind, &serde_json::from_str(json).unwrap())
    }

    #[test]
    fn values_fit_their_types_or_not() {
        assert_eq!(of(FieldType::Integer, "5.0"), Some(Value::Integer(5)));
        assert_eq!(of(FieldType::Integer, "5.5"), None);
        assert_eq!(of(FieldType::Integer, "9223372036854775808"), None);
        assert_eq!(of(FieldType::Integer, "\"5\""), Some(Value::Integer(5)));
        assert_eq!(of(FieldType::Integer, "\" 5 \""), Some(Value::Integer(5)));
        assert_eq!(of(FieldType::Integer, "\"5 cm\""), None);
        assert_eq!(of(FieldType::Float, "\"25.50\""), Some(Value::Float(25.5)));
        assert_eq!(of(FieldType::Float, "18446744073709551614"), None);
        assert_eq!(of(FieldType::Float, "1e-5000"), None);
        assert_eq!(of(FieldType::Bool, "\"True\""), Some(Value::Bool(true)));
        assert_eq!(of(FieldType::Bool, "\"yes\""), None);
        for number in ["18446744073709551614", "1.10", "1E5", "-0"] {
            let keyword = Some(Value::Keyword(number.to_owned()));
            assert_eq!(of(FieldType::Keyword, number), keyword);
        }
        assert_eq!(of(FieldType::Date, "1949"), None);
        assert_eq!(of(FieldType::Date, "\"1949\""), None);
        assert_eq!(of(FieldType::Float, "-0.0"), Some(Value::Float(0.0)));
        assert_eq!(of(FieldType::Float, "3"), Some(Value::Float(3.0)));
        assert_eq!(of(FieldType::Bool, "1"), None);
        assert_eq!(
            of(FieldType::Keyword, "1.5"),
            Some(Value::Keyword("1.5".into()))
        );
        assert_eq!(of(FieldType::Date, "0"), Some(Value::Date(0)));
        assert_eq!(of(FieldType::Date, "\"soon\""), None);
        assert_eq!(of(FieldType::Text, "\"x\""), None);
        let long = format!("\"{}\"", "k".repeat(KEYWORD_BYTES_MAX + 1));
        assert_eq!(of(FieldType::Keyword, &long), None);
        assert_eq!(Value::float(f64::NAN), None);
        assert_eq!(Value::float(-0.0).unwrap().key(), Value::Float(0.0).key());
    }

    proptest! {
        #[test]
        fn keys_keep_the_order_and_come_back(a in any::<i64>(), b in any::<i64>()) {
            let (x, y) = (Value::Integer(a), Value::Integer(b));
            prop_assert_eq!(x.key().cmp(&y.key()), a.cmp(&b));
            prop_assert_eq!(Value::of_key(FieldType::Integer, x.key().unwrap()), Some(x));
        }

        #[test]
        fn keys_of_floats_keep_the_order(a in any::<u64>(), b in any::<u64>()) {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            prop_assume!(a.is_finite() && b.is_finite());
            let (x, y) = (Value::float(a).unwrap(), Value::float(b).unwrap());
            prop_assert_eq!(x.key().cmp(&y.key()), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(Value::of_key(FieldType::Float, x.key().unwrap()), Some(x));
        }
    }
}
