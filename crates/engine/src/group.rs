//! Group of a hit: the value by which hits are collapsed, as a number.

use fields::Value;
use xxhash_rust::xxh3::xxh3_64;

/// Hash of a value by which hits are collapsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group(u64);

impl Group {
    /// Returns the group of a value.
    pub fn of(value: &Value) -> Group {
        let bytes = match value {
            Value::Keyword(text) => return Group(xxh3_64(text.as_bytes())),
            Value::Integer(number) | Value::Date(number) => number.to_le_bytes(),
            Value::Float(number) => number.to_bits().to_le_bytes(),
            Value::Bool(truth) => u64::from(*truth).to_le_bytes(),
        };
        Group(xxh3_64(&bytes))
    }
}
