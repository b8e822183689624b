//! Histogram of numbers in steps of a width.

use crate::facet::buckets::Buckets;
use crate::facet::clause::clause;
use crate::facet::coded::CodedValues;
use crate::facet::kind::{BucketKind, Kind, bad};
use crate::facet::spans::Spans;
use crate::field_type::FieldType;
use crate::test::BadTest;
use crate::value::Value;
use wire::{FacetAnswer, FacetBucket};

/// Documents of each interval of a width.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The width, above 0.
    pub width: f64,
}

impl Step {
    pub(super) fn bucket(&self, value: &Value) -> Option<Value> {
        let width = self.width;
        match value {
            Value::Integer(number) if width.fract() == 0.0 && width < 2f64.powi(53) => {
                let width = width as i64;
                let start = number.div_euclid(width).checked_mul(width);
                start.map(Value::Integer)
            }
            Value::Integer(number) => Value::float((*number as f64 / width).floor() * width),
            Value::Float(number) => Value::float((number / width).floor() * width),
            _ => None,
        }
    }

    fn clause(&self, field: &str, start: &Value) -> String {
        match start {
            Value::Integer(start) => {
                let end = *start as f64 + self.width;
                clause(field, &format!("(>={start} <{end})"))
            }
            Value::Float(start) => clause(field, &format!("(>={start} <{})", start + self.width)),
            _ => String::new(),
        }
    }
}

impl Kind for Step {
    fn read(field: FieldType, name: &str, argument: &str) -> Option<Result<Step, BadTest>> {
        if name != "step" || Step::offered(field).is_empty() {
            return None;
        }
        let width = argument.parse().ok();
        let width = width.filter(|width: &f64| width.is_finite() && *width > 0.0);
        Some(
            width
                .map(|width| Step { width })
                .ok_or_else(|| bad(format!("`{argument}` is no width above 0, as in step:10"))),
        )
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Integer | FieldType::Float => "step:10",
            _ => "",
        }
    }

    fn text(&self) -> String {
        format!("step:{}", self.width)
    }
}

impl BucketKind for Step {
    fn spans(&self, values: &dyn CodedValues, occurring: &[(u64, u64)]) -> Option<Spans> {
        Some(Spans::of_buckets(values, occurring, |value| {
            self.bucket(value)
        }))
    }

    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>> {
        let shown = buckets.counts.iter();
        let shown = shown.map(|(start, count)| FacetBucket {
            value: start.to_json(),
            count: *count,
            filter: self.clause(field, start),
            ..FacetBucket::default()
        });
        answer.buckets = shown.collect();
        (0..buckets.counts.len()).map(Some).collect()
    }
}
