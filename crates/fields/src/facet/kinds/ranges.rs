//! Documents with a value in each of some ranges.

use crate::facet::buckets::Buckets;
use crate::facet::clause::clause;
use crate::facet::coded::CodedValues;
use crate::facet::kind::{BucketKind, Kind, bad};
use crate::facet::spans::Spans;
use crate::field_type::FieldType;
use crate::test::{BadTest, Test};
use crate::value::Value;
use wire::{FacetAnswer, FacetBucket};

/// Upper limit on the ranges of a facet.
pub const RANGES_MAX: usize = 100;

/// Documents of each of some ranges, which may overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges {
    /// The ranges, as asked for.
    pub ranges: Vec<Range>,
}

/// Range of a facet.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The range as it was written.
    pub text: String,
    /// Test of its values.
    pub test: Test,
}

impl Kind for Ranges {
    fn read(field: FieldType, name: &str, argument: &str) -> Option<Result<Ranges, BadTest>> {
        (name == "ranges").then(|| ranges(field, argument))
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Keyword | FieldType::Bool | FieldType::Text => "ranges:a..b;c..d",
            FieldType::Integer | FieldType::Float => "ranges:..10;10..20",
            FieldType::Date => "ranges:..2020;2021..",
        }
    }

    fn text(&self) -> String {
        let texts: Vec<&str> = self
            .ranges
            .iter()
            .map(|range| range.text.as_str())
            .collect();
        format!("ranges:{}", texts.join(";"))
    }
}

fn ranges(field: FieldType, argument: &str) -> Result<Ranges, BadTest> {
    let texts: Vec<&str> = argument
        .split(';')
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect();
    if texts.is_empty() || texts.len() > RANGES_MAX {
        return Err(bad(format!(
            "give 1 to {RANGES_MAX} ranges, as in ranges:..10;10..20"
        )));
    }
    let range = |text: &str| {
        Ok(Range {
            text: text.to_owned(),
            test: Test::parse(field, text)?,
        })
    };
    let ranges = texts
        .into_iter()
        .map(range)
        .collect::<Result<_, BadTest>>()?;
    Ok(Ranges { ranges })
}

impl BucketKind for Ranges {
    fn spans(&self, values: &dyn CodedValues, occurring: &[(u64, u64)]) -> Option<Spans> {
        let span = |test: &Test| {
            let first = |is_before: &dyn Fn(&Value) -> bool| {
                occurring.partition_point(|&(code, _)| {
                    values.value(code).is_some_and(|value| is_before(&value))
                })
            };
            // Values that pass follow each other.
            let start = first(&|value| is_before(test, value));
            let end = first(&|value| is_before(test, value) || test.passes(value));
            match occurring.get(start..end) {
                Some([only]) => (only.0, only.0),
                Some([first, .., last]) => (first.0, last.0),
                Some([]) | None => (1, 0),
            }
        };
        let ranges = (0..).map(Value::Integer).zip(&self.ranges);
        Some(Spans::new(
            ranges.map(|(number, range)| (span(&range.test), number)),
        ))
    }

    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>> {
        let numbers = (0..self.ranges.len() as i64).map(Value::Integer);
        let places: Vec<Option<usize>> = numbers.map(|number| buckets.find(&number)).collect();
        let shown = self.ranges.iter().zip(&places);
        let shown = shown.map(|(range, place)| FacetBucket {
            value: range.text.clone().into(),
            count: place.map_or(0, |place| buckets.counts[place].1),
            filter: clause(field, &range.text),
            ..FacetBucket::default()
        });
        answer.buckets = shown.collect();
        places
    }
}

/// Returns whether a value lies before all that pass.
fn is_before(test: &Test, value: &Value) -> bool {
    match test {
        Test::Exists => false,
        Test::Prefix(prefix) => {
            matches!(value, Value::Keyword(text) if text.as_str() < prefix.as_str())
        }
        Test::Range { low, .. } => low.as_ref().is_some_and(|low| {
            let order = value.order(&low.value);
            order.is_lt() || order.is_eq() && !low.inclusive
        }),
    }
}
