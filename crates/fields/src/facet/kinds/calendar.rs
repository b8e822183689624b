//! Histogram of dates by the periods of a calendar.

use crate::calendar::Period;
use crate::facet::buckets::Buckets;
use crate::facet::clause::{clause, dates_between};
use crate::facet::coded::CodedValues;
use crate::facet::kind::{BucketKind, Kind};
use crate::facet::spans::Spans;
use crate::field_type::FieldType;
use crate::test::BadTest;
use crate::value::Value;
use crate::zone::Zone;
use wire::{FacetAnswer, FacetBucket};

/// Documents of each period of the calendar of a time zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Calendar {
    /// Length of a bucket.
    pub period: Period,
    /// The time zone.
    pub zone: Zone,
}

impl Calendar {
    pub(super) fn bucket(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Date(micros) => Some(Value::Date(self.zone.start(self.period, *micros))),
            _ => None,
        }
    }

    fn clause(&self, field: &str, start: i64) -> String {
        let is_named = matches!(self.period, Period::Year | Period::Month | Period::Day);
        match is_named && self.zone == Zone::UTC {
            true => clause(field, &self.zone.text(self.period, start)),
            false => clause(
                field,
                &dates_between(start, self.zone.end(self.period, start)),
            ),
        }
    }
}

impl Kind for Calendar {
    fn read(field: FieldType, name: &str, argument: &str) -> Option<Result<Calendar, BadTest>> {
        let period = Period::of_name(name).filter(|_| field == FieldType::Date)?;
        Some(Zone::named(argument).map(|zone| Calendar { period, zone }))
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Date => {
                "year, quarter, month, week, day, hour, each with a time zone as in month:Europe/Berlin"
            }
            _ => "",
        }
    }

    fn text(&self) -> String {
        match self.zone.name() {
            None => self.period.name().to_owned(),
            Some(zone) => format!("{}:{zone}", self.period.name()),
        }
    }
}

impl BucketKind for Calendar {
    fn spans(&self, values: &dyn CodedValues, occurring: &[(u64, u64)]) -> Option<Spans> {
        Some(Spans::of_buckets(values, occurring, |value| {
            self.bucket(value)
        }))
    }

    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>> {
        let shown = buckets.counts.iter();
        let shown = shown.map(|(start, count)| match start {
            Value::Date(start) => FacetBucket {
                value: self.zone.text(self.period, *start).into(),
                count: *count,
                filter: self.clause(field, *start),
                ..FacetBucket::default()
            },
            other => FacetBucket {
                value: other.to_json(),
                count: *count,
                ..FacetBucket::default()
            },
        });
        answer.buckets = shown.collect();
        (0..buckets.counts.len()).map(Some).collect()
    }
}
