//! Serialized form of queries: a text is a text, and a clause is an object of one key, its kind.
//!
//! ```text
//! query := "text"  |  { kind: … }
//! kind  := words  value  site  urls  boolean  at_least  best_of  constant  filter  boosted  named
//! ```
//!
//! docs/formats/request.md has all of it. Unknown kinds and keys are errors that name them; clauses are as deep within each
//! other as parentheses of a text at most.

use super::values::{FieldValue, ValueTest};
use super::{Node, Query};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

impl Serialize for Query {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Node::Text(text) => to.serialize_str(text),
            node => node.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Query {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Query, D::Error> {
        from.deserialize_any(QueryVisitor)
    }
}

struct QueryVisitor;

impl<'de> Visitor<'de> for QueryVisitor {
    type Value = Query;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a query: a text, or an object of one clause")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Query, E> {
        Ok(Query::text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Query, A::Error> {
        Node::deserialize(MapAccessDeserializer::new(map)).map(Query)
    }
}

impl Serialize for FieldValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_text())
    }
}

impl<'de> Deserialize<'de> for FieldValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<FieldValue, D::Error> {
        from.deserialize_any(FieldValueVisitor)
    }
}

struct FieldValueVisitor;

impl Visitor<'_> for FieldValueVisitor {
    type Value = FieldValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: a text, a number, true or false")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<FieldValue, E> {
        Ok(text.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<FieldValue, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<FieldValue, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<FieldValue, E> {
        Ok(number.into())
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<FieldValue, E> {
        Ok(truth.into())
    }
}

impl Serialize for ValueTest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        TestForm::from(self.clone()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for ValueTest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ValueTest, D::Error> {
        TestForm::deserialize(from)?
            .try_into()
            .map_err(D::Error::custom)
    }
}

/// Test of values; of a range, `from` and `to` are in it, `above` and `below` are not.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TestForm {
    Equals(FieldValue),
    Range {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<FieldValue>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<FieldValue>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<FieldValue>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<FieldValue>,
    },
    Prefix(String),
    Exists,
}

impl From<ValueTest> for TestForm {
    fn from(test: ValueTest) -> TestForm {
        match test {
            ValueTest::Equals(value) => TestForm::Equals(value),
            ValueTest::Prefix(start) => TestForm::Prefix(start),
            ValueTest::Exists => TestForm::Exists,
            ValueTest::Range { low, high } => {
                let split = |end: Option<(FieldValue, bool)>| match end {
                    None => (None, None),
                    Some((value, true)) => (Some(value), None),
                    Some((value, false)) => (None, Some(value)),
                };
                let ((from, above), (to, below)) = (split(low), split(high));
                TestForm::Range {
                    from,
                    above,
                    to,
                    below,
                }
            }
        }
    }
}

impl TryFrom<TestForm> for ValueTest {
    type Error = &'static str;

    fn try_from(form: TestForm) -> Result<ValueTest, &'static str> {
        let end = |inside: Option<FieldValue>, outside: Option<FieldValue>| match (inside, outside)
        {
            (Some(_), Some(_)) => Err("a range has one lower and one upper end"),
            (Some(value), None) => Ok(Some((value, true))),
            (None, Some(value)) => Ok(Some((value, false))),
            (None, None) => Ok(None),
        };
        Ok(match form {
            TestForm::Equals(value) => ValueTest::Equals(value),
            TestForm::Prefix(start) => ValueTest::Prefix(start),
            TestForm::Exists => ValueTest::Exists,
            TestForm::Range {
                from,
                above,
                to,
                below,
            } => ValueTest::Range {
                low: end(from, above)?,
                high: end(to, below)?,
            },
        })
    }
}
