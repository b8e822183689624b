//! Documents that have no value of a field.

use crate::facet::buckets::Buckets;
use crate::facet::clause::{SITE, clause};
use crate::facet::coded::CodedValues;
use crate::facet::kind::{BucketKind, Kind};
use crate::facet::spans::Spans;
use crate::field_type::FieldType;
use crate::test::BadTest;
use crate::value::Value;
use wire::{FacetAnswer, FacetBucket};

/// Name of the only bucket in counts.
const NAME: Value = Value::Bool(true);

/// Documents without a value, in one bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing;

impl Kind for Missing {
    fn read(_: FieldType, name: &str, argument: &str) -> Option<Result<Missing, BadTest>> {
        (name == "missing" && argument.is_empty()).then_some(Ok(Missing))
    }

    fn offered(_: FieldType) -> &'static str {
        "missing"
    }

    fn text(&self) -> String {
        "missing".to_owned()
    }
}

impl BucketKind for Missing {
    fn spans(&self, _: &dyn CodedValues, _: &[(u64, u64)]) -> Option<Spans> {
        Some(Spans::new([((0, 0), NAME)]))
    }

    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>> {
        let place = buckets.find(&NAME);
        let bucket = FacetBucket {
            value: serde_json::Value::Null,
            count: place.map_or(0, |place| buckets.counts[place].1),
            // Every document has a site.
            filter: match field {
                SITE => String::new(),
                field => match clause(field, "*") {
                    none if none.is_empty() => none,
                    any => format!("-{any}"),
                },
            },
            ..FacetBucket::default()
        };
        answer.buckets = vec![bucket];
        vec![place]
    }
}
