//! Conversion of values of fields and their tests to messages, and back.

use fields::{Limit, Test, Value};
use wire::rpc;
use wire::rpc::value::Kind;
use wire::rpc::value_test::Test as TestMessage;

pub(super) fn value_message(value: &Value) -> rpc::Value {
    let kind = match value {
        Value::Keyword(word) => Kind::Keyword(word.clone()),
        Value::Integer(number) => Kind::Integer(*number),
        Value::Float(number) => Kind::Float(*number),
        Value::Bool(truth) => Kind::Truth(*truth),
        Value::Date(micros) => Kind::Date(*micros),
    };
    rpc::Value { kind: Some(kind) }
}

/// Returns the value of a message; `None` where no field has such a value.
pub(super) fn value(message: rpc::Value) -> Option<Value> {
    Some(match message.kind? {
        Kind::Keyword(word) => Value::keyword(&word)?,
        Kind::Integer(number) => Value::Integer(number),
        Kind::Float(number) => Value::float(number)?,
        Kind::Truth(truth) => Value::Bool(truth),
        Kind::Date(micros) => Value::Date(micros),
    })
}

pub(super) fn test_message(field: &str, test: &Test) -> rpc::ValueTest {
    let limit = |limit: &Option<Limit>| {
        limit.as_ref().map(|limit| rpc::ValueLimit {
            value: Some(value_message(&limit.value)),
            inclusive: limit.inclusive,
        })
    };
    let test = match test {
        Test::Exists => TestMessage::Exists(rpc::Nothing {}),
        Test::Prefix(prefix) => TestMessage::Prefix(prefix.clone()),
        Test::Range { low, high } => TestMessage::Range(rpc::ValueRange {
            low: limit(low),
            high: limit(high),
        }),
    };
    rpc::ValueTest {
        field: field.to_owned(),
        test: Some(test),
    }
}

/// Returns the test of a message; `None` where it is of an unknown kind.
pub(super) fn test(message: rpc::ValueTest) -> Option<Test> {
    let limit = |message: Option<rpc::ValueLimit>| -> Option<Option<Limit>> {
        let Some(message) = message else {
            return Some(None);
        };
        Some(Some(Limit {
            value: value(message.value?)?,
            inclusive: message.inclusive,
        }))
    };
    Some(match message.test? {
        TestMessage::Exists(_) => Test::Exists,
        TestMessage::Prefix(prefix) => Test::Prefix(prefix),
        TestMessage::Range(range) => Test::Range {
            low: limit(range.low)?,
            high: limit(range.high)?,
        },
    })
}
