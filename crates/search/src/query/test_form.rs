//! Serialized form of tests of values: `"exists"`, `{"prefix":"a"}`, `{"range":{"low":{"value":{"integer":3},"inclusive":true}}}`.

use fields::{Limit, Test, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TestForm {
    Exists,
    Prefix(String),
    Range {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<LimitForm>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<LimitForm>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitForm {
    value: ValueForm,
    inclusive: bool,
}

/// Value with the type of its field; a date is in microseconds since 1970.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueForm {
    Keyword(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date(i64),
}

impl From<&Limit> for LimitForm {
    fn from(limit: &Limit) -> LimitForm {
        let value = match &limit.value {
            Value::Keyword(word) => ValueForm::Keyword(word.clone()),
            Value::Integer(number) => ValueForm::Integer(*number),
            Value::Float(number) => ValueForm::Float(*number),
            Value::Bool(truth) => ValueForm::Bool(*truth),
            Value::Date(micros) => ValueForm::Date(*micros),
        };
        LimitForm {
            value,
            inclusive: limit.inclusive,
        }
    }
}

impl LimitForm {
    /// Returns the limit; `None` where no field has such a value.
    fn limit(self) -> Option<Limit> {
        let value = match self.value {
            ValueForm::Keyword(word) => Value::keyword(&word)?,
            ValueForm::Integer(number) => Value::Integer(number),
            ValueForm::Float(number) => Value::float(number)?,
            ValueForm::Bool(truth) => Value::Bool(truth),
            ValueForm::Date(micros) => Value::Date(micros),
        };
        Some(Limit {
            value,
            inclusive: self.inclusive,
        })
    }
}

pub(super) fn serialize<S: Serializer>(test: &Test, to: S) -> Result<S::Ok, S::Error> {
    let form = match test {
        Test::Exists => TestForm::Exists,
        Test::Prefix(start) => TestForm::Prefix(start.clone()),
        Test::Range { low, high } => TestForm::Range {
            low: low.as_ref().map(LimitForm::from),
            high: high.as_ref().map(LimitForm::from),
        },
    };
    form.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Test, D::Error> {
    let limit = |form: Option<LimitForm>| match form.map(LimitForm::limit) {
        None => Ok(None),
        Some(Some(limit)) => Ok(Some(limit)),
        Some(None) => Err(serde::de::Error::custom("a value that no field has")),
    };
    Ok(match TestForm::deserialize(from)? {
        TestForm::Exists => Test::Exists,
        TestForm::Prefix(start) => Test::Prefix(start),
        TestForm::Range { low, high } => Test::Range {
            low: limit(low)?,
            high: limit(high)?,
        },
    })
}
