//! Histogram of dates in intervals of days or hours.

use crate::facet::buckets::Buckets;
use crate::facet::clause::{clause, dates_between};
use crate::facet::coded::CodedValues;
use crate::facet::kind::{BucketKind, Kind, bad};
use crate::facet::spans::Spans;
use crate::field_type::FieldType;
use crate::test::BadTest;
use crate::value::Value;
use wire::{FacetAnswer, FacetBucket};

/// Units of intervals and their microseconds, the longest first.
const UNITS: [(char, i64); 2] = [('d', 24 * HOUR), ('h', HOUR)];
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// Documents of each interval of a number of microseconds, counted from 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Length of a bucket, in microseconds.
    pub micros: i64,
}

impl Interval {
    pub(super) fn bucket(&self, value: &Value) -> Option<Value> {
        let Value::Date(micros) = value else {
            return None;
        };
        let start = micros.div_euclid(self.micros).checked_mul(self.micros);
        start.map(Value::Date)
    }
}

impl Kind for Interval {
    fn read(field: FieldType, name: &str, argument: &str) -> Option<Result<Interval, BadTest>> {
        if name != "step" || Interval::offered(field).is_empty() {
            return None;
        }
        let micros = |(unit, micros): (char, i64)| {
            let number: i64 = argument.strip_suffix(unit)?.parse().ok()?;
            number.checked_mul(micros).filter(|micros| *micros > 0)
        };
        let micros = UNITS.into_iter().find_map(micros);
        Some(micros.map(|micros| Interval { micros }).ok_or_else(|| {
            bad(format!(
                "`{argument}` is no interval of days or hours, as in step:10d or step:12h"
            ))
        }))
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Date => "step:10d",
            _ => "",
        }
    }

    fn text(&self) -> String {
        let is_whole = |(_, unit): &(char, i64)| self.micros % unit == 0;
        match UNITS.into_iter().find(is_whole) {
            Some((name, unit)) => format!("step:{}{name}", self.micros / unit),
            // No text makes it.
            None => format!("step:{}", self.micros),
        }
    }
}

impl BucketKind for Interval {
    fn spans(&self, values: &dyn CodedValues, occurring: &[(u64, u64)]) -> Option<Spans> {
        Some(Spans::of_buckets(values, occurring, |value| {
            self.bucket(value)
        }))
    }

    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>> {
        let filter = |start: &Value| match start {
            Value::Date(start) => clause(
                field,
                &dates_between(*start, start.checked_add(self.micros)),
            ),
            _ => String::new(),
        };
        let shown = buckets.counts.iter();
        let shown = shown.map(|(start, count)| FacetBucket {
            value: start.to_json(),
            count: *count,
            filter: filter(start),
            ..FacetBucket::default()
        });
        answer.buckets = shown.collect();
        (0..buckets.counts.len()).map(Some).collect()
    }
}
