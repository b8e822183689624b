//! Value of JSON, and its conversions.

use crate::number::Number;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Index;

/// Object of JSON: values by name, in the order of names.
pub type Map<K = String, V = Value> = BTreeMap<K, V>;

/// Value of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// Null.
    #[default]
    Null,
    /// Truth value.
    Bool(bool),
    /// Number.
    Number(Number),
    /// Text.
    String(String),
    /// List.
    Array(Vec<Value>),
    /// Object.
    Object(Map),
}

/// Value of a missing member.
static NULL: Value = Value::Null;

impl Value {
    /// Returns whether the value is null.
    pub fn is_null(&self) -> bool {
        *self == Value::Null
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    /// Returns the text, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the truth value, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Returns the number, if the value is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the integer, if the value is one of 64 bits with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns the integer, if the value is one of 64 bits without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns the nearest float, if the value is a number and that is finite.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// Returns the list, if the value is one.
    pub fn as_array(&self) -> Option<&Vec<Value>> {
        match self {
            Value::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the list to be changed, if the value is one.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Value::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the object, if the value is one.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the member with a name, if the value is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// Returns the kind of the value with its article, as messages name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

impl Index<&str> for Value {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&NULL)
    }
}

impl Index<usize> for Value {
    type Output = Value;

    fn index(&self, at: usize) -> &Value {
        let values = self.as_array().map_or(&[][..], |values| values);
        values.get(at).unwrap_or(&NULL)
    }
}

macro_rules! from_integers {
    ($wide:ty: $($narrow:ty)*) => {$(
        impl From<$narrow> for Value {
            fn from(number: $narrow) -> Value {
                Value::Number(Number::from(<$wide>::from(number)))
            }
        }
        impl PartialEq<$narrow> for Value {
            fn eq(&self, number: &$narrow) -> bool {
                self.as_number() == Some(&Number::from(<$wide>::from(*number)))
            }
        }
    )*};
}

from_integers!(i64: i8 i16 i32 i64);
from_integers!(u64: u8 u16 u32 u64);

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::from(number as u64)
    }
}

/// Infinities and NaN are null.
impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Value {
        Value::String(text.into_owned())
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Object(map)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        values.into_iter().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Value {
        Value::Array(values.into_iter().map(Into::into).collect())
    }
}

/// Values that programs make of numbers of 64 bits.
impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(truth),
            serde_json::Value::Number(number) => {
                Value::Number(Number::of_scanned(&number.to_string()))
            }
            serde_json::Value::String(text) => Value::String(text),
            serde_json::Value::Array(values) => values.into(),
            serde_json::Value::Object(map) => Value::Object(
                map.into_iter()
                    .map(|(name, value)| (name, value.into()))
                    .collect(),
            ),
        }
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, text: &String) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<bool> for Value {
    fn eq(&self, truth: &bool) -> bool {
        self.as_bool() == Some(*truth)
    }
}

impl PartialEq<f64> for Value {
    fn eq(&self, number: &f64) -> bool {
        self.as_f64() == Some(*number)
    }
}

impl PartialEq<serde_json::Value> for Value {
    fn eq(&self, value: &serde_json::Value) -> bool {
        let value = Value::from(value.clone());
        *self == value
    }
}
