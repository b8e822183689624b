//! Values of lists and objects, up to a depth.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reader of a value with an upper limit on the depth of its lists and objects. What is nested deeper is skipped without
/// recursion, and the value is `None`.
#[derive(Clone, Copy)]
pub(super) struct Nested(pub(super) usize);

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(
            Number::from_f64(value).map_or(Value::Null, Value::Number),
        ))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut kept = Some(Vec::new());
        if let Some(depth) = self.0.checked_sub(1) {
            while let Some(value) = list.next_element_seed(Nested(depth))? {
                match (&mut kept, value) {
                    (Some(values), Some(value)) => values.push(value),
                    _ => kept = None,
                }
            }
            return Ok(kept.map(Value::Array));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut kept = Some(Map::new());
        if let Some(depth) = self.0.checked_sub(1) {
            while let Some(name) = map.next_key::<String>()? {
                match (&mut kept, map.next_value_seed(Nested(depth))?) {
                    (Some(values), Some(value)) => {
                        values.insert(name, value);
                    }
                    _ => kept = None,
                }
            }
            return Ok(kept.map(Value::Object));
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
