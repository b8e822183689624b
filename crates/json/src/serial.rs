//! Values as text and by serde, with numbers as they were written.

use crate::parse::parse;
use crate::value::Value;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Number(number) => match (number.written(), number.as_u64(), number.as_i64()) {
                (Some(text), ..) => RawValue::from_string(text.to_owned())
                    .map_err(S::Error::custom)?
                    .serialize(serializer),
                (None, Some(number), _) => serializer.serialize_u64(number),
                (None, None, number) => serializer.serialize_i64(number.unwrap_or_default()),
            },
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(values) => serializer.collect_seq(values),
            Value::Object(map) => serializer.collect_map(map),
        }
    }
}

/// From JSON alone: other formats have no numbers as they were written.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        parse(raw.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Map;

    #[test]
    fn serde_keeps_numbers() {
        #[derive(Serialize, Deserialize)]
        struct Holder {
            fields: Map,
        }
        let text = r#"{"fields":{"a":12345678901234567890123,"b":[1.10,-0,1E5],"c":{"d":1e-5000,"e":"\n"}}}"#;
        let holder: Holder = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&holder).unwrap(), text);
        assert_eq!(holder.fields["b"].to_string(), "[1.10,-0,1E5]");
        let of_reader: Holder = serde_json::from_reader(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&of_reader).unwrap(), text);
    }

    #[test]
    fn values_compare_with_those_of_programs() {
        let made = serde_json::json!({"a": [1, -2, 2.5, null, true, "x"]});
        let value = parse(&made.to_string()).unwrap();
        assert_eq!(value, made);
        let list = &value["a"];
        assert!(list[0] == 1 && list[1] == -2 && list[2] == 2.5 && list[5] == *"x");
        assert!(list[9].is_null() && value["b"]["c"].is_null());
        let numbers: Value = vec![1u32, 2].into();
        assert_eq!(numbers.to_string(), "[1,2]");
    }
}
