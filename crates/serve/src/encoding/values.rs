//! Conversion of values of fields and their tests to messages, and back.

use super::malformed;
use crate::api::messages::PartitionHits;
use engine::calls::PartError;
use fields::{DistinctValues, FacetCounts, Limit, QuantileSketch, Stats, Test, Value};
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

pub(crate) fn facets_message(facets: Vec<FacetCounts>) -> rpc::CountFacetsReply {
    let one = |facet: FacetCounts| rpc::FacetCounts {
        values: facet
            .counts
            .iter()
            .map(|(value, _)| value_message(value))
            .collect(),
        counts: facet.counts.iter().map(|(_, count)| *count).collect(),
        documents_count: facet.documents_count,
        matches_count: facet.matches_count,
        further_values_count: facet.further_values_count,
        further_count: facet.further_count,
        stats: Some(rpc::FacetStats {
            values_count: facet.stats.values_count,
            least: facet.stats.least.as_ref().map(value_message),
            greatest: facet.stats.greatest.as_ref().map(value_message),
            integer_sum: facet.stats.integer_sum.to_le_bytes().to_vec(),
            float_parts: facet.stats.float_parts.clone(),
            large_parts: facet.stats.large_parts.clone(),
        }),
        sketch: sketch_message(&facet.sketch),
        distinct: distinct_message(&facet.distinct),
    };
    rpc::CountFacetsReply {
        facets: facets.into_iter().map(one).collect(),
    }
}

pub(crate) fn facets(
    message: rpc::CountFacetsReply,
    facets_count: usize,
) -> Result<Vec<FacetCounts>, PartError> {
    let all: Option<Vec<FacetCounts>> = message.facets.into_iter().map(facet).collect();
    let all = all.filter(|all| all.len() == facets_count);
    all.ok_or_else(|| malformed("facets"))
}

fn facet(message: rpc::FacetCounts) -> Option<FacetCounts> {
    if message.values.len() != message.counts.len() {
        return None;
    }
    let counts = message.values.into_iter().zip(message.counts);
    let counts: Option<Vec<(Value, u64)>> = counts
        .map(|(own, count)| Some((value(own)?, count)))
        .collect();
    let counts = counts?;
    if !counts.is_sorted_by(|a, b| a.0.order(&b.0).is_lt()) {
        return None;
    }
    let stats = message.stats?;
    let sum: [u8; 16] = stats.integer_sum.try_into().ok()?;
    let mut parts = stats.float_parts.iter().chain(&stats.large_parts);
    if !parts.all(|part| part.is_finite()) {
        return None;
    }
    Some(FacetCounts {
        counts,
        documents_count: message.documents_count,
        matches_count: message.matches_count,
        further_values_count: message.further_values_count,
        further_count: message.further_count,
        stats: Stats {
            values_count: stats.values_count,
            least: stats.least.and_then(value),
            greatest: stats.greatest.and_then(value),
            integer_sum: i128::from_le_bytes(sum),
            float_parts: stats.float_parts,
            large_parts: stats.large_parts,
        },
        sketch: sketch(message.sketch.unwrap_or_default())?,
        distinct: distinct(message.distinct.unwrap_or_default())?,
    })
}

fn sketch_message(sketch: &QuantileSketch) -> Option<rpc::QuantileSketch> {
    let (intervals, counts) = sketch.intervals().iter().copied().unzip();
    let message = rpc::QuantileSketch { intervals, counts };
    (!message.counts.is_empty()).then_some(message)
}

fn sketch(message: rpc::QuantileSketch) -> Option<QuantileSketch> {
    let rpc::QuantileSketch { intervals, counts } = message;
    let is_whole = intervals.len() == counts.len();
    QuantileSketch::of_intervals(intervals.into_iter().zip(counts).collect()).filter(|_| is_whole)
}

fn distinct_message(distinct: &DistinctValues) -> Option<rpc::DistinctValues> {
    let (hashes, registers) = distinct.parts();
    let (hashes, registers) = (hashes.to_vec(), registers.to_vec());
    let is_empty = hashes.is_empty() && registers.is_empty();
    (!is_empty).then_some(rpc::DistinctValues { hashes, registers })
}

fn distinct(message: rpc::DistinctValues) -> Option<DistinctValues> {
    DistinctValues::of_parts(message.hashes, message.registers)
}
