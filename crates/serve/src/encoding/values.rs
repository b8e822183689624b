//! Conversion of values of fields and their tests to messages, and back.

use crate::api::messages::PartitionHits;
use engine::calls::PartError;
use fields::{Facet, FacetCounts, Limit, Test, Value};
use search::{After, FilterRun, FilterWay, SortKey};
use std::sync::Arc;
use wire::rpc;
use wire::rpc::value::Kind;
use wire::rpc::value_test::Test as TestMessage;

pub(crate) fn value_message(value: &Value) -> rpc::Value {
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
pub(crate) fn value(message: rpc::Value) -> Option<Value> {
    Some(match message.kind? {
        Kind::Keyword(word) => Value::keyword(&word)?,
        Kind::Integer(number) => Value::Integer(number),
        Kind::Float(number) => Value::float(number)?,
        Kind::Truth(truth) => Value::Bool(truth),
        Kind::Date(micros) => Value::Date(micros),
    })
}

pub(crate) fn test_message(field: &str, test: &Test) -> rpc::ValueTest {
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
pub(crate) fn test(message: rpc::ValueTest) -> Option<Test> {
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

pub(crate) fn sort_key_message(key: &SortKey) -> rpc::SortKey {
    rpc::SortKey {
        field: key.field.clone(),
        descending: key.descending,
        missing_first: key.missing_first,
    }
}

pub(crate) fn sort_key(message: rpc::SortKey) -> SortKey {
    SortKey {
        field: message.field,
        descending: message.descending,
        missing_first: message.missing_first,
    }
}

pub(crate) fn sort_values_message(values: &[Option<Value>]) -> rpc::SortValues {
    let message = |value: &Option<Value>| match value {
        Some(value) => value_message(value),
        None => rpc::Value { kind: None },
    };
    rpc::SortValues {
        values: values.iter().map(message).collect(),
    }
}

pub(crate) fn sort_values(message: rpc::SortValues) -> Vec<Option<Value>> {
    message.values.into_iter().map(value).collect()
}

pub(crate) fn place_message(after: &After) -> rpc::Place {
    rpc::Place {
        score: after.score,
        values: sort_values_message(&after.values).values,
        url_hash: after.url_hash,
    }
}

/// Returns the place of a message.
pub(crate) fn place(message: rpc::Place) -> Result<Arc<After>, tonic::Status> {
    if message.score.is_nan() {
        return Err(tonic::Status::invalid_argument("a score is no number"));
    }
    Ok(Arc::new(After {
        score: message.score,
        values: message.values.into_iter().map(value).collect(),
        url_hash: message.url_hash,
    }))
}

pub(crate) fn run_message(run: FilterRun) -> rpc::FilterRun {
    rpc::FilterRun {
        segment: run.segment,
        way: run.way.name().to_owned(),
        field: run.field,
        test: run.test,
        candidates: run.candidates,
        passed: run.passed,
    }
}

/// Returns how a test of values ran; `None` for a way that is not known here.
pub(crate) fn run(message: rpc::FilterRun) -> Option<FilterRun> {
    Some(FilterRun {
        segment: message.segment,
        way: FilterWay::of_name(&message.way)?,
        field: message.field,
        test: message.test,
        candidates: message.candidates,
        passed: message.passed,
    })
}

/// Refuses hits that lack any of the requested sort keys: an older server ignores the keys.
pub(crate) fn as_sorted(
    found: PartitionHits,
    keys_count: usize,
) -> Result<PartitionHits, PartError> {
    let hits_count = if keys_count > 0 { found.hits.len() } else { 0 };
    let is_sorted = found.sort_values.len() == hits_count
        && found
            .sort_values
            .iter()
            .all(|values| values.len() == keys_count);
    match is_sorted {
        true => Ok(found),
        false => Err(PartError::Protocol {
            reason: "it does not sort hits by the values of fields; update it".into(),
        }),
    }
}

/// Refuses hits without the groups by which they are to be collapsed: an older server ignores the field.
pub(crate) fn as_collapsed(
    found: PartitionHits,
    is_collapsed: bool,
) -> Result<PartitionHits, PartError> {
    let groups_count = if is_collapsed { found.hits.len() } else { 0 };
    match found.groups.len() == groups_count {
        true => Ok(found),
        false => Err(PartError::Protocol {
            reason: "it does not collapse hits; update it".into(),
        }),
    }
}

pub(crate) fn facets_message(facets: &[FacetCounts]) -> Vec<Vec<u8>> {
    facets.iter().map(FacetCounts::to_bytes).collect()
}

/// Returns the counts of facets, one for each.
pub(crate) fn facets(messages: &[Vec<u8>], facets: &[Facet]) -> Option<Vec<FacetCounts>> {
    let both = facets.iter().zip(messages);
    let counts = both.map(|(facet, bytes)| FacetCounts::of_bytes(facet, bytes));
    counts
        .collect::<Option<Vec<_>>>()
        .filter(|counts| counts.len() == facets.len() && messages.len() == facets.len())
}
